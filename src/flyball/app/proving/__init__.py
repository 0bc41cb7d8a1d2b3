"""Prove that a host obeys our hooks: the real program with its installed settings and a script."""
