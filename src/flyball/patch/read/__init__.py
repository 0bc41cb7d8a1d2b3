"""A diff as it was written, read into sections and hunks."""
