module.exports = [[[], 0], [[[2, 3]], 6]]
