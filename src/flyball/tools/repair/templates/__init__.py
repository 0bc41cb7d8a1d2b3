"""Ways to change a statement, each with the mass of its prior."""
