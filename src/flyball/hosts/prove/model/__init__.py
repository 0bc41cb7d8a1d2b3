"""A scripted model on loopback, supporting enough of four wire formats for a whole session."""
