"""Settings of all tests."""

from hypothesis import HealthCheck, settings

# A shared machine may stop for a second at any time.
settings.register_profile("warpmp", deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("warpmp")
