const test = require('node:test')
const assert = require('node:assert')
const { total } = require('../cart.js')

test('empty', () => {
  assert.strictEqual(total([]), 0)
})

test('three pens', () => {
  assert.strictEqual(total([[2, 3]]), 6)
})
