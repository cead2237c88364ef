"""All systems of ODEBench and of the Strogatz set: docs/odebench.md and docs/images/odebench.png.

    python benchmarks/figures/odebench_page.py

The page is written from the data of the package; the figure shows every system from both initial values.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from odefinder.bench import BenchSystem, odebench, strogatz
from odefinder.output.style import COLOURS

DOCS = Path(__file__).parents[2] / "docs"
PAGE, FIGURE = DOCS / "odebench.md", DOCS / "images" / "odebench.png"
COLUMNS = 7
T = np.linspace(0.0, 10.0, 800)
BOOK = "Strogatz, Nonlinear Dynamics and Chaos (2000)"

HEAD = """# ODEBench and the Strogatz set

The systems with known equations that `odefinder bench` compares methods on. This page is written by
`python benchmarks/figures/odebench_page.py` from the data in `src/odefinder/bench/`.

```python
import numpy as np
from odefinder.bench import odebench, strogatz

system = odebench()[27]  # number 28, the pendulum
system.system()  # its equations as an ODESystem
system.trajectories(np.linspace(0, 10, 150))  # from both initial values, with a relative tolerance of 1e-10
```

`odefinder bench export DIR --set odebench --sigma 0,0.05 --rho 0,0.5` writes the trajectories as CSV files.

ODEBench (the paper's appendix) has 63 systems with 1 to 4 variables and two initial values each, seen at 150
times from 0 to 10. Four of them are chaotic. A fit of the trajectory from one initial value has to predict
the one from the other (generalization). The older Strogatz set has seven systems with two variables, four
initial values each and 100 times; each initial value generalizes to the next one.

![All 63 systems of ODEBench, from both initial values](images/odebench.png)
"""


def page(systems: Sequence[BenchSystem], older: Sequence[BenchSystem]) -> str:
    """The text of the page."""
    parts = [HEAD]
    for dimension in sorted({system.dimension for system in systems}):
        chosen = [system for system in systems if system.dimension == dimension]
        title = "One variable" if dimension == 1 else f"{('Two', 'Three', 'Four')[dimension - 2]} variables"
        parts.append(f"## {title}: {len(chosen)} systems\n\n{table(chosen)}")
    parts.append(
        f"Source unless stated otherwise: {BOOK}. Constants and initial values are those of the paper."
    )
    parts.append(f"## The Strogatz set\n\n{table(older)}")
    parts.append("Constants and initial values are those of the ODE-Strogatz benchmark.")
    return "\n\n".join(part.rstrip("\n") for part in parts) + "\n"


def table(systems: Sequence[BenchSystem]) -> str:
    """One row per system."""
    lines = ["| | system | equations | constants | initial values |", "|---|---|---|---|---|"]
    for system in systems:
        name = f"**{system.name}**" + (", chaotic" if system.chaotic else "")
        meaning = "; ".join(f"{symbol}: {what}" for symbol, what in system.variables.items())
        source = "" if system.source.startswith(BOOK) else f"<br>Source: {system.source}"
        equations = "<br>".join(
            f"`{symbol}' = {text.replace('**', '^')}`"
            for symbol, text in zip(system.variables, system.equations, strict=True)
        )
        constants = "<br>".join(f"{symbol} = {value:.6g}" for symbol, value in system.parameters.items())
        starts = "<br>".join(
            "(" + ", ".join(f"{value:g}" for value in start) + ")" for start in system.initial_values
        )
        lines.append(f"| {system.id} | {name}<br>{meaning}{source} | {equations} | {constants} | {starts} |")
    return "\n".join(lines)


def draw(systems: Sequence[BenchSystem]) -> Any:
    """One panel per system: variables over time, from both initial values."""
    rows = -(-len(systems) // COLUMNS)
    figure, grid = plt.subplots(rows, COLUMNS, figsize=(14, 1.75 * rows + 0.6), layout="constrained")
    for ax, system in zip(grid.flat, systems, strict=True):
        panel(ax, system)
    for ax in grid[-1]:
        ax.set_xticks([0, 5, 10], ["0", "5", "t = 10"])
    lines = [Line2D([], [], color=COLOURS[j], linewidth=1.6) for j in range(4)]
    styles = [Line2D([], [], color="0.3", linewidth=1.6, linestyle=style) for style in ("-", "--")]
    names = ["x0", "x1", "x2", "x3", "first initial value", "second initial value"]
    figure.legend(
        [*lines, *styles],
        names,
        loc="outside upper center",
        ncols=6,
        frameon=False,
        fontsize=11,
        handlelength=2.6,
    )
    return figure


def panel(ax: Any, system: BenchSystem) -> None:
    """One system."""
    for path, style in zip(system.trajectories(T), ("-", "--"), strict=True):
        for j in range(system.dimension):
            ax.plot(T, path[:, j], style, color=COLOURS[j], linewidth=1.0, dash_capstyle="butt")
    name = textwrap.fill(f"{system.id}  {system.name}", 27, break_on_hyphens=False)
    ax.set_title(name, fontsize=8.5, loc="left", pad=3, linespacing=1.1)
    ax.set_xlim(0.0, 10.0)
    ax.set_xticks([0, 5, 10], [])
    ax.yaxis.set_major_locator(MaxNLocator(3))
    ax.tick_params(labelsize=7, length=2, pad=1.5, colors="0.35")
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    for side in ("bottom", "left"):
        ax.spines[side].set(color="0.6", linewidth=0.6)


def main() -> None:
    systems = odebench()
    PAGE.write_text(page(systems, strogatz()), encoding="utf-8")
    FIGURE.parent.mkdir(parents=True, exist_ok=True)
    draw(systems).savefig(FIGURE, dpi=110, pil_kwargs={"optimize": True})
    print(f"{PAGE.name}, {FIGURE.name}: {FIGURE.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
