"""Two processes under torchrun train one network, and go on as one or two."""

import os
import subprocess
import sys
from pathlib import Path

import torch

from odefinder.network import checkpoint
from odefinder.training.loop import Run
from odefinder.training.settings import training_preset


def train_in_two(folder: Path, steps: int) -> str:
    """`odefinder train` by torchrun with two processes on the CPU."""
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    command += ["-m", "odefinder", "train", "--preset", "tiny", "--device", "cpu", "--out", str(folder)]
    command += ["--steps", str(steps), "--plan", "4", "--resume"]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=300, env={**os.environ, "OMP_NUM_THREADS": "1"}
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_two_processes_learn_from_twice_as_much_and_resume_exactly(tmp_path: Path) -> None:
    output = train_in_two(tmp_path / "whole", 4)
    assert output.count("Trained") == 1  # one of them speaks
    whole, head = checkpoint.read(tmp_path / "whole" / "checkpoint.safetensors")
    assert head["progress"]["step"] == 4
    assert len(head["streams"]) == 2
    drawn = [set(indices) for entry in head["streams"] for indices in entry["waiting"].values()]
    assert not set.intersection(*drawn)

    train_in_two(tmp_path / "parts", 2)
    train_in_two(tmp_path / "parts", 2)
    parts, second = checkpoint.read(tmp_path / "parts" / "checkpoint.safetensors")
    assert second["streams"] == head["streams"]
    assert all(torch.equal(tensor, parts[name]) for name, tensor in whole.items())

    alone = Run(tmp_path / "parts", training_preset("tiny"), resume=True, device="cpu")
    assert alone.stream_state.next_chunk == 2 * max(entry["next_chunk"] for entry in head["streams"])
    alone.train(steps=1)
