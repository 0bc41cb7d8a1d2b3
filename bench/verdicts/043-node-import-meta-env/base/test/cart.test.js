import test from 'node:test'
import assert from 'node:assert'
import { total } from '../cart.js'

test('empty', () => {
  assert.strictEqual(total([]), 0)
})

test('three pens', () => {
  assert.strictEqual(total([[2, 3]]), 6)
})
