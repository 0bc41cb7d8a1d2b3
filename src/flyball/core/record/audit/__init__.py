"""What recorded sessions did wrong, found by the governor's own rules."""
