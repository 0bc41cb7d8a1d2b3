"""Programs for the project's own interpreter: standard library only, Python 3.8 and newer.

They are copied beside the tests they run and never import the rest of Flyball.
"""
