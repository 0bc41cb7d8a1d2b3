"""Flyball: a governor for coding agents."""
