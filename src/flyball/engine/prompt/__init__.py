"""Build what a driver reads before it thinks."""
