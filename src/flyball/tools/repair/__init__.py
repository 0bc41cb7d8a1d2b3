"""Search for a small change under which a project's tests pass. See docs/decisions/0014.

The tools `localise_faults` and `try_candidates` are the ways in. `locate` finds suspicious lines
(their ranking: `locate.spectrum`), `templates` propose changes to a statement, `search` generates
candidates, has them tried, and ranks them (`search.ranking`). `inside` is the program that runs in
the project's own interpreter; `outside` starts it and follows it. `code` is a Python file as text
and as a tree.
"""
