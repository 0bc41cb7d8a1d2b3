"""Ways to change a statement: each function takes a `Site` and yields a `Draft` per proposal.

`search.TEMPLATES` lists them; their priors are in `ranking`.
"""
