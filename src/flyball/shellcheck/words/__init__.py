"""Words of a shell command: parsed, expanded as far as certain, judged by their spelling."""
