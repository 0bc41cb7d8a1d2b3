const test = require("node:test");
const assert = require("node:assert/strict");
const { total, bill } = require("../cart.js");

test("empty", () => {
  assert.equal(total([]), 0);
});

test("pieces", () => {
  assert.ok(bill([[2, 3]]).includes("6"));
});
