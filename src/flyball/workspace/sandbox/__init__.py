"""What a command may reach and use, and how the kernel is asked to hold it there.

`confinement.orders` is the way in: it turns a `Sandbox` into orders for the `supervisor`, the small
process that confines a child before that becomes the command. Which directories a command may
read is said in `readable`, which variables it gets in `environment`, how much it may use by
`confinement.CommandLimits`. `kernel`, `landlock` and `seccomp` are the three means.
"""
