"""The state machine of a run: one table, one handler per row."""
