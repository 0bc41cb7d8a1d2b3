function total(items) {
  let result = 0
  for (const [price, quantity] of items) result += price
  return result
}

function first(items) {
  return items[0]
}

module.exports = { total, first }
