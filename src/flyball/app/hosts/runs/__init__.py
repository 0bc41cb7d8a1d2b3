"""The runs of hosts' sessions: find one, open it, and handle hook events on it."""
