"""A report: one HTML file with equations, figure, candidates, notes and data, which opens anywhere."""

from __future__ import annotations

import threading
from html import escape
from importlib.metadata import version
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from odefinder.errors import SettingsError
from odefinder.estimator import ODEFormer
from odefinder.numerics.knots import values_at
from odefinder.output.export import TARGETS
from odefinder.output.higher_order import equations_text
from odefinder.output.table import header, rows
from odefinder.web.models import explanation, exported, with_choice

KINDS = {"png": "image/png", "svg": "image/svg+xml", "pdf": "application/pdf"}
_drawing = threading.Lock()  # matplotlib draws one figure at a time

STYLE = Path(__file__).parent / "static" / "report.css"


def figure(model: ODEFormer, row: int, kind: str) -> bytes:
    """The summary figure of a candidate as a file."""
    if kind not in KINDS:
        raise SettingsError(f"figures are {', '.join(KINDS)}, not {kind}")
    chosen = with_choice(model, row)
    with _drawing:
        drawn: Any = chosen.plot()
        file = BytesIO()
        drawn.savefig(file, format=kind)
    return file.getvalue()


def report(model: ODEFormer, row: int) -> str:
    """The page; names from the data are escaped."""
    one = explanation(model, row)
    picture = figure(model, row, "svg").decode("utf-8")
    cells = rows(model.dataset_, model._fitted(), row, None)
    parts = [
        f"<h1>{escape(', '.join(one.system.variables))}: the equations behind the data</h1>",
        f"<p>{escape(str(model.dataset_))}. Written by odefinder {escape(version('odefinder'))}.</p>",
        f"<pre>{escape(equations_text(one.system, model.dataset_))}</pre>",
        picture[picture.index("<svg") :],
        "<h2>Notes</h2><ul>" + "".join(f"<li>{escape(note)}</li>" for note in model.notes_) + "</ul>",
        f"<h2>Constants and their errors</h2><pre>{escape(str(with_choice(model, row).summary()))}</pre>",
        "<h2>All candidates</h2>" + _table(header(model._fitted()), cells),
        "<h2>To go on with</h2>",
        *(_folded(one.title, exported(model, row, one.name)[0]) for one in TARGETS.values()),
        "<h2>The data</h2>" + _folded("All points", _data_csv(model)),
    ]
    style = STYLE.read_text(encoding="utf-8")
    head = f'<meta charset="utf-8"><title>odefinder report</title><style>{style}</style>'
    return f'<!doctype html><html lang="en"><head>{head}</head><body>{"".join(parts)}</body></html>\n'


def _folded(title: str, text: str) -> str:
    return f"<details><summary>{escape(title)}</summary><pre>{escape(text)}</pre></details>"


def _table(titles: list[str], cells: list[list[str]]) -> str:
    head = "".join(f"<th>{escape(name)}</th>" for name in titles[1:])
    lines = []
    for mark, *values, system in cells:
        plain = "".join(f"<td>{escape(value)}</td>" for value in values)
        lines.append(
            f'<tr{" class=chosen" if mark else ""}>{plain}<td class="system">{escape(system)}</td></tr>'
        )
    return f"<table><tr>{head}</tr>{''.join(lines)}</table>"


def _data_csv(model: ODEFormer) -> str:
    """What was observed, and what was known then."""
    import pandas as pd

    data, frames = model.dataset_, []
    for number, (label, (times, states)) in enumerate(zip(data.labels, data.trajectories(), strict=True)):
        known = values_at(data.driving(number), times)[:, : len(data.inputs) + len(data.conditions)]
        columns = [*data.variables, *data.inputs, *data.conditions]
        frame = pd.DataFrame(np.column_stack([states, known]), columns=columns)
        frame.insert(0, data.clock.name, times, allow_duplicates=True)
        frame.insert(0, "trajectory", label, allow_duplicates=True)
        frames.append(frame)
    return str(pd.concat(frames).to_csv(index=False))
