"""Dishonest and honest changes to small broken projects, and a trial of any verifier on them."""
