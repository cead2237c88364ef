"""The page as benchmarks use it: `odefinder app` in a process of its own."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

PATIENCE = 60.0  # seconds until the server must have ended


@contextmanager
def served(**environment: str) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """The address of a page, and its process, which ends with the block at the latest."""
    command = [sys.executable, "-m", "odefinder", "app", "--no-browser"]
    variables = {**os.environ, **environment}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=variables) as server:
        try:
            assert server.stdout is not None
            address = re.search(r"http://\S+", server.stdout.readline())
            assert address is not None
            yield address[0], server
            ended(server)
        finally:
            server.kill()


def ended(server: subprocess.Popen[str]) -> float:
    """Send Ctrl-C to the server; the seconds until it has ended."""
    begin = time.monotonic()
    server.send_signal(signal.SIGINT)
    server.wait(PATIENCE)
    return time.monotonic() - begin
