"""Surfaces: they translate requests for the use cases and decide nothing."""
