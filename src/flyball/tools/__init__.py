"""The tools: one file each, and one list of them in `toolbox/`."""
