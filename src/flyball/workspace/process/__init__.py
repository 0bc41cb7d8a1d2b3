"""Start programs: Flyball's own with `spawn.run_sync`, others confined with `process.run`.

`spawn` is the only module that starts anything. `levels` detects how well this machine can confine,
`self_test` proves it with real attacks, `output` and `finished` hold the results.
"""
