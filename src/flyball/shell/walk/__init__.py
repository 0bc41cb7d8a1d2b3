"""The walk over a parsed command, from `walk.py` on: statements, expansions, redirections."""
