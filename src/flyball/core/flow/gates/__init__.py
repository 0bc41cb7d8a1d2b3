"""What must hold to leave a card."""
