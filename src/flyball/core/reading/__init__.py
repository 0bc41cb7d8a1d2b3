"""How a request is read: offline, deterministic, explained."""
