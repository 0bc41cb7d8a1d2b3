"""The event log, and the cached state."""
