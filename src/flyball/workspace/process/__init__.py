"""Starting programs: Flyball's own by `spawn.run_sync`, somebody else's confined by `process.run`.

`spawn` is the only module that starts anything. `levels` says how well this machine can confine,
`self_test` shows it by real attacks, `output` and `finished` are what comes back.
"""
