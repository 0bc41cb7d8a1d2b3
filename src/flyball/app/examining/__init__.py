"""Examine a project for common problems, and say what was found and how to fix it."""
