"""Every example runs, and says what it should."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
EXAMPLES = ROOT / "examples"


def run(name: str, folder: Path) -> str:
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / name)], cwd=folder, capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, done.stderr
    assert not done.stderr
    return done.stdout


EXPECTED = {
    "custom_operators.py": ["Polynomials:", "From a guess", "velocity' = "],
    "driven_motor.py": ["inputs u", "never tried: ", "The drug: c' = -0.35*c", "after 12 h: [0.55]"],
    "errors_and_replicates.py": ["With a column of errors:", "Three measurements", "for a single one"],
    "exports.py": ["\\dot{x}", "def f(t, x):", "SciPy, at t = 30: "],
    "growth_conditions.py": ["conditions T", "never tried: 0.", "capacity: 9.0"],
    "hidden_predator.py": ["h1'", "h1 was not measured", "Twenty days on"],
    "known_equations.py": ["Pendulum: length 1.000", "theta'' = ", "Growth rates: 0.500, 0.900, 1.400"],
    "lynx_and_hare.py": ["21 points of hare, lynx", ">>>>", "Five years on from 1920"],
    "noisy_csv.py": ["8 of 160 values are missing", "truth:  ODESystem"],
    "own_system.py": ["noise 0%: S' = -0.9*S*I; I' = 0.9*S*I - 0.3*I", "noise 5%"],
    "pendulum_angle.py": ["Order 1: theta rises and falls", "theta'' = ", "R2 of another swing: "],
    "several_trajectories.py": ["150 points of x in 3 trajectories", "alone: "],
    "systems_and_prior.py": ["rabbits' = 1.1*rabbits - 0.4*rabbits*foxes", "\\mathrm{rabbits}'", "Family "],
    "unknown_force.py": ["x'' = ", "Largest error of the forecast", "A catalyst that fades: c' = "],
}


@pytest.mark.parametrize("name", EXPECTED)
def test_examples(name: str, tmp_path: Path):
    output = run(name, tmp_path)
    for text in EXPECTED[name]:
        assert text in output
    for figure in tmp_path.glob("*.png"):
        assert figure.read_bytes().startswith(b"\x89PNG")


def test_no_example_is_forgotten():
    assert [path.name for path in sorted(EXAMPLES.glob("*.py"))] == list(EXPECTED)
