"""A run's own tree and branch: `opening.open_workspace` creates or finds a `workspace.Workspace`.

`snapshot` stores points to return to, `worktree` the branch with one commit per card, `side` the
side workspaces of parallel cards, `merge_card` merges their work, `rollback` rolls a run back, and
`lock` keeps a second process out.
"""
