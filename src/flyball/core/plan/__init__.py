"""Plan, execute, verify: the coordinator and what it says and hears."""
