"""A script for Julia with DifferentialEquations.jl."""

from __future__ import annotations

from odefinder.output.export.language import Language, Script, listed, script
from odefinder.output.export.problem import Problem

WORDS = """
abstract baremodule begin break catch const continue do else elseif end export false finally for function
global if import in isa let local macro module mutable outer primitive public quote return struct true try
type using where while nothing sin cos tan exp log sqrt abs tanh pi im Inf NaN range length searchsortedlast
t state dstate parameters derivative! start span times problem solution solve doses stops interpolated
values ODEProblem CallbackSet PresetTimeCallback integrator right share Main Base Core
"""
JULIA = Language(reserved=frozenset(WORDS.split()))

INTERPOLATED = """\
function interpolated(t, times, values)
    t <= times[1] && return values[1]
    t >= times[end] && return values[end]
    right = searchsortedlast(times, t) + 1
    share = (t - times[right - 1]) / (times[right] - times[right - 1])
    return values[right - 1] + share * (values[right] - values[right - 1])
end
"""


def julia(problem: Problem) -> str:
    """The script; a logarithm or root of a negative number is an error in Julia."""
    problem = problem.started()
    words, stops = script(problem, JULIA), problem.stops()
    lines = [*words.header(), "", "using DifferentialEquations", ""]
    lines += ["parameters = (", *(f"    {one.name} = {one.value!r}," for one in words.known()), ")", ""]
    for one in words.inputs:
        for name, values in ((one.table, one.points.times), (one.values, one.points.values)):
            lines += listed(f"const {name} = [", values, "]")
    if words.inputs:
        lines += ["", INTERPOLATED]
    lines += _derivative(words)
    lines += [
        "",
        *listed("start = [", problem.start, "]"),
        f"span = ({problem.begin!r}, {problem.end!r})",
        "times = range(span[1], span[2]; length = 201)",
        "problem = ODEProblem(derivative!, start, span, parameters)",
    ]
    extra = ""
    if stops:
        lines += listed("stops = [", stops, "]")
        extra += ", tstops = stops"
    if problem.doses:
        lines += ["doses = CallbackSet("]
        for dose in problem.doses:
            place = problem.variables.index(str(dose.state)) + 1
            change = f"integrator -> (integrator.u[{place}] += {dose.amount!r})"
            lines.append(f"    PresetTimeCallback([{dose.time!r}], {change}),")
        lines.append(")")
        extra += ", callback = doses"
    lines.append(f"solution = solve(problem; reltol = 1e-8, abstol = 1e-10, saveat = times{extra})")
    return "\n".join([*lines, ""])


def _derivative(words: Script) -> list[str]:
    lines = ["function derivative!(dstate, state, parameters, t)"]
    if words.known():
        lines += listed("(; ", [one.name for one in words.known()], ") = parameters", "    ")
    lines += [f"    {name} = state[{place}]" for place, name in enumerate(words.variables, start=1)]
    lines += [f"    {one.name} = interpolated(t, {one.table}, {one.values})" for one in words.inputs]
    for place, formula in enumerate(words.formulas, start=1):
        lines.append(words.wrapped(f"    dstate[{place}] = {formula}"))
    return [*lines, "    return nothing", "end"]
