"""Classify requests offline, deterministically, with an explanation."""
