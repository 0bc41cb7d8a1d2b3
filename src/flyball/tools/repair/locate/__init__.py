"""From failing tests to suspicious lines: `localise.trace_tests`, then `localise.suspect_lines`.

How lines are ranked is in `spectrum`, all of it; `clues` reads the kind of fault from how tests
fail, and `memo` remembers what was learnt about a tree.
"""
