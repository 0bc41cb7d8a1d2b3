"""Lines of files: cut, compared, merged, and written as a diff."""
