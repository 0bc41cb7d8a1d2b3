"""The use cases: combine engine, journal and driver to serve a surface's request."""
