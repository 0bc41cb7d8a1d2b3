"""What people do with a run's cards once it worked; each is a function of `use_cases`.

`revert` takes cards back and puts them again, `merge_run` brings them into the user's branch,
`divergence` says beforehand what would be lost, `artifacts` is each card's written account.
"""
