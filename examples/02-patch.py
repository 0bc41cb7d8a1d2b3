"""The patch engine: bytes and a diff in, new bytes or a sentence out. It never guesses."""

from flyball import apply_diff

FILES = {
    "cart.py": b"def total(items):\n    result = 0\n    for price, quantity in items:\n"
    b"        result += price\n    return result\n",
}

# A bare `@@`, prose and a code fence around it: repaired.
SLOPPY = """\
Here is the fix:

```diff
--- cart.py
+++ cart.py
@@
     for price, quantity in items:
-        result += price
+        result += price * quantity
     return result
```
"""

# A line that is not in the file: refused, with what is there instead.
INVENTED = """\
--- a/cart.py
+++ b/cart.py
@@ -3,3 +3,3 @@
     for price, quantity in items:
-        result = result + price
+        result += price * quantity
     return result
"""

good = apply_diff(FILES, SLOPPY)
print("ok:", good.ok)
print(good.diff, end="")

bad = apply_diff(FILES, INVENTED)
print("ok:", bad.ok, "and every byte as it was:", bad.files == FILES)
for refusal in bad.errors:
    print(f"{refusal.code.value}: {refusal.message}")
    print(refusal.nearest)

# The model read an older file; with the base it saw, its diff is merged three ways.
NOW = {"cart.py": FILES["cart.py"].replace(b"def total", b'"""A cart."""\n\n\ndef total')}
merged = apply_diff(NOW, SLOPPY, base=FILES)
print("merged:", merged.ok)
print(merged.diff, end="")
