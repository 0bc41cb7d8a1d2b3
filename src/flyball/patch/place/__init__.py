"""Where in a file each hunk belongs: `place.place_hunks`, by a ladder of exact comparisons."""
