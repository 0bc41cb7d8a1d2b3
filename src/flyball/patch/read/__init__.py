"""A diff as it was written, read by `parse.parse` into sections and hunks."""
