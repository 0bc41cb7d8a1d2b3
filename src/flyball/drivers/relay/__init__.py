"""A person, or anything that reads and writes text, as the model."""
