"""Ways in: translation only, no decisions."""
