"""From failing tests to suspicious lines: `localise.trace_tests`, then `localise.suspect_lines`.

How lines are ranked is in `spectrum`, all of it; `probe` adds what a few trial changes show, and
`clues` reads the kind of fault from how tests fail.
"""
