"""The process that fits are forked from; `isolation.py` starts it.

It imports and compiles once, works in one thread, and forks a child for every fit.  It watches the wall time,
the resident memory of the child and all its descendants, and whether whoever started the warden is still
there.  At the end of a fit everything that the child started is killed.  CPU time is what the system counted
for the child.

Requests come on the standard input: the length in 8 bytes, then a pickle.  Replies are lines of JSON on what
was the standard output: {"ready": true} once everything is prepared, then the outcome.
"""

from __future__ import annotations

import ctypes
import gc
import json
import os
import pickle
import re
import select
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO

from odefinder.bench.methods.method import Floats, Method

LENGTH = struct.Struct(">Q")
POLL = 0.02  # seconds between checks of a fit
POLL_PS = 0.5  # the same where `ps` has to be run
KILLING = 5.0  # seconds within which killed processes should vanish
LARGEST_REPLY = 1 << 22  # bytes; far above the longest program
DIES_WITH_PARENT, ADOPTS_ORPHANS = 1, 36  # of prctl, on Linux
# Modules that on import start threads or another language's runtime, which do not survive a fork.
NOT_BEFORE_A_FORK = {"pysr", "juliacall", "julia", "onnxruntime", "torch", "tensorflow", "jax"}


@dataclass(frozen=True)
class Request:
    """A fit to run."""

    method: Method | str  # a name if the method itself cannot be sent
    t: Floats
    x: Floats
    seed: int
    time_limit: float  # seconds
    memory_limit: float  # bytes


def main() -> None:
    """Serve until the standard input ends."""
    requests, replies = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "w", buffering=1)
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):  # so that a method that prints does no harm
        os.dup2(nothing, descriptor)
    _prctl(ADOPTS_ORPHANS, 1)
    prepared: set[str] = set()
    while (request := _read(requests)) is not None:
        try:
            method = _method(request)
            if method.name not in prepared:
                _prepare(method)
                prepared.add(method.name)
        except Exception as problem:
            print(json.dumps({"ready": True}), file=replies)
            print(json.dumps({"status": "crash", "message": _described(problem)}), file=replies)
            continue
        print(json.dumps({"ready": True}), file=replies)
        if hasattr(os, "fork"):
            outcome = _forked(request, method, requests.fileno(), replies.fileno())
        else:
            outcome = json.loads(_answer(request, method))
        print(json.dumps(outcome), file=replies)


def _read(requests: BinaryIO) -> Request | None:
    head = requests.read(LENGTH.size)
    if len(head) < LENGTH.size:
        return None
    content = requests.read(LENGTH.unpack(head)[0])
    loaded = pickle.loads(content)
    assert isinstance(loaded, Request)
    return loaded


def _method(request: Request) -> Method:
    if isinstance(request.method, Method):
        return request.method
    from odefinder.bench.methods import METHODS

    return METHODS[request.method]


def _prepare(method: Method) -> None:
    """Prepare what all fits of a method can share; a problem will show in the fit itself."""
    for name in method.needs:
        if name not in NOT_BEFORE_A_FORK:
            with suppress(Exception):
                import_module(name)
    if method.prepare is not None:
        with suppress(Exception):
            method.prepare()
    gc.collect()
    gc.freeze()  # so that no collection in a child copies these pages


# ---------------------------------------------------------------------------------------- the fit itself


def _answer(request: Request, method: Method) -> bytes:
    """Run the method; returns a line of JSON with the program or what went wrong."""
    from odefinder.errors import OdefinderError

    try:
        program = method.fit(request.t, request.x, request.seed)
        ops, values = checked_arrays(program, request.x.shape[1])
        answer: dict[str, Any] = {"status": "ok", "ops": ops, "values": values}
    except MemoryError as problem:
        answer = {"status": "memory", "message": _described(problem)}
    except OdefinderError as problem:  # no system, or the method says that it found none
        answer = {"status": "invalid", "message": str(problem)}
    except BaseException as problem:  # SystemExit and KeyboardInterrupt too
        answer = {"status": "crash", "message": _described(problem)}
    return json.dumps(answer).encode() + b"\n"


def checked_arrays(program: Any, dimension: int) -> tuple[list[int], list[float]]:
    """Opcodes and values of what a method returned, if it is a system of this dimension."""
    from odefinder.errors import ExpressionError
    from odefinder.expressions.program import Program, check_system, make_program

    if not isinstance(program, Program):
        raise ExpressionError(f"the method returned {program!r:.80}, which is not a Program")
    try:
        checked = make_program(program.ops, program.values)
        check_system(checked, dimension)
    except ExpressionError:
        raise
    except Exception as problem:
        raise ExpressionError(f"the method returned an invalid Program: {_described(problem)}") from None
    return checked.ops.tolist(), checked.values.tolist()


def _described(problem: BaseException) -> str:
    """The type and the text of a problem, without addresses and folders: they differ between machines."""
    text = re.sub(r"0x[0-9a-f]{6,}", "0x...", " ".join(str(problem).split()))
    text = re.sub(r"(?<![\w.:/])(/[^\s/'\"]+)+/", "", text)
    return f"{type(problem).__name__}: {text}"[:500] if text else type(problem).__name__


# ---------------------------------------------------------------------------------------- watching a child


def _forked(request: Request, method: Method, stream: int, replies: int) -> dict[str, Any]:
    """The outcome of a fit in a child, with wall time, CPU time and memory."""
    pipe, its_end = os.pipe()
    begin = time.perf_counter()
    child = os.fork()
    if child == 0:
        os.close(stream)
        os.close(replies)  # so that the other end notices if this process dies
        _be_the_child(request, method, its_end)
    os.close(its_end)
    os.set_blocking(pipe, False)
    try:
        answer, verdict = _watched(request, child, pipe, stream, begin)
        wall = time.perf_counter() - begin
    finally:
        os.close(pipe)
    code, usage = _end(child)
    return {
        **(verdict or _understood(answer, code)),
        "wall_s": wall,
        "cpu_s": usage[0],
        "memory_mb": usage[1],
    }


def _be_the_child(request: Request, method: Method, pipe: int) -> None:
    """Fit, write the answer and exit without the cleanup that Python would do."""
    try:
        os.setsid()
        _prctl(DIES_WITH_PARENT, signal.SIGKILL)
        with suppress(OSError):  # if the system runs out of memory, this is the process to kill
            Path("/proc/self/oom_score_adj").write_text("1000")
        with suppress(ImportError, ValueError, OSError):
            import resource

            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        content = _answer(request, method)
        while content:
            content = content[os.write(pipe, content) :]
    finally:
        os._exit(0)


def _watched(
    request: Request, child: int, pipe: int, stream: int, begin: float
) -> tuple[bytes, dict[str, Any] | None]:
    """The child's answer, and a verdict if it broke a limit."""
    measure, poll = _memory_meter()
    answer = b""
    while True:
        readable, _, _ = select.select([pipe, stream], [], [], poll)
        if stream in readable:  # no request comes during a fit, so whoever started this process is gone
            _end(child)
            os._exit(0)
        dead = _has_died(child)
        more = _available(pipe) if pipe in readable or dead else b""
        answer += more
        if answer.endswith(b"\n") or dead or len(answer) > LARGEST_REPLY:
            return answer, None
        if time.perf_counter() - begin > request.time_limit:
            return b"", {"status": "timeout", "message": f"no result within {request.time_limit:g} s"}
        if measure(child) > request.memory_limit:
            limit = f"{request.memory_limit / 2**30:g} GB"
            return b"", {"status": "memory", "message": f"it used more than {limit}"}


def _available(pipe: int) -> bytes:
    chunks = []
    with suppress(BlockingIOError):
        while chunk := os.read(pipe, 1 << 16):
            chunks.append(chunk)
    return b"".join(chunks)


def _has_died(child: int) -> bool:
    """Whether it has ended, without reaping it: `wait4` still has to count its time."""
    if not hasattr(os, "waitid"):
        return subprocess.run(["ps", "-o", "stat=", "-p", str(child)], capture_output=True, check=False
                              ).stdout.strip()[:1] in (b"", b"Z")  # fmt: skip
    return os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def _end(child: int) -> tuple[int, tuple[float, float]]:
    """Kill a child and all that it started; returns its wait status, and CPU seconds and MB of them all."""
    status, seconds, largest = 0, 0.0, 0.0
    alive, deadline = True, time.perf_counter() + KILLING
    with suppress(OSError):
        os.killpg(child, signal.SIGKILL)  # it made a group of its own
    while time.perf_counter() < deadline:
        # Processes that left the group are still below us: on Linux, orphans become our children.
        for process in {*([child] if alive else []), *_descendants(os.getpid())}:
            with suppress(OSError):
                os.kill(process, signal.SIGKILL)
        try:
            process, code, usage = os.wait4(-1, os.WNOHANG)
        except ChildProcessError:  # none are left
            break
        if process == 0:
            time.sleep(0.001)
            continue
        if process == child:
            alive, status = False, code
        seconds += usage.ru_utime + usage.ru_stime
        largest = max(largest, usage.ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10))
    return status, (seconds, largest)


def _understood(answer: bytes, status: int) -> dict[str, Any]:
    """The answer of a child, or why there is none."""
    with suppress(ValueError):
        loaded = json.loads(answer)
        if isinstance(loaded, dict) and answer.endswith(b"\n"):
            return loaded
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        name = signal.Signals(number).name
        why = "; perhaps the system ran out of memory" if number == signal.SIGKILL else ""
        return {"status": "crash", "message": f"the process was ended by {name}{why}"}
    return {
        "status": "crash",
        "message": f"the process ended without a result (exit {os.WEXITSTATUS(status)})",
    }


# ---------------------------------------------------------------------------------------- the system


def _prctl(option: int, value: int) -> None:
    """Call prctl on Linux; does nothing elsewhere."""
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def _descendants(process: int) -> list[int]:
    """All processes below one; none where there is no /proc."""
    found: list[int] = []
    todo = [process]
    while todo:
        for listing in Path(f"/proc/{todo.pop()}/task").glob("*/children"):
            with suppress(OSError):
                below = [int(word) for word in listing.read_text().split()]
                found += below
                todo += below
    return found


def _memory_meter() -> tuple[Callable[[int], float], float]:
    """A function that gives the bytes that a process and its descendants hold, and how often to call it."""
    return (_memory_proc, POLL) if Path("/proc/self/statm").exists() else (_memory_ps, POLL_PS)


def _memory_proc(process: int) -> float:
    total = 0
    for one in (process, *_descendants(process)):
        with suppress(OSError):
            total += int(Path(f"/proc/{one}/statm").read_text().split()[1])
    return float(total * os.sysconf("SC_PAGE_SIZE"))


def _memory_ps(process: int) -> float:
    """The same for a process group, with the tool that every Unix has."""
    done = subprocess.run(["ps", "-A", "-o", "pgid=,rss="], capture_output=True, text=True, check=False)
    rows = (line.split() for line in done.stdout.splitlines())
    return 1024.0 * sum(int(row[1]) for row in rows if len(row) == 2 and row[0] == str(process))
