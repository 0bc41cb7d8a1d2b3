"""The hooks of other agents: one payload in, one answer out."""
