"""Inspect a change: what Flyball runs and reads itself, whatever a driver claims."""
