"""Where in a file each hunk belongs."""
