"""Taking a verdict: the suites that a change reaches, run on clean checkouts of both trees.

`take.take_verdict` is the entry point. What the runs mean is decided in `core/verdict`.
"""
