"""Identify the caller of a hook or command: a host, its child process, or a person."""
