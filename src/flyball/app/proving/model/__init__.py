"""A scripted model on loopback, in just enough of four wire formats for a host's whole session."""
