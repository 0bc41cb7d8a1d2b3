"""Proving that a host honours our hooks: the real program, its installed settings, and a script."""
