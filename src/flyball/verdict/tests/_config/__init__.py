"""What decides which tests run and how strictly types are checked, and edits of it."""
