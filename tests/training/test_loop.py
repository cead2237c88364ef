"""The training loop: it learns, stops when asked, and goes on exactly where it stopped."""

import json
import os
import signal
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from odefinder.data.roles import KNOWN, UNSEEN
from odefinder.errors import CheckpointError, SettingsError
from odefinder.network import checkpoint
from odefinder.network.export import export
from odefinder.network.files import WITH_ROLES
from odefinder.network.model import ROLE_FEATURES
from odefinder.training import loop
from odefinder.training.loop import Run
from odefinder.training.progress import Report
from odefinder.training.settings import TrainingSettings, training_preset
from tests.networks import small_network

TINY = replace(training_preset("tiny"), batch_tokens=2_000)


def begin(folder: Path, settings: TrainingSettings = TINY, *, resume: bool = False) -> Run:
    return Run(folder, settings, resume=resume, device="cpu")


@pytest.fixture
def every_step(monkeypatch: pytest.MonkeyPatch) -> None:
    """A report after every step."""
    monkeypatch.setattr(loop, "LOG_EVERY", -1.0)


def test_sixty_steps_lower_the_loss(tmp_path: Path, every_step: None) -> None:
    reports: list[Report] = []
    run = begin(tmp_path)
    run.train(steps=60, report=reports.append)
    losses = [news.loss for news in reports]
    assert losses[0] > 4.5
    assert sum(losses[-5:]) / 5 < 0.65 * losses[0]
    assert [news.progress.step for news in reports] == list(range(1, 61))
    assert reports[-1].progress.examples == run.progress.examples >= 60 * 8
    assert all(0.0 <= news.waiting <= 1.0 and news.examples_per_second > 0 for news in reports)
    assert [news.share for news in reports] == [k / 60 for k in range(60)]
    rates = [news.rate for news in reports]
    assert max(rates) == TINY.learning_rate == rates[30]
    assert rates[-1] < 0.06 * TINY.learning_rate
    log = [json.loads(line) for line in (tmp_path / "log.jsonl").read_text().splitlines()]
    assert [entry["loss"] for entry in log] == losses
    assert log[-1]["progress"]["step"] == 60


def test_a_fixed_batch_is_learned(tmp_path: Path) -> None:
    run = begin(tmp_path)
    with run._stream() as stream:
        batch = next(stream)
    losses = [run._step(batch, 3e-3).item() for _ in range(25)]
    assert losses[-1] < 0.6 * losses[0]


@pytest.mark.parametrize("network", ["tiny", "tiny tokens"])
def test_resuming_is_exact(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, network: str) -> None:
    from odefinder.network import presets

    tokens = replace(presets.PRESETS["tiny"], embedder="tokens", token_width=8)
    monkeypatch.setitem(presets.PRESETS, "tiny tokens", tokens)
    settings = replace(TINY, network=network)
    whole = begin(tmp_path / "whole", settings)
    whole.train(steps=6)
    begin(tmp_path / "parts", settings).train(steps=3, plan=6)
    rest = begin(tmp_path / "parts", settings, resume=True)
    assert rest.progress.step == 3
    rest.train(steps=3, plan=6)
    assert replace(rest.progress, minutes=0.0) == replace(whole.progress, minutes=0.0)
    assert rest.stream_state.to_dict() == whole.stream_state.to_dict()
    expected, _ = checkpoint.read(whole.path)
    found, _ = checkpoint.read(rest.path)
    assert expected.keys() == found.keys()
    assert all(torch.equal(tensor, found[name]) for name, tensor in expected.items())


def test_the_checkpoint_says_what_it_is(tmp_path: Path) -> None:
    run = begin(tmp_path)
    run.train(steps=1)
    _, head = checkpoint.read(run.path)
    assert head["kind"] == "checkpoint"
    assert head["training"]["seed"] == TINY.seed
    assert head["progress"]["step"] == 1
    network = checkpoint.load_network(run.path)
    plain = run.plain_network()
    assert not network.training
    assert not plain.training
    assert plain is not run.network
    for copy in (network, plain):
        assert all(map(torch.equal, copy.state_dict().values(), run.network.state_dict().values()))


def test_a_run_is_not_overwritten(tmp_path: Path) -> None:
    begin(tmp_path).train(steps=1)
    before = (tmp_path / "checkpoint.safetensors").read_bytes()
    with pytest.raises(SettingsError, match="holds a run already; give --resume"):
        begin(tmp_path)
    with pytest.raises(CheckpointError, match=r"other settings \(seed was 1, now 2\)"):
        begin(tmp_path, replace(TINY, seed=2), resume=True)
    with pytest.raises(CheckpointError, match="points was"):
        begin(tmp_path, replace(TINY, points=(40,)), resume=True)
    assert (tmp_path / "checkpoint.safetensors").read_bytes() == before
    begin(tmp_path, replace(TINY, learning_rate=1e-4, threads=2), resume=True)  # these may change


def test_a_folder_with_weights_only_or_a_damaged_checkpoint(tmp_path: Path) -> None:
    run = begin(tmp_path)
    checkpoint.save_weights(run.path, run.network)
    with pytest.raises(CheckpointError, match="holds weights but no run"):
        begin(tmp_path, resume=True)
    run.path.write_bytes(run.path.read_bytes()[:-10])
    with pytest.raises(CheckpointError, match="damaged"):
        begin(tmp_path, resume=True)


def test_resuming_in_an_empty_folder_begins(tmp_path: Path) -> None:
    assert begin(tmp_path / "new", resume=True).progress.step == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_run_with_its_checkpoint_saved(
    tmp_path: Path, every_step: None, number: signal.Signals
) -> None:
    handlers = [signal.getsignal(n) for n in (signal.SIGINT, signal.SIGTERM)]

    def ask(news: Report) -> None:
        if news.progress.step == 2:
            os.kill(os.getpid(), number)

    run = begin(tmp_path)
    run.train(steps=1000, report=ask)
    assert run.progress.step == 3
    assert begin(tmp_path, resume=True).progress == run.progress
    assert [signal.getsignal(n) for n in (signal.SIGINT, signal.SIGTERM)] == handlers


def test_the_second_ctrl_c_ends_it_at_once(tmp_path: Path, every_step: None) -> None:
    def insist(news: Report) -> None:
        os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGINT)

    handler = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        begin(tmp_path).train(steps=1000, report=insist)
    assert signal.getsignal(signal.SIGINT) == handler


def test_checkpoints_on_the_way(tmp_path: Path, every_step: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loop, "SAVE_EVERY", -1.0)
    saved: list[int] = []

    def look(news: Report) -> None:  # the checkpoint of the step before is there
        if news.progress.step > 1:
            saved.append(checkpoint.read(tmp_path / "checkpoint.safetensors")[1]["progress"]["step"])

    begin(tmp_path).train(steps=4, report=look)
    assert saved == [1, 2, 3]


def test_a_lost_run_does_not_replace_its_checkpoint(tmp_path: Path, every_step: None) -> None:
    run = begin(tmp_path)
    run.train(steps=2)
    before = run.path.read_bytes()
    run.network.head.weight.data[0, 0] = torch.nan
    with pytest.raises(SettingsError, match=r"no longer finite at step 3.*lower learning rate"):
        run.train(steps=2)
    assert run.path.read_bytes() == before


def test_minutes(tmp_path: Path) -> None:
    run = begin(tmp_path)
    run.train(minutes=0.02)
    assert 0.02 <= run.progress.minutes < 1.0
    first = run.progress.step
    run.train(minutes=0.001)
    assert run.progress.step > first


def test_what_cannot_be_trained(tmp_path: Path) -> None:
    run = begin(tmp_path / "run")
    for wrong in ({}, {"minutes": 1.0, "steps": 2}):
        with pytest.raises(SettingsError, match="either minutes or steps"):
            run.train(**wrong)
    for wrong in ({"minutes": 0.0}, {"steps": 0}, {"steps": -3}):
        with pytest.raises(SettingsError, match="more than 0"):
            run.train(**wrong)
    run.train(steps=2)
    with pytest.raises(SettingsError, match="the plan of 2 is used up"):
        run.train(steps=2, plan=2)


def test_targets_longer_than_the_network_can_write(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="at most 128 tokens, the targets have up to 200"):
        begin(tmp_path, replace(TINY, lengths=(64, 200)))


def test_a_device_that_is_not_there(tmp_path: Path) -> None:
    for device in ("cuda:77", "abacus"):
        with pytest.raises(SettingsError, match=f"cannot use the device '{device}'"):
            Run(tmp_path, TINY, resume=False, device=device)


def test_a_portable_checkpoint_is_small_and_goes_on(tmp_path: Path) -> None:
    run = begin(tmp_path / "here")
    run.train(steps=3)
    there = tmp_path / "there" / "checkpoint.safetensors"
    run.save_portable(there)
    assert there.stat().st_size < 0.3 * run.path.stat().st_size
    other = begin(there.parent, resume=True)
    assert other.progress == run.progress
    assert other.stream_state.to_dict() == run.stream_state.to_dict()
    for before, after in zip(run.network.parameters(), other.network.parameters(), strict=True):
        torch.testing.assert_close(before, after, rtol=1e-3, atol=1e-6)
    other.train(steps=1)


def test_snapshots(tmp_path: Path, every_step: None) -> None:
    run = begin(tmp_path)
    run.train(steps=2, snapshots=1e-9)
    first, last = sorted((tmp_path / "snapshots").iterdir())
    assert int(last.stem) == run.progress.examples > int(first.stem)
    assert checkpoint.read(last)[1]["progress"]["step"] == 2
    assert checkpoint.load_network(last).settings == run.network.settings
    with pytest.raises(SettingsError, match="more than 0"):
        run.train(steps=1, snapshots=0.0)


def test_compiling_leaves_no_trace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loop, "can_be_recorded", lambda network: False)  # that needs a GPU
    run = begin(tmp_path)
    before = {name: tensor.clone() for name, tensor in run.network.state_dict().items()}
    run.compiled = True  # the layers themselves are not compiled here: that needs a GPU's compiler
    run._prepare_shapes()
    assert all(torch.equal(tensor, before[name]) for name, tensor in run.network.state_dict().items())


def test_a_run_may_begin_with_weights(tmp_path: Path) -> None:
    first = begin(tmp_path / "first")
    first.train(steps=2)
    weights = tmp_path / "weights.safetensors"
    checkpoint.save_weights(weights, first.plain_network(), int8=False)
    second = Run(tmp_path / "second", TINY, resume=False, device="cpu", weights=weights)
    assert second.progress.step == 0
    expected = checkpoint.load_network(weights).state_dict()
    assert all(torch.equal(tensor, expected[name]) for name, tensor in second.network.state_dict().items())
    with pytest.raises(SettingsError, match="does not hold the network of the preset 'default'"):
        Run(tmp_path / "third", training_preset("default"), resume=False, device="cpu", weights=weights)
    with pytest.raises(SettingsError, match="give one of them"):
        Run(tmp_path / "second", TINY, resume=True, device="cpu", weights=weights)
    with pytest.raises(CheckpointError, match="there is no file"):
        Run(tmp_path / "third", TINY, resume=False, device="cpu", weights=tmp_path / "none.safetensors")


def test_weights_and_runs_from_before_roles(tmp_path: Path) -> None:
    """Weights begin a new run; a run itself cannot go on, because its optimiser lacks the new features."""
    run = begin(tmp_path / "old")
    run.train(steps=1)
    tensors, head = checkpoint.read(run.path)
    for part in ("model", "average"):
        name = f"{part}.embedder.enter.weight"
        tensors[name] = tensors[name][:, :-ROLE_FEATURES]
    checkpoint.write(run.path, tensors, head | {"version": WITH_ROLES - 1})
    with pytest.raises(CheckpointError, match=r"does not know the roles of columns; begin .*--weights"):
        begin(tmp_path / "old", resume=True)
    new = Run(tmp_path / "new", TINY, resume=False, device="cpu", weights=run.path)
    assert not new.network.state_dict()["embedder.enter.weight"][:, -ROLE_FEATURES:].any()
    new.train(steps=1)
    begin(tmp_path / "new", resume=True).train(steps=1)


def test_a_step_learns_what_roles_mean(tmp_path: Path) -> None:
    run = begin(tmp_path)
    with run._stream() as stream:
        batch = next(stream)
    roles = np.zeros_like(batch.roles)
    roles[:, 0], roles[:, 1] = UNSEEN, KNOWN
    for codes, taught in ((roles * 0, False), (roles, True)):
        run.network.load_state_dict(small_network().state_dict())
        run._learn(replace(batch, roles=codes))
        gradient = run.network.get_parameter("embedder.enter.weight").grad
        assert gradient is not None
        assert gradient[:, -ROLE_FEATURES:].any() == taught


def test_a_slice_from_shipped_weights_to_the_next_weights(tmp_path: Path) -> None:
    """The whole way: int8 weights, a slice, its portable checkpoint, a resume elsewhere, int8 weights."""
    shipped, out = tmp_path / "shipped.safetensors", tmp_path / "next.safetensors"
    checkpoint.save_weights(shipped, small_network())
    settings = replace(TINY, learning_rate=1e-3, decay=0.7)
    first = Run(tmp_path / "slice", settings, resume=False, device="cpu", weights=shipped)
    assert first.optimizer.state() == {}  # fresh
    first.train(steps=2, plan=4, snapshots=1.0)
    first.save_portable(tmp_path / "portable.safetensors")
    assert len(list((tmp_path / "slice" / "snapshots").iterdir())) == 1
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "checkpoint.safetensors").write_bytes((tmp_path / "portable.safetensors").read_bytes())
    second = Run(elsewhere, settings, resume=True, device="cpu")
    assert second.progress == first.progress
    second.train(steps=2, plan=4)
    assert second.progress.step == 4
    export([second.path], out, tolerance=1.0)
    assert checkpoint.load_network(out).settings == small_network().settings


def test_rates_that_make_no_sense_are_refused() -> None:
    with pytest.raises(SettingsError, match="between 0 and 1"):
        replace(TINY, learning_rate=-1.0)
    with pytest.raises(SettingsError, match="shares of the plan"):
        replace(TINY, decay=2.0)
