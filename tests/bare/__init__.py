"""A machine that offers less: no Landlock, no namespaces, and no `fork` in any Python."""
