"""A script for NumPy and SciPy that runs as it is and prints the trajectory as CSV."""

from __future__ import annotations

import keyword
from itertools import groupby

from odefinder.data.roles import TIME_NAME
from odefinder.output.export.language import Language, Script, listed, script
from odefinder.output.export.problem import Problem

FUNCTIONS = ("sin", "cos", "tan", "exp", "log", "sqrt", "abs", "tanh")
PYTHON = Language(
    reserved=frozenset(
        [
            *keyword.kwlist,
            *keyword.softkwlist,
            *("np", "solve_ivp", "derivative", "solve", "start", "times", "t", "state", "stops", "doses"),
            *("states", "now", "stop", "last", "inside", "found", "row", "print", "zip", "min", "len", "abs"),
            "RuntimeError",
        ]
    ),
    power="{0}**{1}",
    functions={name: f"np.{name}" for name in FUNCTIONS},
    undefined="np.nan",
    infinite="np.inf",
)

PLAIN = '''\
def solve(times, start):
    """The states at these times, a row each, from the start values at the first of them."""
    found = solve_ivp(
        derivative, (times[0], times[-1]), start, "LSODA", t_eval=times, rtol=1e-10, atol=1e-12
    )
    if not found.success:
        raise RuntimeError(found.message)
    return found.y.T
'''
PIECEWISE = '''\
def solve(times, start):
    """The states at these times, a row each, from the start values at the first of them.

    It begins again at every stop; a row at the time of a dose has the state before it.
    """
    states = np.empty((len(times), len(start)))
    states[0], state, now = start, start, times[0]
    for stop in [*stops[(stops > times[0]) & (stops < times[-1])], times[-1]]:
        state = state + doses.get(float(now), 0.0)
        last = np.nextafter(stop, now)  # what happens at the stop comes after it
        inside = (times > now) & (times <= stop)
        found = solve_ivp(
            lambda t, state: derivative(min(t, last), state),
            (now, stop),
            state,
            "LSODA",
            t_eval=np.union1d(times[inside], stop),
            rtol=1e-10,
            atol=1e-12,
        )
        if not found.success:
            raise RuntimeError(found.message)
        states[inside] = found.y.T[: inside.sum()]
        state, now = found.y[:, -1], stop
    return states
'''


def python(problem: Problem) -> str:
    """The script."""
    words = script(problem, PYTHON)
    stops = problem.stops()
    parts = [
        "\n".join([*words.header(), "", "import numpy as np", "from scipy.integrate import solve_ivp"]),
        "\n".join([*_numbers(words), *_start(problem, stops)]),
        "\n" + "\n".join(_derivative(problem, words)),
        "\n" + (PIECEWISE if stops or problem.doses else PLAIN),
        "\n".join(
            [
                'if __name__ == "__main__":',
                f'    print("{",".join(["t", *words.variables])}")',
                "    for now, row in zip(times, solve(times, start)):",
                '        print(now, *row, sep=",")',
                "",
            ]
        ),
    ]
    return "\n\n".join(parts)


def _numbers(words: Script) -> list[str]:
    lines = [f"{one.name} = {one.value!r}" for one in words.constants]
    lines += [f"{one.name} = {one.value!r}  # a known input that never changes" for one in words.conditions]
    for one in words.inputs:
        for name, values in ((one.table, one.points.times), (one.values, one.points.values)):
            lines += listed(f"{name} = np.array([", values, "])")
    return lines


def _start(problem: Problem, stops: tuple[float, ...]) -> list[str]:
    lines = listed("start = np.array([", problem.start, "])")
    lines.append(f"times = np.linspace({problem.begin!r}, {problem.end!r}, 201)")
    if stops or problem.doses:
        lines += [*listed("stops = np.array([", stops, "])"), "doses = {  # what is added, by time"]
        for time, doses in groupby(problem.doses, key=lambda dose: dose.time):
            row = [0.0] * len(problem.variables)
            for dose in doses:
                row[problem.variables.index(str(dose.state))] += dose.amount
            lines += listed(f"{time!r}: np.array([", row, "]),", "    ")
        lines.append("}")
    return lines


def _derivative(problem: Problem, words: Script) -> list[str]:
    names = ", ".join(words.variables)
    lines = ["def derivative(t, state):", f'    """The derivatives of {names}."""']
    lines.append(f"    {names} = state" if len(words.variables) > 1 else f"    ({names},) = state")
    if TIME_NAME in problem.inputs:
        lines.append("    t = np.float64(t)  # so that 1/t is infinite at 0")
    lines += [f"    {one.name} = np.interp(t, {one.table}, {one.values})" for one in words.inputs]
    lines.append("    return np.array([")
    for name, formula in zip(words.variables, words.formulas, strict=True):
        lines += [f"        # {name}'", words.wrapped(f"        {formula},")]
    return [*lines, "    ])"]
