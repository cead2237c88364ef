"""Examples with roles: of which kind they are, and when the truth counts as found."""

import numpy as np
import pytest

from odefinder.bench import roles
from odefinder.bench.roles import ORDER_2, PLAIN, recoveries, role_case, share, with_noise
from odefinder.data.roles import KNOWN, SEEN, UNSEEN, Role
from odefinder.expressions.form import Form
from odefinder.expressions.program import concatenate
from odefinder.inference.propose.decode import Decoding, Proposal
from odefinder.language.tokens import Vocabulary
from odefinder.network.torch_runtime import TorchRuntime
from odefinder.prior.examples import EXAMPLE, Examples
from tests.networks import small_network
from tests.programs import words

COARSE = Vocabulary.preset("coarse")
OSCILLATOR = ["x1", "mul -0.5 x0"]


def record(equations: list[str], codes: list[int]) -> Examples:
    """An example with these equations whose columns are waves."""
    example = np.zeros(1, EXAMPLE)
    program = Form.of(concatenate([words(equation) for equation in equations])).program
    ids, t = COARSE.encode(program), np.linspace(1.0, 10.0, 40)
    example["dimension"], example["n_known"] = len(equations), len(codes) - len(equations)
    example["n_trajectories"], example["n_points"] = 1, 40
    example["n_nodes"], example["n_tokens"] = len(program), len(ids)
    example["times"][0, :40] = t
    example["states"][0, :40, : len(codes)] = np.cos(t[:, None] + np.arange(len(codes)))
    example["roles"][0, : len(codes)] = codes
    example["ops"][0, : len(program)], example["values"][0, : len(program)] = program.ops, program.values
    example["tokens"][0, : len(ids)] = ids
    return example


EXAMPLES = {
    PLAIN: record(OSCILLATOR, [SEEN, SEEN]),
    ORDER_2: record(OSCILLATOR, [SEEN, UNSEEN]),
    "hidden": record(["mul -0.3 x1", "mul 2.5 x0"], [SEEN, UNSEEN]),
    "input": record(["add x0 mul 0.5 x1"], [SEEN, KNOWN]),
    "order 2 + input": record([OSCILLATOR[0], "add mul -0.5 x0 x2"], [SEEN, UNSEEN, KNOWN]),
}


@pytest.mark.parametrize("kind", EXAMPLES)
def test_the_kind_of_an_example(kind: str) -> None:
    case = role_case(EXAMPLES[kind][0], COARSE)
    assert case.kind == kind
    assert {x: COARSE.words(ids) for x, ids in case.forced.items()} == (
        {0: ["mul", "1", "x1"]} if ORDER_2 in kind else {}
    )
    unseen = [role in (Role.VELOCITY, Role.HIDDEN) for role in case.data.roles[: case.data.dimension]]
    np.testing.assert_array_equal(np.isnan(case.data.states).all(axis=0), unseen)
    assert case.data.known is not None
    assert case.data.known.shape == (40, int("input" in kind))


def test_conditions_and_time_are_known_by_their_values() -> None:
    for values, kind in ((np.full(40, 0.7), "condition"), (np.linspace(0.1, 1.0, 40), "time")):
        example = EXAMPLES["order 2 + input"].copy()
        example["states"][0, :40, 2] = values
        assert role_case(example[0], COARSE).kind == f"order 2 + {kind}"
    two = record(["add x1 mul x2 x0"], [SEEN, KNOWN, KNOWN])
    assert role_case(two[0], COARSE).kind == "inputs"


def test_noise_is_on_what_is_seen_and_units_stay_canonical() -> None:
    clean = EXAMPLES["order 2 + input"]
    noisy = with_noise(clean, 0.02)
    x, y = (examples["states"][0, :40] for examples in (clean, noisy))
    assert np.abs(y[:, 0]).max() == 1.0
    ratio = y[:, 0] / x[:, 0]
    assert 0.01 < ratio.std() / ratio.mean() < 0.04
    np.testing.assert_array_equal(y[:, 2], x[:, 2])


def system(*equations: str) -> Proposal:
    return Proposal(Form.of(concatenate([words(equation) for equation in equations])), -1.0, 1)


def test_equations_may_come_from_different_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    case = role_case(EXAMPLES["hidden"][0], COARSE)
    samples = {
        (False, False): [system("mul 3 x1", "sin x0"), system("x0", "x1")],
        (True, False): [system("mul 3 x1", "sin x0"), system("x0", "mul 7 x0")],
        (True, True): [system("x0", "x1"), system("mul 3 x1", "mul -2 x0")],
    }
    for expected, proposals in samples.items():
        monkeypatch.setattr(roles, "decode_all", lambda *_, proposals=proposals, **__: [proposals])
        (found,) = recoveries(None, [case], Decoding())  # type: ignore[arg-type]
        assert (found.equations, found.system) == expected


@pytest.mark.parametrize("batch", [1, 3])
def test_all_kinds_are_decoded_together(batch: int) -> None:
    runtime = TorchRuntime(small_network(), device="cpu")
    cases = [role_case(example[0], COARSE) for example in EXAMPLES.values()]
    found = recoveries(runtime, cases, Decoding(samples=4), batch=batch)
    assert [one.case.kind for one in found] == list(EXAMPLES)
    assert all(one.equations or not one.system for one in found)


def test_shares_have_standard_errors() -> None:
    assert share([True, False, True, True]) == pytest.approx((75.0, 21.65), abs=0.01)
    assert share([True] * 5) == (100.0, 0.0)
