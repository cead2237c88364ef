"""The command line: what it prints, and its exit codes."""

import json
import os
import re
import signal
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from odefinder.cli import app as cli
from odefinder.prior import generation

SMALL = ["--count", "40", "--shard-size", "16", "--jobs", "2", "--no-progress"]


def invoke(*arguments: str):
    return CliRunner().invoke(cli.app, list(arguments), env={"COLUMNS": "100", "NO_COLOR": "1"})


def test_version() -> None:
    result = invoke("--version")
    assert result.exit_code == 0
    assert result.stdout.strip() == f"odefinder {version('odefinder')}"


def test_generate_prints_statistics_and_resumes(tmp_path: Path) -> None:
    result = invoke("generate", "--out", str(tmp_path), *SMALL)
    assert result.exit_code == 0, result.output
    assert re.search(r"accepted( +\d+\.\d%){7}", result.stdout)
    assert re.search(r"examples +40", result.stdout)
    for label in ("family", "complexity", "target length", "systems with", "stationary", "oscillating"):
        assert label in result.stdout
    assert "40 examples in 3 shards" in result.stdout
    again = invoke("generate", "--out", str(tmp_path), *SMALL)
    assert "0 written now" in again.stdout
    # The same statistics, all but the last line, with how long it took.
    assert again.stdout.splitlines()[:-1] == result.stdout.splitlines()[:-1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--count", "0"], "odefinder: count is a whole number of examples, 1 or more, not 0"),
        (
            ["--count", "5", "--preset", "x"],
            "odefinder: there is no preset 'x'; choose one of paper, plain, default",
        ),
        (["--count", "5", "--jobs", "0"], "odefinder: jobs is a whole number from 1 to 1024, not 0"),
        (["--count", "5", "--jobs", "9" * 400], "odefinder: jobs is a whole number from 1 to 1024, not"),
    ],
)
def test_our_errors_are_one_plain_message(tmp_path: Path, arguments: list[str], message: str) -> None:
    result = invoke("generate", "--out", str(tmp_path), *arguments)
    assert result.exit_code == 1
    assert result.stderr.startswith(message)
    assert len(result.stderr.splitlines()) == 1


def test_ctrl_c(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_, **__) -> None:
        raise KeyboardInterrupt("Stopped: 1 of 3 shards are complete.")

    monkeypatch.setattr(generation, "generate", interrupted)
    result = invoke("generate", "--out", str(tmp_path), *SMALL)
    assert result.exit_code == 130
    assert result.stderr.strip() == "Stopped: 1 of 3 shards are complete."


def test_train_and_resume(tmp_path: Path) -> None:
    out = tmp_path / "run"
    tiny = ["train", "--preset", "tiny", "--out", str(out), "--device", "cpu"]
    result = invoke(*tiny, "--steps", "2", "--plan", "4")
    assert result.exit_code == 0, result.output
    assert re.search(r"Trained 2 steps on \d+ examples in 0\.\d minutes in all", result.stdout)
    assert re.search(r"100%  step 2 .* loss \d\.\d+ .* examples/s  waiting .* 0\.0 min left", result.stderr)
    assert {path.name for path in out.iterdir()} == {"checkpoint.safetensors", "log.jsonl", "tensorboard"}
    again = invoke(*tiny, "--steps", "2", "--plan", "4")
    assert again.exit_code == 1
    assert again.stderr.startswith(f"odefinder: {out} holds a run already; give --resume to go on")
    resumed = invoke(*tiny, "--steps", "2", "--plan", "4", "--resume")
    assert "Trained 4 steps" in resumed.stdout
    log = [json.loads(line) for line in (out / "log.jsonl").read_text().splitlines()]
    steps = [entry["progress"]["step"] for entry in log]
    assert steps == sorted(set(steps))  # a slow machine logs more often
    assert {2, 4} <= set(steps)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "odefinder: give either minutes or steps"),
        (["--minutes", "-1"], "odefinder: minutes and steps are the training still to be done"),
        (["--steps", "1", "--preset", "x"], "odefinder: there is no training preset 'x'"),
        (["--steps", "1", "--device", "abacus"], "odefinder: torch cannot use the device 'abacus' here"),
    ],
)
def test_errors_of_train(tmp_path: Path, arguments: list[str], message: str) -> None:
    result = invoke("train", "--preset", "tiny", "--out", str(tmp_path / "run"), *arguments)
    assert result.exit_code == 1
    assert result.stderr.startswith(message)
    assert len(result.stderr.splitlines()) == 1
    assert not (tmp_path / "run").exists()


def test_a_stopped_training_says_how_to_go_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from odefinder.training import loop

    def interrupted(run: loop.Run, *arguments: Any) -> Any:
        if run.progress.step == 1:
            os.kill(os.getpid(), signal.SIGINT)
        return step(run, *arguments)

    step = loop.Run._step
    monkeypatch.setattr(loop.Run, "_step", interrupted)
    result = invoke("train", "--preset", "tiny", "--out", str(tmp_path), "--device", "cpu", "--steps", "99")
    assert result.exit_code == 130
    assert re.search(r"Stopped after 2 steps .*Go on with --resume\.", result.stderr)
    assert (tmp_path / "checkpoint.safetensors").exists()


def test_training_without_torch_names_the_extra(tmp_path: Path) -> None:
    code = "import sys; sys.modules['torch'] = None; from odefinder.cli.app import main; main()"
    command = [sys.executable, "-c", code, "train", "--out", tmp_path, "--steps", "1"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.strip() == (
        "odefinder: training needs an optional dependency: pip install 'odefinder[train]'"
    )


def test_the_command_itself(tmp_path: Path) -> None:
    command = [Path(sys.executable).parent / "odefinder", "generate", "--out", tmp_path, "--count", "20"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "20 examples in 1 shards" in done.stdout
    assert "20/20" in done.stderr
    wrong = subprocess.run([*command, "--seed", "1"], capture_output=True, text=True, check=False)
    assert wrong.returncode == 1
    assert "seed is 0 there, 1 here" in wrong.stderr
    assert "Traceback" not in wrong.stderr


def test_help_is_quick_to_import() -> None:
    code = (
        "import sys, odefinder.cli.app; sys.exit(any(m in sys.modules for m in ('numba', 'scipy', 'sympy')))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
