"""Sources of installed dependencies, read-only: what `dep:NAME/PATH` means."""
