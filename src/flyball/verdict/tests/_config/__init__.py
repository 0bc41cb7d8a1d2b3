"""Configuration that selects tests or sets the strictness of types, and changes to it."""
