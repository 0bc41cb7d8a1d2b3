"""From failing tests to suspicious lines."""
