"""The servers that a run starts: their own network, their logs, and their shutdown.

`server.RunServers` is the entry point. A server runs on a clean checkout of the tree that it was
started from, so that its output belongs to that tree and its writes are no changes of the run. It
ends with the process that started it, however that ends; the wanted servers are recorded for the
next process.
"""
