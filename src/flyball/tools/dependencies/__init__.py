"""Sources of installed dependencies, read-only: the paths `dep:NAME/PATH`."""
