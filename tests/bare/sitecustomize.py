"""What every Python of such a machine does first: it forgets how to fork."""

import os

for name in ("fork", "forkpty"):
    if hasattr(os, name):
        delattr(os, name)
