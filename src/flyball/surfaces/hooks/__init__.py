"""The hooks of other agents: read a payload, print an answer."""
