"""Looking at what a project serves: which servers it has, starting one, asking it, opening pages.

`serving.serve` is the way in: it gives a server of this run that was started from the present tree.
What then asks it or opens a page runs in the run's own network, where nothing else is.
"""
