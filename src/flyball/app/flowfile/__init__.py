"""Template and flow files: bytes to plain values, with the line of each."""
