"""What a run is: its events, effects, state and threads, and what it may do next."""
