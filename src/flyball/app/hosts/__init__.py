"""Governing other people's agents: their sessions as runs, their calls as calls."""
