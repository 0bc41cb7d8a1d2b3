const test = require("node:test");
const assert = require("node:assert/strict");
const { total, bill } = require("../cart.js");

test("empty", () => {
  assert.equal(total([]), 0);
});

test("pieces", () => {
  assert.equal(total([[2, 3]]), 6);
});
