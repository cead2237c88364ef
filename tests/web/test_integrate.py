"""The simulation on the page (integrate.js), run by Node and compared with ours."""

import json
import shutil
import subprocess
from typing import Any

import numpy as np
import pytest

from odefinder import ODESystem
from odefinder.numerics.signals import Signals, held, linear
from odefinder.simulation.trajectory import Task, trajectory
from odefinder.web.server import STATIC

NODE = shutil.which("node")
needs_node = pytest.mark.skipif(NODE is None, reason="there is no Node to run JavaScript with")
GALLERY = {  # equations, start, end, inputs
    "decay": ("x' = -0.7*x", [3.0], 9.0),
    "hares": ("x' = 0.5*x - 0.02*x*y; y' = 0.03*x*y - 0.9*y", [30.0, 4.0], 20.0),
    "van der Pol": ("x' = y; y' = 3*(1 - x^2)*y - x", [2.0, 0.0], 20.0),
    "Lorenz": ("x' = 10*(y - x); y' = x*(28 - z) - y; z' = x*y - 8/3*z", [1.0, 1.0, 1.0], 4.0),
    "every function": (
        "x' = sin(x)*cos(y) + tanh(x)/(1 + x^2) - tan(y/9); y' = exp(-abs(x)) - sqrt(1 + y^4) + log(2 + y)",
        [0.3, -0.2],
        3.0,
    ),
    "powers": ("x' = 1 - abs(x)^1.5 + 0.1*x^3 - 0.01*x^5", [0.1], 10.0),
}


def on_the_page(problem: dict[str, Any]) -> dict[str, Any]:
    """What integrate.js makes of it."""
    module = (STATIC / "js" / "integrate.js").as_uri()
    script = f"""
        import {{ Signals, evaluator, integrate }} from "{module}";
        let text = "";
        for await (const part of process.stdin) text += part;
        const {{ program, start, times, driving, factors, time, sizes }} = JSON.parse(text);
        const signals = new Signals(driving, factors, time);
        console.log(JSON.stringify(integrate(evaluator(program), start, times, signals, sizes)));
    """
    assert NODE is not None
    done = subprocess.run(
        [NODE, "--input-type=module", "-e", script],
        input=json.dumps(problem), capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def problem(system: ODESystem, start: Any, times: Any, signals: Signals, sizes: Any, time: int = -1) -> Any:
    driving = {name: getattr(signals, name).tolist() for name in ("knots", "before", "after", "doses")}
    program = {"ops": system.program.ops.tolist(), "values": system.program.values.tolist()}
    columns = signals.before.shape[1]
    return {
        "program": program, "start": list(start), "times": list(times), "driving": driving,
        "factors": [1.0] * (columns + 1), "time": time, "sizes": list(sizes),
    }  # fmt: skip


def compared(system: ODESystem, start: Any, times: Any, signals: Signals, time: int = -1) -> None:
    ours = trajectory(Task(system.program, np.array(start), times, signals, 1e-9, 100_000), None).states
    sizes = np.abs(ours).max(axis=0)
    found = on_the_page(problem(system, start, times, signals, sizes, time))
    assert found["status"] == "ok"
    theirs = np.array(found["states"], dtype=np.float64).T
    assert np.abs((theirs - ours) / sizes).max() < 1e-4


@needs_node
@pytest.mark.parametrize("name", GALLERY)
def test_it_agrees_with_ours(name: str) -> None:
    text, start, end = GALLERY[name]
    nothing = Signals(np.empty(0), np.empty((0, 0)), np.empty((0, 0)), np.empty((0, 0)))
    compared(ODESystem.from_text(text), start, np.linspace(0.0, end, 300), nothing)


@needs_node
def test_inputs_jumps_doses_and_time() -> None:
    times = np.linspace(0.0, 10.0, 250)
    knots = np.linspace(0.0, 10.0, 21)
    one = ODESystem.from_text("x' = u - x", inputs=["u"])
    compared(one, [0.0], times, linear(knots, np.sin(knots)[:, None]))
    compared(one, [0.0], times, held(knots[::4], np.array([[1.0], [0.0], [3.0], [-1.0], [2.0], [0.0]])))
    doses = held([0.0, 2.5, 6.0], np.zeros((3, 1)))._replace(doses=np.array([[1.0], [2.0], [0.5]]))
    compared(one, [0.5], times, doses)
    ends = np.array([0.0, 10.0])
    moving = ODESystem.from_text("x' = sin(t) - x", inputs=["t"])
    compared(moving, [0.0], times, linear(ends, ends[:, None]), time=0)


@needs_node
def test_what_runs_away_and_what_is_stiff() -> None:
    nothing = Signals(np.empty(0), np.empty((0, 0)), np.empty((0, 0)), np.empty((0, 0)))
    times = np.linspace(0.0, 100.0, 101)
    away = on_the_page(problem(ODESystem.from_text("x' = x"), [1.0], times, nothing, [1.0]))
    assert away["status"] == "ran away"
    assert away["states"][0][5] == pytest.approx(np.exp(5.0), rel=1e-5)
    assert away["states"][0][-1] is None
    stiff = ODESystem.from_text("x' = -100000*(x - cos(t))", inputs=["t"])
    moving = linear(np.array([0.0, 100.0]), np.array([[0.0], [100.0]]))
    hard = on_the_page(problem(stiff, [0.0], times, moving, [1.0], time=0))
    assert hard["status"] == "too hard"
