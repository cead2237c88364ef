"""Methods that do what a method must not do.  In a module of their own, because other processes import it."""

import ctypes
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from odefinder.bench.methods.method import Floats, Method
from odefinder.errors import NoSystemError
from odefinder.expressions.program import Program
from tests.programs import words


def decay(dimension: int) -> Program:
    return words(" ".join(f"mul -1 x{j}" for j in range(dimension)))


def fine(t: Floats, x: Floats, seed: int) -> Program:
    """x' = -x for every variable."""
    print("a method may print", flush=True)
    os.write(2, b"and complain\n")
    return decay(x.shape[1])


def slow(t: Floats, x: Floats, seed: int) -> Program:
    """A result that depends on the data and the seed, after a while."""
    time.sleep(0.1)
    return decay(x.shape[1]).with_constants(np.full(x.shape[1], -x.mean() - seed % 7))


def hang(t: Floats, x: Floats, seed: int) -> Program:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    while True:
        time.sleep(1.0)


def hang_with_children(t: Floats, x: Floats, seed: int) -> Program:
    """Two children: one in our group, one that left it.  Their numbers go to the file of PIDS."""
    command = [sys.executable, "-c", "import time; time.sleep(60)"]
    children = [subprocess.Popen(command), subprocess.Popen(command, start_new_session=True)]
    Path(os.environ["PIDS"]).write_text(" ".join(str(child.pid) for child in children))
    return hang(t, x, seed)


def burn(t: Floats, x: Floats, seed: int) -> Program:
    """Half a second of CPU, and as much in a child."""
    code = "import time\nwhile time.process_time() < 0.5: pass"
    exec(code)
    subprocess.run([sys.executable, "-c", code], check=True)
    return decay(x.shape[1])


def leave(t: Floats, x: Floats, seed: int) -> Program:
    os._exit(3)


def segfault(t: Floats, x: Floats, seed: int) -> Program:
    ctypes.string_at(0)
    raise AssertionError


def fail(t: Floats, x: Floats, seed: int) -> Program:
    raise ZeroDivisionError(f"of the method, {object()} in {Path(__file__).resolve()}, 1/2")


def stop(t: Floats, x: Floats, seed: int) -> Program:
    sys.exit("I quit")


def give_up(t: Floats, x: Floats, seed: int) -> Program:
    raise NoSystemError("found nothing")


def eat(t: Floats, x: Floats, seed: int) -> Program:
    eaten = []
    while True:
        eaten.append(np.ones(1 << 22))  # 32 MB


def kill_the_warden(t: Floats, x: Floats, seed: int) -> Program:
    os.kill(os.getppid(), signal.SIGKILL)
    return hang(t, x, seed)


def nothing(t: Floats, x: Floats, seed: int) -> None:
    return None


def text(t: Floats, x: Floats, seed: int) -> str:
    return "x' = -x"


def too_many(t: Floats, x: Floats, seed: int) -> Program:
    return decay(x.shape[1] + 1)


def not_finite(t: Floats, x: Floats, seed: int) -> Program:
    return Program(decay(x.shape[1]).ops, np.full(3 * x.shape[1], np.nan))


def cut_off(t: Floats, x: Floats, seed: int) -> Program:
    return Program(decay(x.shape[1]).ops[:-1], decay(x.shape[1]).values[:-1])


def rubbish(t: Floats, x: Floats, seed: int) -> Program:
    return Program(None, "rubbish")  # type: ignore[arg-type]


def blow_up(t: Floats, x: Floats, seed: int) -> Program:
    return words(" ".join(f"add 1 pow5 x{j}" for j in range(x.shape[1])))


FUNCTIONS = (
    fine, slow, hang, hang_with_children, burn, leave, segfault, fail, stop, give_up, eat, kill_the_warden,
    nothing, text, too_many, not_finite, cut_off, rubbish, blow_up,
)  # fmt: skip
ALL = {function.__name__: Method(function.__name__, function.__name__, function) for function in FUNCTIONS}
ABSENT = Method("absent", "Absent", fine, needs=("no_such_module",), install="there is no way to get it")
