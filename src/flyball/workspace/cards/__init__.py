"""Actions on a run's finished cards; each is a function of `use_cases`.

`revert` reverts cards and reapplies them, `merge_run` merges them into the user's branch,
`divergence` predicts what would be lost, `artifacts` is each card's written account.
"""
