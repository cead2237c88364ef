"""A Stan program that fits the constants of the system that was found, and its start values."""

from __future__ import annotations

import json

from odefinder.errors import SettingsError
from odefinder.output.export.language import Language, Script, listed, script
from odefinder.output.export.problem import Problem

WORDS = """
T for in while repeat until if then else true false target functions model data parameters quantities
transformed generated profile int real complex vector simplex unit_vector sum_to_zero_vector ordered
positive_ordered row_vector matrix cholesky_factor_corr column_stochastic_matrix row_stochastic_matrix
cholesky_factor_cov corr_matrix cov_matrix array void return break continue print reject fatal_error lower
upper offset multiplier struct typedef export auto extern var static tuple jacobian alignas alignof and
and_eq asm bitand bitor bool case catch char char16_t char32_t class compl const constexpr const_cast
decltype default delete do double dynamic_cast enum explicit float friend goto inline long mutable namespace
new noexcept not not_eq nullptr operator or or_eq private protected public register reinterpret_cast short
signed sizeof static_assert static_cast switch template this thread_local throw try typeid typename union
unsigned using virtual volatile wchar_t xor xor_eq STAN_MAJOR STAN_MINOR STAN_PATH sin cos tan exp log sqrt
abs tanh pow e pi ode_rk45 normal lognormal not_a_number positive_infinity size t state derivative
interpolated times values begin n observed start noise sizes states right i
"""
STAN = Language(
    reserved=frozenset(WORDS.split()),
    comment="//",
    undefined="not_a_number()",
    infinite="positive_infinity()",
)

INTERPOLATED = """\
  real interpolated(real t, data array[] real times, data array[] real values) {
    int right = 2;
    if (t <= times[1]) return values[1];
    if (t >= times[size(times)]) return values[size(times)];
    while (times[right] <= t) right += 1;
    return values[right - 1] + (t - times[right - 1]) / (times[right] - times[right - 1])
      * (values[right] - values[right - 1]);
  }"""


def stan(problem: Problem) -> str:
    """The program; the values that were found are the centres of priors, and proposed as initial values."""
    if problem.doses:
        raise SettingsError(
            "Stan's solvers do not support doses, so this cannot be exported to stan; sbml, julia, r, "
            "matlab, modelica and python have them"
        )
    words = script(problem, STAN)
    size = len(words.variables)
    tables = [name for one in words.inputs for name in (one.table, one.values)]
    arguments = ["derivative", "start", "begin", "times", *(one.name for one in words.known()), *tables]
    lines = [
        *map(_ascii, words.header()),
        "// Initial values, to be saved as JSON:",
        *_initial(problem, words),
        "functions {",
        *([INTERPOLATED] if words.inputs else []),
        *_derivative(words),
        "}",
        "data {",
        "  int<lower=1> n;",
        "  array[n] real times;  // increasing, all after begin",
        f"  array[n] vector[{size}] observed;",
        "}",
        "transformed data {",
        f"  real begin = {problem.begin!r};  // the time of the start values",
        *listed(f"vector[{size}] sizes = [", _sizes(problem), "]';", "  "),
        *(f"  real {one.name} = {one.value!r};" for one in words.conditions),
        *_tables(words),
        "}",
        "parameters {",
        *(f"  real<lower=0> {one.name};" for one in words.constants),
        f"  vector[{size}] start;",
        f"  vector<lower=0>[{size}] noise;",
        "}",
        "model {",
        *listed(f"array[n] vector[{size}] states = ode_rk45(", arguments, ");", "  "),
        *(f"  {one.name} ~ lognormal(log({one.value!r}), 0.5);" for one in words.constants),
        *listed("start ~ normal([", problem.start, "]', sizes);", "  "),
        "  noise ~ normal(0, sizes);",
        "  for (i in 1:n) observed[i] ~ normal(states[i], noise);",
        "}",
        "",
    ]
    return "\n".join(lines)


def _derivative(words: Script) -> list[str]:
    arguments = ["real t", "vector state", *(f"real {one.name}" for one in words.known())]
    arguments += [f"data array[] real {name}" for one in words.inputs for name in (one.table, one.values)]
    lines = listed("vector derivative(", arguments, ") {", "  ")
    lines += [f"    real {name} = state[{place}];" for place, name in enumerate(words.variables, start=1)]
    lines += [f"    real {one.name} = interpolated(t, {one.table}, {one.values});" for one in words.inputs]
    lines.append("    return [")
    formulas = [words.wrapped(f"      {formula}") for formula in words.formulas]
    return [*lines, ",\n".join(formulas), "    ]';", "  }"]


def _tables(words: Script) -> list[str]:
    lines = list[str]()
    for one in words.inputs:
        for name, values in ((one.table, one.points.times), (one.values, one.points.values)):
            lines += listed(f"array[{len(values)}] real {name} = {{", values, "};", "  ")
    return lines


def _initial(problem: Problem, words: Script) -> list[str]:
    values: dict[str, object] = {one.name: one.value for one in words.constants}
    values |= {"start": problem.start, "noise": [0.1 * size for size in _sizes(problem)]}
    return [f"// {line}" for line in listed("", json.dumps(values).split(", "), "")]


def _sizes(problem: Problem) -> list[float]:
    """How large the variables are, as far as that is known."""
    return [abs(value) or 1.0 for value in problem.start]


def _ascii(line: str) -> str:
    """Older versions of Stan read ASCII only, even in comments."""
    return line.encode("ascii", "backslashreplace").decode()
