"""Finding what troubles a person in their project, with what was seen and what to do about it."""
