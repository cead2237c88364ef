"""Every fit runs in its own process, with limits on time and memory: nothing it does can stop the run.

An `Isolation` holds one process that has everything imported and compiled (`warden.py`) and forks a child for
every fit; without fork (Windows) every fit starts a new Python, and memory is not limited.  Processes have
one thread for linear algebra, so that CPU seconds can be compared.  What a method prepares (imports,
compilation) is not part of a fit's time.
"""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
import threading
from contextlib import suppress
from typing import Any

from odefinder.bench.methods import METHODS
from odefinder.bench.methods.method import Floats, Method
from odefinder.bench.protocol import Fitted, Status
from odefinder.bench.warden import LENGTH, Request
from odefinder.expressions.program import make_program

START = "from odefinder.bench.warden import main; main()"
STARTING = 600.0  # seconds that imports and compilation may take; a new machine needs a minute or two
GRACE = 30.0  # seconds that the warden has to kill a fit and report, before it is killed itself
ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS",
              "VECLIB_MAXIMUM_THREADS", "JULIA_NUM_THREADS")  # fmt: skip

# Otherwise a library may end every forked child.
FORKS_ON_MACOS = {"OBJC_DISABLE_INITIALIZE_FORK_SAFETY": "YES"}


class Isolation:
    """A place where fits run, one after the other."""

    def __init__(self, time_limit: float, memory_limit: float):
        self.time_limit, self.memory_limit = time_limit, memory_limit  # seconds, bytes
        self._warden: subprocess.Popen[bytes] | None = None
        self._closed = False
        self._lock = threading.Lock()  # around starting and killing: `close` is called from another thread

    def fit(self, method: Method, t: Floats, x: Floats, seed: int) -> Fitted:
        """Run one fit; whatever happens, there is an outcome."""
        limits = self.time_limit, self.memory_limit
        try:
            content = pickle.dumps(Request(method, t, x, seed, *limits))
        except Exception as problem:  # for instance a lambda, which can only be sent by name
            if METHODS.get(method.name) is not method:
                return Fitted(Status.CRASH, f"the method cannot be sent to another process: {problem}")
            content = pickle.dumps(Request(method.name, t, x, seed, *limits))
        warden = self._started()
        if warden is None:
            return Fitted(Status.CRASH, "the run was stopped")
        try:
            outcome = self._exchange(warden, content)
        finally:
            if not hasattr(os, "fork") or warden.poll() is not None:
                self._discard()
        return _fitted(outcome)

    def close(self) -> None:
        """End the process and whatever runs in it; `fit` then returns at once."""
        with self._lock:
            self._closed = True
        self._discard()

    def __enter__(self) -> Isolation:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _started(self) -> subprocess.Popen[bytes] | None:
        with self._lock:
            if self._closed:
                return None
            if self._warden is None:
                paths = os.pathsep.join(path or os.getcwd() for path in sys.path)
                self._warden = subprocess.Popen(
                    [sys.executable, "-c", START],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL,
                    env={
                        **os.environ,
                        **dict.fromkeys(ONE_THREAD, "1"),
                        **FORKS_ON_MACOS,
                        "PYTHONPATH": paths,
                    },
                    start_new_session=True,  # Ctrl-C is for the run only, which ends this process itself
                )
            return self._warden

    def _exchange(self, warden: subprocess.Popen[bytes], content: bytes) -> dict[str, Any]:
        """Send a request and wait for the outcome; a warden that hangs is killed."""
        assert warden.stdin is not None
        try:
            warden.stdin.write(LENGTH.pack(len(content)) + content)
            warden.stdin.flush()
        except OSError:
            return {"status": "crash", "message": "the process that starts fits has died"}
        ready, late = _reply(warden, STARTING)
        if late:
            return {"status": "timeout", "message": f"it could not be prepared within {STARTING:g} s"}
        if ready is None:
            return {"status": "crash", "message": "the process died while it prepared the method"}
        outcome, late = _reply(warden, self.time_limit + (GRACE if hasattr(os, "fork") else 0.0))
        if late:
            message = f"no result within {self.time_limit:g} s"
            return {"status": "timeout", "message": message, "wall_s": self.time_limit}
        return outcome or {"status": "crash", "message": "the process that starts fits has died"}

    def _discard(self) -> None:
        with self._lock:
            warden, self._warden = self._warden, None
        if warden is None:
            return
        assert warden.stdin is not None
        with suppress(OSError):
            warden.stdin.close()  # it kills the child and ends
        try:
            warden.wait(timeout=2.0)
        except subprocess.TimeoutExpired:
            warden.kill()
            warden.wait()
        if warden.stdout is not None:
            with suppress(OSError):
                warden.stdout.close()


def _reply(warden: subprocess.Popen[bytes], seconds: float) -> tuple[dict[str, Any] | None, bool]:
    """The warden's next line, None at its end; and whether the warden was killed for taking too long."""
    assert warden.stdout is not None
    late = threading.Event()

    def kill() -> None:
        late.set()
        warden.kill()

    timer = threading.Timer(seconds, kill)
    timer.daemon = True
    timer.start()
    try:
        with suppress(ValueError):  # a line that was cut off, or a stream that `close` has closed
            line = warden.stdout.readline()
            if line.endswith(b"\n"):
                return dict(json.loads(line)), False
    finally:
        timer.cancel()
    with suppress(subprocess.TimeoutExpired):
        warden.wait(timeout=1.0)
    return None, late.is_set()


def _fitted(outcome: dict[str, Any]) -> Fitted:
    status = Status(outcome["status"])
    program = make_program(outcome["ops"], outcome["values"]) if status == Status.OK else None
    measured = {name: float(outcome.get(name, 0.0)) for name in ("wall_s", "cpu_s", "memory_mb")}
    return Fitted(status, str(outcome.get("message", "")), program, **measured)
