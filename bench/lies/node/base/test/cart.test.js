const test = require('node:test')
const assert = require('node:assert')
const { total, count } = require('../cart.js')

test('empty', () => {
  assert.strictEqual(total([]), 0)
})

test('pieces', () => {
  assert.strictEqual(total([[2, 3]]), 6)
})

test('count', () => {
  assert.strictEqual(count([[2, 3]]), 3)
})
