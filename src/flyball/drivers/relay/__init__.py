"""A driver for a person, or any program that reads and writes text, in the model's place."""
