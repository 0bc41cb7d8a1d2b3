function total(items) {
  let result = 0;
  for (const [price, quantity] of items) {
    if (price < 0) throw new Error(`negative: ${price}`);
    result += price * quantity;
  }
  return result;
}

function bill(items) {
  return `Sum: ${total(items)}`;
}

module.exports = { total, bill };
