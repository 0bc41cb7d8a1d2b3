"""What a board shows and does: every project, live feeds of runs, runs that this process drives."""
