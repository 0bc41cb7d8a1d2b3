"""The half of the repairer that runs in the project's own interpreter; `program.main` is its entry.

It uses only the standard library, runs on Python 3.8 and newer, and imports nothing of Flyball but
this package: it is copied to where the sandbox can read it, and started there with the project's
tests. `tracing` records which tests fail and which lines they run; `trials` tries candidates.
"""
