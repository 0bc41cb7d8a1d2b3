"""What a driver is told before it thinks."""
