"""The parts of a repository, how each is tested, and what of it is the testing side."""
