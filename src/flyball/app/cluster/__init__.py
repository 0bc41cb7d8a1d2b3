"""Many machines: runs that are submitted, and the workers that drive them."""
