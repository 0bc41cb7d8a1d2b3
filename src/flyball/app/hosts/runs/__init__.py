"""The runs of hosts' sessions: finding one, opening it, and its verbs for a host's moments."""
