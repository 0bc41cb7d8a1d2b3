module.exports = { tax: (n) => n / 5 }
