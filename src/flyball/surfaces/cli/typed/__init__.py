"""What people type: completed by their shell, and explained and guessed at where it is wrong."""
