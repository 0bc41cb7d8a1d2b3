"""The parts of a repository, how each is tested, and which files belong to the testing side."""
