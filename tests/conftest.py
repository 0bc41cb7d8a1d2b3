"""What holds for every test."""

from hypothesis import HealthCheck, settings

settings.register_profile("flyball", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("flyball")
"""By the clock nothing fails: the machine may be busy with something else."""
