"""What a command may reach, as asked of the kernel."""
