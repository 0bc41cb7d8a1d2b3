"""What travels with a run of a cluster, and how it comes into anybody's clone."""
