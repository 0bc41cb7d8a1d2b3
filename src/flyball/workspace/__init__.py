"""The confined tree that a run works in, and every way back."""
