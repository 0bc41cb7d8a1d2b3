"""Diagnostics of installed language servers: the problems that a change introduced."""
