"""The model of a run: events, effects, state, threads, and permitted actions."""
