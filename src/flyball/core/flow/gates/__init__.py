"""Conditions for leaving a card."""
