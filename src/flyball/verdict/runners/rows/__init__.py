"""One file per family of test runners, one row per runner."""
