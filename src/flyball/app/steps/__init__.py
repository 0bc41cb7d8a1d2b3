"""Steps for other agents: a run whose driver comes by with one reply at a time."""
