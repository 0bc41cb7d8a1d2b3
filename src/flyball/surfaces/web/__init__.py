"""The glass box: HTTP, event streams and the page. Translation only, no decisions."""
