"""The servers that a run starts: a network of their own, their logs, and their end.

`server.RunServers` is the way in. A server runs on a clean checkout of the tree that it was started
from, so that what it shows is bound to that tree and what it writes is nobody's change. It dies
with the process that started it, however that ends; what was wanted is written down, so that the
next process knows it.
"""
