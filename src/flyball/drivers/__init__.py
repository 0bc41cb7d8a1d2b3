"""Drivers: models, scripts, people by relay, and the built-in repairer."""
