"""A function file for MATLAB and Octave, with ode45."""

from __future__ import annotations

from odefinder.output.export.language import Language, Script, listed, script
from odefinder.output.export.problem import Problem

WORDS = """
break case catch classdef continue else elseif end for function global if otherwise parfor persistent return
spmd switch try while do until unwind_protect unwind_protect_cleanup end_try_catch endif endfor endwhile
endfunction endswitch end_unwind_protect properties methods events enumeration arguments sin cos tan exp
reallog realsqrt realpow abs tanh Inf NaN eps pi i j ans nargin nargout t state dstate derivative
odefinder_system times states start options now stop stops last inside grid place part doses zeros numel
linspace interp1 unique find sum min max ode45 odeset
"""
MATLAB = Language(
    reserved=frozenset(WORDS.split()),
    comment="%",
    any_power="realpow({0}, {1})",  # x^0.5 would be complex where x is negative
    functions={"log": "reallog", "sqrt": "realsqrt"},
    continued=" ...",
)

PLAIN = """\
[~, states] = ode45(@derivative, times, start, options);"""
PIECEWISE = """\
states = zeros(numel(times), numel(start));
states(1, :) = start;
state = start(:);
now = times(1);
for stop = [stops(stops > times(1) & stops < times(end)), times(end)]
    last = stop - eps(stop);  % what happens at the stop comes after it
    inside = find(times > now & times <= stop);
    [grid, ~, place] = unique([now; (now + stop)/2; stop; times(inside)]);
    [~, part] = ode45(@(t, state) derivative(min(t, last), state), grid, state, options);
    states(inside, :) = part(place(4:end), :);
    state = part(end, :)' + sum(doses(doses(:, 1) == stop, 2:end), 1)';
    now = stop;
end"""


def matlab(problem: Problem) -> str:
    """The file; it must be called odefinder_system.m."""
    problem = problem.started()
    words, stops = script(problem, MATLAB), problem.stops()
    lines = [
        "function [times, states] = odefinder_system(times, start)",
        *words.header(),
        "% Save it as odefinder_system.m.  states has a row for each time, a column for each of",
        *(f"% {line}" for line in listed("", words.variables, "")),
        "% Without times and start, those below are taken.",
        "if nargin < 1",
        f"    times = linspace({problem.begin!r}, {problem.end!r}, 201);",
        "end",
        "if nargin < 2",
        *listed("start = [", problem.start, "];", "    ", " ..."),
        "end",
        "times = times(:);",
        "options = odeset('RelTol', 1e-8, 'AbsTol', 1e-10);",
    ]
    if stops:
        lines += listed("stops = [", stops, "];", continued=" ...")
        lines += _doses(problem)
    lines += [PIECEWISE if stops else PLAIN, "end", "", *_derivative(words), ""]
    return "\n".join(lines)


def _doses(problem: Problem) -> list[str]:
    """A row for each dose: its time, then what is added to every variable."""
    if not problem.doses:
        return [f"doses = zeros(0, {len(problem.variables) + 1});"]
    rows = []
    for dose in problem.doses:
        added = [dose.amount if name == dose.state else 0.0 for name in problem.variables]
        rows += listed("", [dose.time, *added], ";", "    ", " ...")
    return ["doses = [  % time, then what is added", *rows, "];"]


def _derivative(words: Script) -> list[str]:
    lines = ["function dstate = derivative(t, state)"]
    lines += [f"{one.name} = {one.value!r};" for one in words.known()]
    for one in words.inputs:
        for name, values in ((one.table, one.points.times), (one.values, one.points.values)):
            lines += listed(f"{name} = [", values, "];", continued=" ...")
        inside = f"min(max(t, {one.table}(1)), {one.table}(end))"
        lines.append(f"{one.name} = interp1({one.table}, {one.values}, {inside});")
    lines += [f"{name} = state({place});" for place, name in enumerate(words.variables, start=1)]
    lines.append(f"dstate = zeros({len(words.variables)}, 1);")
    for place, formula in enumerate(words.formulas, start=1):
        lines.append(words.wrapped(f"dstate({place}) = {formula};"))
    return [*lines, "end"]
