"""The half of the repairer that runs in the project's own interpreter; `program.main` is its entry.

Standard library only, Python 3.8 and newer, and nothing of Flyball but this package: it is copied
to where the sandbox can read it, and started there with the project's tests. `tracing` sees
which tests fail and which lines they run; `trials` tries candidates.
"""
