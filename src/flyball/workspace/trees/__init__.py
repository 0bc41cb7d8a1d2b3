"""Named states of every file that matters, with git or without."""
