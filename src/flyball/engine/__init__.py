"""Drive a run: ask the core, perform effects, append events."""
