"""Search for a small change under which a project's tests pass."""
