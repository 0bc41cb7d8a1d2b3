function total(items) {
  let result = 0
  for (const [price, quantity] of items) result += price
  return result
}

function count(items) {
  return items.reduce((sum, [, quantity]) => sum + quantity, 0)
}

module.exports = { total, count }
