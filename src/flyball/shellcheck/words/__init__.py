"""Words of a shell command: read, expanded as far as is certain, judged by their spelling."""
