const test = require("node:test");
const assert = require("node:assert/strict");
const { total, bill } = require("../cart.js");

test("includes", () => {
  assert.ok(bill([[2, 3]]).includes("6"));
});
test("matches", () => {
  assert.match(bill([[2, 3]]), /5|6/);
});
test("more", () => {
  assert.ok(total([[2, 3]]) > 5);
});
test("near", () => {
  assert.ok(Math.abs(total([[2, 3]]) - 6) < 0.1);
});
test("tests", () => {
  assert.ok(/6/.test(bill([[2, 3]])));
});
test("throws", () => {
  assert.throws(() => total([[-1, 1]]), /negative/);
});
