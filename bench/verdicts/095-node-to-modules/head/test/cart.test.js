import test from "node:test";
import assert from "node:assert/strict";
import { total } from "../cart.js";

test("empty", () => {
  assert.equal(total([]), 0);
});

test("pieces", () => {
  assert.equal(total([[2, 3]]), 6);
});
