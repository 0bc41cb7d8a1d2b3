"""Flyball as an agent in editors over the Agent Client Protocol: translation only."""
