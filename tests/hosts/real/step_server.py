"""`flyball mcp` as a host starts it, where it passes on none of the variables that tests set."""

import os
import sys

from flyball.cli import main

os.environ.setdefault("FLYBALL_STATE_DIR", f"{os.environ['HOME']}/state")
sys.argv = ["flyball", "mcp"]
main()
