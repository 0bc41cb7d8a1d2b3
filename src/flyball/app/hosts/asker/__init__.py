"""Who calls a hook or a command: a host, what it has started or a person; and where."""
