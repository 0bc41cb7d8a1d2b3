"""Plan, execute, verify: the coordinator and its messages."""
