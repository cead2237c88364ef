"""What all tests need."""

import signal

# Started in the background by a script, they would ignore Ctrl-C, and some test it.
signal.signal(signal.SIGINT, signal.default_int_handler)
