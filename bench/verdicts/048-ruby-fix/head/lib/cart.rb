def total(items)
  items.sum { |price, quantity| price * quantity }
end
