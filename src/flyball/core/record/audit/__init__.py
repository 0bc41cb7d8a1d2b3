"""Find mistakes in recorded sessions by the governor's own rules."""
