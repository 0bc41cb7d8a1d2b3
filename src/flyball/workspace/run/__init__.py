"""A run's own tree and branch: opened, snapshotted, rolled back, merged from its sides."""
