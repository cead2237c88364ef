"""Faults around a fit: signals, pipes, threads, caches, kills.  Some in `make test`, all in `make fuzz`.

Kills of `generate` and `bench` are in tests/prior and tests/bench, too, at chosen moments; here they come at
random ones, those of `train`, too.
"""

import hashlib
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from odefinder import ODEFormer
from odefinder.compiling.cache import child_environment

MOMENTS = int(os.environ.get("ODEFINDER_FAULTS", "2"))  # random moments of each kind
INTERRUPTS = MOMENTS if MOMENTS < 10 else 50
slow = pytest.mark.skipif(MOMENTS < 10, reason="takes minutes: make fuzz")
posix = pytest.mark.skipif(sys.platform == "win32", reason="signals and file systems of Unix")
pytestmark = posix

T = np.linspace(0.0, 6.0, 60)
COMMAND = [sys.executable, "-m", "odefinder"]


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Noisy data of three variables, which keep a fit busy."""
    rng = np.random.default_rng(0)
    states = np.column_stack([np.exp(-T), np.cos(T), np.sin(2.0 * T)]) + 0.03 * rng.normal(size=(60, 3))
    path = tmp_path_factory.mktemp("faults") / "d.csv"
    rows = (f"{t:.4f}," + ",".join(f"{x:.6f}" for x in row) for t, row in zip(T, states, strict=True))
    path.write_text("t,x,y,z\n" + "\n".join(rows) + "\n")
    ODEFormer(network=False, time_budget=0.5).fit(states, T)  # what the processes below need is compiled
    return path


def started(arguments: list[str], **more: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [*COMMAND, *arguments], env={**child_environment(), **more}, start_new_session=True, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


def ended(process: "subprocess.Popen[str]", seconds: float = 300.0) -> tuple[int, str, str]:
    """Exit code and output; nothing of its group is left behind."""
    out, err = process.communicate(timeout=seconds)
    for _ in range(100):
        try:
            os.killpg(process.pid, 0)
        except ProcessLookupError:
            return process.returncode, out, err
        time.sleep(0.1)
    pytest.fail("a process is left behind")


# ---------------------------------------------------------------- signals


@pytest.mark.parametrize("number", range(INTERRUPTS))
def test_ctrl_c_at_a_random_moment(table: Path, tmp_path: Path, number: int) -> None:
    """130, or the best so far, which is saved; never a traceback, and no process is left behind."""
    saved = tmp_path / "m.json"
    process = started(["fit", str(table), "--budget", "4", "--save", str(saved)])
    time.sleep(random.Random(number).uniform(0.2, 12.0))
    if process.poll() is None:
        process.send_signal(signal.SIGINT)
    code, out, err = ended(process)
    assert "Traceback" not in err
    assert code in (0, 130, -signal.SIGINT)  # the last: Python was still starting
    if code == 0:
        assert "x'" in out
        assert ODEFormer.load(saved).system_.dimension == 3


@pytest.mark.parametrize("number", range(max(1, MOMENTS // 10)))
def test_sigterm(table: Path, number: int) -> None:
    """It ends the process; on a fast machine the fit may have ended before."""
    process = started(["fit", str(table), "--budget", "20"])
    time.sleep(random.Random(number).uniform(0.5, 4.0))
    was_done = process.poll() is not None
    process.send_signal(signal.SIGTERM)
    code, _, err = ended(process)
    assert code == (0 if was_done else -signal.SIGTERM)
    assert "Traceback" not in err


# ---------------------------------------------------------------- streams


@pytest.mark.parametrize(
    ("redirection", "codes"),
    [
        ("| true", (0, 141)),
        ("| head -1", (0, 141)),
        ("> /dev/full", (1,)),
        (">&-", (0,)),
        ("2>&-", (0,)),
        ("<&- >&- 2>&-", (0,)),
    ],
)
def test_whatever_becomes_of_the_output_the_result_is_saved(
    table: Path, tmp_path: Path, redirection: str, codes: tuple[int, ...]
) -> None:
    if MOMENTS < 10 and redirection not in ("| true", "> /dev/full"):
        pytest.skip("make fuzz")
    saved = tmp_path / "m.json"
    options = f"--no-network --budget 0.5 --save {saved}"
    command = f"{sys.executable} -m odefinder fit {table} {options} {redirection}"
    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {command}"], env=child_environment(), capture_output=True,
        text=True, check=False, timeout=300.0,
    )  # fmt: skip
    assert done.returncode in codes, done.stderr
    assert "Traceback" not in done.stderr
    assert ODEFormer.load(saved).system_.dimension == 3


# ---------------------------------------------------------------- threads, forks


def curves(count: int) -> list[np.ndarray]:
    return [np.column_stack([np.exp(-(0.5 + 0.1 * k) * T), np.exp(-0.2 * T)]) for k in range(count)]


def test_fits_in_eight_threads_give_what_they_give_alone() -> None:
    data = curves(8)

    def text(states: np.ndarray) -> str:
        model = ODEFormer(network=False, time_budget=300.0).fit(states, T)
        assert not model.early_
        return str(model)

    alone = [text(states) for states in data]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(text, data)) == alone


def test_a_fork_after_use_can_fit() -> None:
    states = curves(1)[0]
    expected = str(ODEFormer(network=False, time_budget=60.0).fit(states, T).system_)
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        found = str(ODEFormer(network=False, time_budget=60.0).fit(states, T).system_)
        os.write(writing, found.encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as answer:
        assert answer.read() == expected
    assert os.waitpid(child, 0)[1] == 0


# ---------------------------------------------------------------- caches


@slow
def test_two_processes_with_one_cold_cache(table: Path, tmp_path: Path) -> None:
    how = {"ODEFINDER_CACHE": str(tmp_path / "cache")}
    arguments = ["fit", str(table), "--no-network", "--budget", "2"]
    for process in [started(arguments, **how) for _ in range(2)]:
        code, out, err = ended(process, seconds=1800.0)  # both compile everything
        assert (code, "Traceback" in err) == (0, False)
        assert "x'" in out


def _nobody_runs(python: str, environment: dict[str, str]) -> bool:
    """Whether another user may run this interpreter with our packages."""
    try:
        done = subprocess.run(
            [python, "-c", "import odefinder, numba"], env=environment, user=65534, group=65534, cwd="/",
            capture_output=True, check=False,
        )  # fmt: skip
    except OSError:
        return False
    return done.returncode == 0


@slow
@pytest.mark.skipif(not hasattr(os, "getuid") or os.getuid() != 0, reason="needs another user")
@pytest.mark.parametrize("home", ["/nonexistent", "/proc", None])
def test_nothing_can_be_written(table: Path, home: str | None) -> None:
    """A user without a home, and a package of somebody else."""
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    python = next(
        (one for one in (sys.executable, "/usr/bin/python3") if _nobody_runs(one, environment)), None
    )
    if python is None:
        pytest.skip("no interpreter that other users may run")
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        copy = Path(folder) / "d.csv"
        copy.write_text(table.read_text())
        Path(folder).chmod(0o755)
        done = subprocess.run(
            [python, "-m", "odefinder", "fit", str(copy), "--no-network", "--budget", "2"],
            env=environment if home is None else {**environment, "HOME": home}, user=65534, group=65534,
            capture_output=True, text=True, check=False, timeout=1800.0,
        )  # fmt: skip
    assert "Traceback" not in done.stderr
    assert (done.returncode, "x'" in done.stdout) == (0, True), done.stderr


# ---------------------------------------------------------------- kills


def killed_until_done(command: list[str], written: Path, seed: int) -> int:
    """Start again after every SIGKILL, at a random moment after something was written; how often that was."""

    def stamp() -> object:
        return (written.stat().st_mtime_ns, written.stat().st_size) if written.exists() else None

    rng = random.Random(seed)
    for kills in range(MOMENTS):
        before = stamp()
        process = subprocess.Popen(
            command, env=child_environment(), start_new_session=True, stdout=subprocess.DEVNULL
        )
        while process.poll() is None and stamp() == before:
            time.sleep(0.01)
        try:
            process.wait(rng.uniform(0.0, 2.0))
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        else:
            assert process.returncode == 0
            return kills
    assert subprocess.run(command, env=child_environment(), check=False, capture_output=True).returncode == 0
    return MOMENTS


def digests(folder: Path, pattern: str) -> dict[str, str]:
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(folder.glob(pattern))}


@slow
def test_generate_killed_at_random_moments(tmp_path: Path) -> None:
    def command(folder: Path) -> list[str]:
        options = "generate --count 12000 --shard-size 100 --seed 5 --jobs 1 --no-progress --out"
        return [*COMMAND, *options.split(), str(folder)]

    assert subprocess.run(command(tmp_path / "whole"), env=child_environment(), check=False).returncode == 0
    assert killed_until_done(command(tmp_path / "broken"), tmp_path / "broken", 0) > 0
    assert digests(tmp_path / "whole", "*.parquet") == digests(tmp_path / "broken", "*.parquet")


@slow
def test_bench_killed_at_random_moments(tmp_path: Path) -> None:
    """The same results but for the times that they took, each once."""

    def command(folder: Path) -> list[str]:
        options = "bench --methods sindy-simulation,oracle --systems 1-20 --sigma 0,0.05 --no-progress"
        return [*COMMAND, *options.split(), "--jobs", "1", "--out", str(folder)]

    def results(folder: Path) -> list[str]:
        rows = [json.loads(line) for line in (folder / "results.jsonl").read_text().splitlines()]
        clocks = ("wall_s", "cpu_s", "memory_mb")
        return sorted(json.dumps({k: v for k, v in row.items() if k not in clocks}) for row in rows)

    assert subprocess.run(command(tmp_path / "whole"), env=child_environment(), check=False).returncode == 0
    assert killed_until_done(command(tmp_path / "broken"), tmp_path / "broken" / "results.jsonl", 1) > 0
    assert results(tmp_path / "whole") == results(tmp_path / "broken")


TRAINING = """
import sys
from dataclasses import replace
from pathlib import Path
from odefinder.training import loop
from odefinder.training.settings import training_preset
loop.SAVE_EVERY = loop.LOG_EVERY = -1.0  # after every step
settings = replace(training_preset("tiny"), batch_tokens=2_000)
run = loop.Run(Path(sys.argv[1]), settings, resume=True, device="cpu")
if run.progress.step < 300:
    run.train(steps=300 - run.progress.step, plan=300)
"""


@slow
def test_train_killed_at_random_moments(tmp_path: Path) -> None:
    """The same tensors to the bit, wherever the kills fell; most fall while a checkpoint is written."""
    checkpoint = pytest.importorskip("odefinder.network.checkpoint")

    def command(folder: Path) -> list[str]:
        return [sys.executable, "-c", TRAINING, str(folder)]

    def written(folder: Path) -> tuple[dict[str, bytes], dict[str, Any]]:
        tensors, head = checkpoint.read(folder / "checkpoint.safetensors")
        head["progress"]["minutes"] = 0.0
        return {name: tensor.numpy().tobytes() for name, tensor in tensors.items()}, head

    assert subprocess.run(command(tmp_path / "whole"), env=child_environment(), check=False).returncode == 0
    broken = tmp_path / "broken"
    assert killed_until_done(command(broken), broken / "checkpoint.safetensors", 2) > 0
    assert written(tmp_path / "whole") == written(broken)
