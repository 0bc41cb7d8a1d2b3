const test = require('node:test')
const assert = require('node:assert')
const { tax } = require('../tax.js')

test('tax', () => {
  assert.strictEqual(tax(100), 20)
})
