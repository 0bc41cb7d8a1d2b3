"""What can be done with a finished log: judge it again, draw it, read a foreign one."""
