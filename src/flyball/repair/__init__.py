"""The repairer: a driver without a model, and its search for a change that makes tests pass.

`driver.RepairDriver` answers requests; the tools `localise_faults` and `try_candidates` run the
search for any driver. `localise` finds suspicious lines (ranked by `spectrum`), `templates` propose
changes to a statement, `search` generates candidates, tries them, and ranks them (`ranking`). For
JavaScript and TypeScript `script_source` reads statements, `script_changes` proposes changes to
them, and `script_search` watches the suite and tries them. `inside` is the program that runs in the
project's own interpreter; `trial` starts it and follows it. See docs/decisions/0014.
"""
