"""The page under load: 200 clients at once, 20 of them with fits.

    python benchmarks/web_load.py [--clients 200] [--fits 20] [--seconds 2]

It starts `odefinder app`, lets all clients upload a table and ask for the page again and again, and every
tenth of them fit.  It prints how many answers and fits were lost, how long the page took to answer while fits
ran, and the most memory that the server and its workers held together.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import threading
import time
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from served import ended, served

POLL = 0.5  # seconds between two questions about a fit
LOOK = 4.0  # seconds between two looks of a client at the page


@dataclass
class Load:
    """What the clients saw."""

    address: str
    seconds: float  # the time budget of each fit
    over: threading.Event = field(default_factory=threading.Event)
    waits: list[float] = field(default_factory=list)  # seconds of each answer
    pages: list[float] = field(default_factory=list)  # of the page itself, while fits run
    lost: list[str] = field(default_factory=list)
    wrong: int = 0  # results that are somebody else's
    done: int = 0

    def ask(self, path: str, body: bytes | None = None) -> Any:
        begin = time.monotonic()
        with urllib.request.urlopen(self.address + path, body, timeout=60) as answer:
            content = answer.read()
        self.waits.append(time.monotonic() - begin)
        return json.loads(content) if content[:1] in b"{[" else content

    def client(self, number: int, fits: bool) -> None:
        """Upload a table of one's own; fit it, or look at the page until all fits are over."""
        try:
            level = 1.0 + number / 7.0
            rows = [f"{t:.4f},{level * np.exp(-t):.10g}" for t in np.linspace(0.0, 4.0, 40)]
            text = "\n".join(["t,x", *rows]).encode()
            table = self.ask(f"api/tables?name={number}.csv", text)
            self.wrong += abs(table["data"]["trajectories"][0]["states"][0][0] - level) > 1e-6
            if fits:
                self.fit(table["id"], level)
            while not fits and not self.over.wait(LOOK * np.random.default_rng().uniform(0.5, 1.5)):
                begin = time.monotonic()
                self.ask("")
                self.pages.append(time.monotonic() - begin)
                self.ask(f"api/tables/{table['id']}/reading", b"{}")
        except (OSError, ValueError, KeyError) as problem:
            self.lost.append(f"client {number}: {problem}")

    def fit(self, table: str, level: float) -> None:
        options = {"time_budget": self.seconds}
        job = self.ask("api/fits", json.dumps({"table": table, "options": options}).encode())
        while (status := self.ask(f"api/fits/{job['id']}"))["state"] in ("waiting", "running"):
            time.sleep(POLL)
        if status["state"] != "done":
            self.lost.append(f"fit: {status['message']}")
            return
        self.done += 1
        first = self.ask(f"api/models/{job['id']}")["data"]["trajectories"][0]["states"][0][0]
        self.wrong += abs(first - level) > 1e-6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clients", type=int, default=200)
    parser.add_argument("--fits", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=2.0, help="The time budget of each fit.")
    wish = parser.parse_args()
    with served() as (address, server):
        load = Load(address, wish.seconds)
        warm = Load(address, wish.seconds)
        warm.client(0, fits=True)  # workers compile on the first run of a machine
        begin = time.monotonic()
        memory = run(load, wish.clients, wish.fits, server.pid)
        report(load, memory, wish.fits, time.monotonic() - begin)
        print(f"Ctrl-C: ended after {ended(server):.1f} s")


def run(load: Load, clients: int, fits: int, server: int) -> float:
    """All clients at once; the most memory, in MiB."""
    most = 0.0
    with ThreadPoolExecutor(clients) as pool:
        fitting = [pool.submit(load.client, k, True) for k in range(fits)]
        for k in range(fits, clients):
            pool.submit(load.client, k, False)
        while not all(one.done() for one in fitting):
            most = max(most, memory_of(server))
            time.sleep(POLL)
        load.over.set()
    return most


def report(load: Load, memory: float, fits: int, seconds: float) -> None:
    waits = np.array(load.waits)
    print(f"{len(waits)} answers in {seconds:.0f} s, on {os.cpu_count()} processors")
    print(f"fits done: {load.done} of {fits}; lost: {load.lost or 'nothing'}; mixed up: {load.wrong}")
    for what, times in (("the page, while fits run", np.array(load.pages)), ("all answers", waits)):
        shares = ", ".join(f"{share} % {np.percentile(times, share):.3f} s" for share in (50, 95, 99))
        print(f"{what}: {shares}, longest {times.max():.3f} s")
    print(f"most memory of the server and its workers: {memory:.0f} MiB")


def memory_of(server: int) -> float:
    """Resident memory of a process and those that it started, in MiB."""
    listed = subprocess.run(["ps", "-A", "-o", "pid=,ppid=,rss="], capture_output=True, text=True, check=True)
    rows = [tuple(map(int, line.split())) for line in listed.stdout.splitlines()]
    own, found = {server}, -1
    while len(own) != found:
        found = len(own)
        own |= {process for process, parent, _ in rows if parent in own}
    return sum(kilobytes for process, _, kilobytes in rows if process in own) / 1024.0


if __name__ == "__main__":
    main()
