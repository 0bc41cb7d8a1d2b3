"""Examine a project for common problems, and explain how to fix them."""
