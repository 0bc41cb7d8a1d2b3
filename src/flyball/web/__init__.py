"""The board: HTTP API, event streams and the page. Translation only, no decisions."""
