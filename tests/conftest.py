"""What all tests need."""

import signal

from hypothesis import settings

settings.register_profile("house", deadline=None)  # a timing is no test, and machines are busy
settings.load_profile("house")

# Started in the background by a script, they would ignore Ctrl-C, and some test it.
signal.signal(signal.SIGINT, signal.default_int_handler)
