"""Where in a file one hunk belongs: `locate`, by a ladder of exact comparisons."""
