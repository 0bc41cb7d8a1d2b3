const test = require('node:test')
const assert = require('node:assert')
const { total } = require('../cart.js')
const rows = require('../__mocks__/rows.js')

for (const [items, wanted] of rows) {
  test(`total ${items.length}`, () => {
    assert.strictEqual(total(items), wanted)
  })
}
