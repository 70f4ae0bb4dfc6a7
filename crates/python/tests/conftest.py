"""Settings of all tests."""

import signal

from hypothesis import HealthCheck, settings

# A program that a shell starts in the background ignores Ctrl-C; the tests of Ctrl-C shall hold there, too.
signal.signal(signal.SIGINT, signal.default_int_handler)

# A shared machine may stop for a second at any time.
settings.register_profile("warpmp", deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("warpmp")
