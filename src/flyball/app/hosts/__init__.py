"""Govern other vendors' agents: their sessions become runs, their tool calls become calls."""
