"""Ctrl-C in the middle of the work of `odefinder app`: how long it takes to end, and what it leaves behind.

    python benchmarks/web_stop.py [--times 5]

Each time it starts the page in a temporary folder of its own, lets as many fits run as there are processors,
each watched by a client, asks for the errors of a result (which are computed in the server itself), and sends
SIGINT.  It prints the seconds until the server has ended, and counts processes and folders that are left.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import tempfile
import threading
import time
import urllib.request
from contextlib import suppress
from http.client import HTTPException
from pathlib import Path
from typing import Any

from served import ended, served

LONG = {"network": False, "time_budget": 300.0}
SETTLE = 0.5  # seconds between the end of the server and the look at what is left


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=5)
    wish = parser.parse_args()
    for _ in range(wish.times):
        with tempfile.TemporaryDirectory() as folder:
            seconds, processes, left = stopped(Path(folder))
        load = os.getloadavg()[0]
        print(
            f"ended after {seconds:.2f} s (load {load:.1f} on {os.cpu_count()} processors); "
            f"processes left: {processes}, files and folders left: {left}"
        )


def stopped(folder: Path) -> tuple[float, int, int]:
    """Seconds, and what is left."""
    with served(TMPDIR=str(folder)) as (address, server):
        client = Client(address + "api/")
        table = client.ask("samples/hare_lynx", {})["id"]
        ready = client.fitted(table, {"network": False, "time_budget": 1.0})
        fits = [client.start(table, LONG) for _ in range(os.cpu_count() or 1)]
        for fit in fits:
            client.in_background(f"fits/{fit}/events")
            while client.ask(f"fits/{fit}")["stage"] != "searching":
                time.sleep(0.1)
        client.in_background(f"models/{ready}/candidates/0/trust")
        client.in_background(f"models/{ready}/candidates/1/bands")
        time.sleep(0.2)
        started = descendants(server.pid)
        seconds = ended(server)
    time.sleep(SETTLE)
    alive = {process for process, _, state in listed() if not state.startswith("Z")}
    return seconds, len(started & alive), len(list(folder.glob("odefinder-*")))


class Client:
    """Asks the server."""

    def __init__(self, address: str) -> None:
        self.address = address

    def ask(self, path: str, content: object = None) -> Any:
        body = None if content is None else json.dumps(content).encode()
        with urllib.request.urlopen(self.address + path, body, timeout=300) as answer:
            return json.load(answer)

    def start(self, table: str, options: dict[str, Any]) -> str:
        return str(self.ask("fits", {"table": table, "options": options})["id"])

    def fitted(self, table: str, options: dict[str, Any]) -> str:
        fit = self.start(table, options)
        while (status := self.ask(f"fits/{fit}"))["state"] != "done":
            assert status["state"] in ("waiting", "running"), status
            time.sleep(0.2)
        return fit

    def in_background(self, path: str) -> None:
        """Ask, and wait for an answer that may never come."""

        def read() -> None:
            with suppress(OSError, HTTPException), urllib.request.urlopen(self.address + path) as answer:
                answer.read()

        threading.Thread(target=read, daemon=True).start()


def descendants(parent: int) -> set[int]:
    """The processes that a process started, and those that they started."""
    own, found, rows = {parent}, 0, listed()
    while len(own) != found:
        found = len(own)
        own |= {process for process, above, _ in rows if above in own}
    return own - {parent}


def listed() -> list[tuple[int, int, str]]:
    """All processes: number, that of the parent, and state (Z: ended, and nobody has asked how)."""
    shown = subprocess.run(["ps", "-A", "-o", "pid=,ppid=,stat="], capture_output=True, text=True, check=True)
    lines = (line.split() for line in shown.stdout.splitlines())
    return [(int(process), int(parent), state) for process, parent, state in lines]


if __name__ == "__main__":
    main()
