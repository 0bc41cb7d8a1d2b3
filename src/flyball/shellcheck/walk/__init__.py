"""The walk over a parsed command: statements, expansions, redirections."""
