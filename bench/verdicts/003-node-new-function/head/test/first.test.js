const test = require('node:test')
const assert = require('node:assert')
const { first } = require('../cart.js')

test('first', () => {
  assert.strictEqual(first([4]), 4)
})
