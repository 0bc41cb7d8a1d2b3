def total(items)
  items.sum { |price, _quantity| price }
end
