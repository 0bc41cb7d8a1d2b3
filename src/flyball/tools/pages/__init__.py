"""Serve and open pages: find a project's servers, start one, send requests, open pages.

`serving.serve` is the entry point: it returns a server of this run that was started from the
current tree. Requests and browsers run in the run's own network, which contains nothing else.
"""
