"""Drive a run from a terminal: a live view, then a summary."""
