"""The confined tree that a run works in, with snapshots, undo and redaction.

`run.opening.open_workspace` opens one. `files` resolves paths, `process` starts programs, `sandbox`
confines them, `trees` names states of all files, `run` is one run's tree and branch, `cards` has
the actions of people on finished cards. Everything that is journaled, shown or sent passes through
`redaction`.
"""
