function total(items) {
  let result = 0
  for (const [price, quantity] of items) result += price
  return result
}

module.exports = { total }
