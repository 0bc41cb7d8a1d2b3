"""The log of events, and the state beside it."""
