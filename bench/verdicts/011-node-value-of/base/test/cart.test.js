const test = require('node:test')
const assert = require('node:assert')
const { total } = require('../cart.js')

test('empty', () => {
  assert.equal(total([]), 0)
})

test('three pens', () => {
  assert.equal(total([[2, 3]]), 6)
})
