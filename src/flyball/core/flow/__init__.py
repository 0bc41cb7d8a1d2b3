"""Templates, and the graph they form."""
