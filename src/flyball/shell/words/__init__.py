"""Words of a shell command: parsed, expanded as far as certain, and judged by their text."""
