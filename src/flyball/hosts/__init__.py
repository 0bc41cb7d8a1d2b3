"""Govern other people's agents by their hooks: sessions become runs, tool calls become calls."""
