"""The board's use cases: list projects, stream runs, and drive runs in this process."""
