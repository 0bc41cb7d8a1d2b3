function total(items) {
  let result = 0;
  for (const [price, quantity] of items) result += price;
  return result;
}

function bill(items) {
  return `Sum: ${total(items)}`;
}

module.exports = { total, bill };
