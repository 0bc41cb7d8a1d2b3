"""Diagnostics of language servers: what a change introduced, by whatever server is installed."""
