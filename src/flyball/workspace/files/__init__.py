"""The only resolver: what a path means, and safe ways to touch it."""
