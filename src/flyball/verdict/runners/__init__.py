"""Test runners: how each is recognised, started and read."""
