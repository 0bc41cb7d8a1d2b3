"""How a run moves: one table, one handler per row."""
