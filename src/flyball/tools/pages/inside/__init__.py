"""Programs that run in the network of a run's servers and read their request from stdin."""
