"""Prove that a host obeys our hooks: run the real program with its settings and a script."""
