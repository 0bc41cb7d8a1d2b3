"""What holds for every test."""

import os

from hypothesis import HealthCheck, settings

# By the clock nothing fails: the machine may be busy with something else.
_KIND = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("quick", _KIND, max_examples=30)
settings.register_profile("thorough", _KIND, max_examples=60)
settings.load_profile(os.environ.get("FLYBALL_EXAMPLES", "quick"))
