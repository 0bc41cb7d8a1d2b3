"""What the repairer understands of the outcomes it is told."""

from __future__ import annotations

from flyball.drivers.repair.thread_facts import MadeCall, search_of

TWO_HOLD = """\
Tried 444 of 2773 candidates in 15.3 s: 2 make every test pass.
1. src/my cart.py:7 augmented: `-=` → `+=`
```diff
--- a/src/my cart.py
+++ b/src/my cart.py
@@ -6,3 +6,3 @@
     for item in items:
-        result -= item
+        result += item
 ```
```
2. src/my cart.py:8 wrap: `f(
    x)` → `abs(f(
    x))`
```diff
--- a/src/my cart.py
+++ b/src/my cart.py
@@ -8,1 +8,1 @@
-    return result
+    return abs(result)
```"""


def test_each_survivor_keeps_its_own_place_label_and_diff():
    found = search_of(MadeCall("try_candidates", {}, TWO_HOLD))
    assert found is not None
    assert (found.tried, found.generated, found.elapsed) == (444, 2773, 15.3)
    first, second = found.survivors
    assert (first.path, first.line, first.template) == ("src/my cart.py", 7, "augmented")
    assert first.label == "`-=` → `+=`"
    assert first.diff.endswith("+        result += item\n ```\n")
    assert (second.line, second.label) == (8, "`f(\n    x)` → `abs(f(\n    x))`")
    assert second.diff.endswith("+    return abs(result)\n")
