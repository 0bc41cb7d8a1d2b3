"""The confined tree that a run works in, and every way back.

`run.opening.open_workspace` opens one. `files` resolves paths, `process` starts programs, `sandbox`
confines them, `trees` names states of all files, `run` is one run's tree and branch, `cards` what
people do with its cards afterwards. What is journaled, shown or sent passes `redaction`.
"""
