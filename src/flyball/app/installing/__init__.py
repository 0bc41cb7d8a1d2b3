"""Putting our hooks into the settings of other agents, and taking them out again to the byte."""
