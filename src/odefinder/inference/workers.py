"""Calls in other processes, side by side, each on its own: what ends one of them costs that call alone.

A pool of joblib breaks as a whole when one of its processes is killed, as by a system without memory.  Here
every process has one call at a time, so it is known whose it was, and another process takes over.  Processes
end when this one does, however it ends, because they listen to a pipe that it holds.

Run as a module it is one of these processes.
"""

from __future__ import annotations

import io
import os
import pickle
import queue
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import IO, Any

from odefinder.compiling.cache import child_environment
from odefinder.errors import OdefinderError, SettingsError, WorkerError

LENGTH = 8  # bytes before a message that say how long it is
Call = tuple[Callable[..., Any], tuple[Any, ...]]


def side_by_side(
    call: Callable[..., Any], jobs: Sequence[tuple[Any, ...]], n_jobs: int | None, backend: str | None
) -> list[Any]:
    """call(*job) for each job: in processes of our own, or through a back-end of joblib that users chose."""
    import joblib

    try:
        parallel = joblib.Parallel(n_jobs=n_jobs, backend=backend)
    except (ValueError, ImportError) as problem:
        raise SettingsError(f"joblib does not know the back-end {backend!r}: {problem}") from None
    processes = joblib.effective_n_jobs(n_jobs)
    # joblib's own processes would be used: nobody chose another back-end.
    default = type(joblib.parallel.get_active_backend()[0]).__name__ in ("LokyBackend", "SequentialBackend")
    if backend in (None, "loky") and default and min(processes, len(jobs)) > 1:
        return run_apart([(call, job) for job in jobs], processes)
    return list(parallel(joblib.delayed(call)(*job) for job in jobs))


def run_apart(calls: Sequence[Call], processes: int) -> list[Any]:
    """The result of each call, or a `WorkerError` in its place if its process ended; in their order."""
    results: list[Any] = [None] * len(calls)
    waiting: queue.SimpleQueue[int] = queue.SimpleQueue()
    for number in range(len(calls)):
        waiting.put(number)
    workers = [_Worker() for _ in range(min(processes, len(calls)))]
    threads = [threading.Thread(target=_serve, args=(one, calls, waiting, results)) for one in workers]
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            while thread.is_alive():
                thread.join(0.2)  # in between, Ctrl-C is heard
    finally:
        for worker in workers:
            worker.close()
    return results


def _serve(
    worker: _Worker, calls: Sequence[Call], waiting: queue.SimpleQueue[int], results: list[Any]
) -> None:
    """Let one process make calls until there are none left."""
    while not worker.closed:
        try:
            number = waiting.get_nowait()
        except queue.Empty:
            return
        results[number] = worker.result(calls[number])


class _Worker:
    """One process, started when it is needed, and again when it has ended."""

    def __init__(self) -> None:
        self.process: subprocess.Popen[bytes] | None = None
        self.closed = False
        self._lock = threading.Lock()

    def result(self, call: Call) -> Any:
        """What a call returns; an error of ours if there is none."""
        try:
            content = _dumps(call)
        except Exception as problem:
            return WorkerError(f"this data set cannot be sent to another process: {problem}")
        try:
            process = self._running()
            _write(process.stdin, content)
            answer = _read(process.stdout)
        except OSError as problem:
            answer, reason = None, str(problem)
        else:
            reason = "" if answer is not None else _end_of(process)
        if answer is None:
            self._kill()
            return WorkerError(
                f"the process that fitted this data set ended ({reason}); perhaps memory was short: fit it "
                "alone, or with fewer jobs (n_jobs)"
            )
        try:
            return pickle.loads(answer)
        except Exception as problem:  # of a class that exists only there
            return WorkerError(f"the result cannot be read here: {problem}")

    def close(self) -> None:
        """End the process."""
        self.closed = True
        self._kill()

    def _running(self) -> subprocess.Popen[bytes]:
        with self._lock:
            if self.closed:
                raise OSError("stopped")
            if self.process is None or self.process.poll() is not None:
                self.process = subprocess.Popen(
                    [sys.executable, "-m", __name__], env=child_environment(),
                    stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                )  # fmt: skip
                _write(self.process.stdin, pickle.dumps(sys.path))
            return self.process

    def _kill(self) -> None:
        with self._lock:
            process, self.process = self.process, None
            if process is not None:
                process.kill()
                process.wait()
                for stream in (process.stdin, process.stdout):
                    if stream is not None:
                        with suppress(OSError):  # what was still to be written goes nowhere
                            stream.close()


def _end_of(process: subprocess.Popen[bytes]) -> str:
    """How a process ended."""
    try:
        code = process.wait(10.0)
    except subprocess.TimeoutExpired:
        return "it closed its pipe"
    return f"signal {-code}" if code < 0 else f"exit code {code}"


def _dumps(thing: Any) -> bytes:
    """As joblib does it: also functions that have no name elsewhere."""
    from joblib.externals.loky.backend.reduction import dumps

    return bytes(dumps(thing))


def _write(stream: IO[bytes] | None, content: bytes) -> None:
    assert stream is not None
    stream.write(len(content).to_bytes(LENGTH, "big") + content)
    stream.flush()


def _read(stream: IO[bytes] | None) -> bytes | None:
    """The next message; None where the stream has ended."""
    assert stream is not None
    head = stream.read(LENGTH)
    size = int.from_bytes(head, "big")
    content = stream.read(size) if len(head) == LENGTH else b""
    return content if len(head) == LENGTH and len(content) == size else None


# ---------------------------------------------------------------------------------------- over there


def _work() -> None:
    """Answer calls until the pipe is closed; then end at once, also in the middle of one."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a call prints must not get among the answers
    waiting: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(sys.stdin.buffer, waiting), daemon=True).start()
    sys.path[:] = pickle.loads(waiting.get())
    while True:
        content = waiting.get()
        try:
            function, arguments = pickle.loads(content)
            result = function(*arguments)
        except KeyboardInterrupt:
            os._exit(130)
        except OdefinderError as problem:
            result = problem
        except Exception as problem:  # such as a class that is not known here
            result = WorkerError(f"{type(problem).__name__}: {problem}")
        _write(answers, _packed(result))


def _packed(result: Any) -> bytes:
    try:
        return _dumps(result)
    except Exception as problem:
        return pickle.dumps(WorkerError(f"the result cannot be sent back: {problem}"))


def _listen(stream: io.BufferedReader, waiting: queue.SimpleQueue[bytes]) -> None:
    """Pass messages on; the end of the pipe is the end of the process that holds it, and of this one."""
    while (content := _read(stream)) is not None:
        waiting.put(content)
    os._exit(0)


if __name__ == "__main__":
    _work()
