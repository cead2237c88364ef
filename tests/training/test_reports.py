"""What is shown and kept of a run."""

import io
import sys
from pathlib import Path

import pytest
from rich.console import Console

from odefinder.training.progress import Progress, Report
from odefinder.training.reports import ProgressLine, Scalars


def news(step: int, minutes: float, loss: float = 2.5) -> Report:
    return Report(Progress(step, 100 * step, minutes), 0.5, loss, 1e-3, 8123.4, 0.0123)


def test_the_line_says_speed_loss_and_time_left() -> None:
    line = ProgressLine(Progress(1000, 100_000, 10.0), minutes=20.0)
    assert line.line(news(2000, 15.0)) == (
        " 25%  step 2,000  200,000 examples  loss 2.500  8,123 examples/s  waiting 1.2%  15.0 min left"
    )
    by_steps = ProgressLine(Progress(), steps=400)
    assert by_steps.line(news(100, 2.0)).endswith("6.0 min left")
    assert by_steps.line(news(400, 8.0)).startswith("100%")


@pytest.mark.parametrize("terminal", [True, False])
def test_on_a_terminal_and_in_a_file(terminal: bool) -> None:
    out = io.StringIO()
    console = Console(file=out, force_terminal=terminal, width=200)
    with ProgressLine(Progress(), steps=4, console=console) as line:
        for step in range(1, 5):
            line(news(step, float(step), loss=10.0 - step))
    text = out.getvalue()
    # A terminal's line is rewritten; a file gets the first and the last, and one every half minute.
    assert [f"loss {10 - k}.000" in text for k in range(1, 5)] == (
        [True] * 4 if terminal else [True, False, False, True]
    )


def test_tensorboard_scalars(tmp_path: Path) -> None:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    with Scalars(tmp_path) as scalars:
        scalars(news(1, 0.5, loss=4.0))
        scalars(news(2, 1.0, loss=3.0))
    events = EventAccumulator(str(tmp_path / "tensorboard")).Reload()
    assert [(event.step, event.value) for event in events.Scalars("loss")] == [(100, 4.0), (200, 3.0)]
    assert "learning rate" in events.Tags()["scalars"]


def test_no_tensorboard_is_no_problem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", None)
    with Scalars(tmp_path) as scalars:
        scalars(news(1, 0.5))
    assert not list(tmp_path.iterdir())
