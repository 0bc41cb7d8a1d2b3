"""What a diff makes of a file."""
