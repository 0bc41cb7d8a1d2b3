"""A run's own tree and branch: `opening.open_workspace` makes or finds a `workspace.Workspace`.

`snapshot` keeps points to return to, `worktree` the branch with one commit per card, `side` the
places of cards that work apart, `merge_card` brings their work in, `rollback` takes a run back, and
`lock` keeps a second process out.
"""
