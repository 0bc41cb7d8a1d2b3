"""From suspicious lines to candidates that hold: `generate`, `search.try_on_tests`, `ranking`.

The ranking of candidates, before and after they are tried, is in `ranking`, all of it. `probe`
tries a few at each of many lines that are as suspicious, to see where one helps.
"""
