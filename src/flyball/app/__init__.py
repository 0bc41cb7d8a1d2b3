"""The use cases and the wiring: what a surface asks for, made of engine, journal and drivers."""
