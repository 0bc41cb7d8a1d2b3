"""A Python file as bytes, as a tree (`source.Source`), and as places to change (`site.Site`)."""
