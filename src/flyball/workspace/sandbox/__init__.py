"""Limits on what a command may access, and how the kernel enforces them.

`confinement.orders` is the entry point: it turns a `Sandbox` into orders for the `supervisor`, the
small process that confines a child before it becomes the command. `readable` lists the directories
that a command may read, `environment` its variables, `confinement.CommandLimits` its resource
limits. `kernel`, `landlock` and `seccomp` are the three mechanisms.
"""
