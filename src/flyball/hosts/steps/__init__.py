"""Steps for other agents: a run whose driver connects for one reply at a time."""
