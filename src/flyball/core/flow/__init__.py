"""Templates, and the graph that they make."""
