"""A Python file as bytes, as a tree, and as places that can be changed."""
