"""Examples with roles: how often the network's samples hold the true equations.

An example of the prior says what each of its columns is, and so of which kind it is: *order 2* has velocities
that nobody measured (x' = v, which the decoder is given), *hidden* has other states that nobody measured,
*input* has known variables; some are of several kinds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from odefinder.bench.validation import decode_all
from odefinder.data.observations import Observations
from odefinder.data.roles import KNOWN, SEEN, UNSEEN, Role
from odefinder.expressions.form import Form
from odefinder.expressions.program import Program
from odefinder.inference.propose.decode import Decoding, Proposal, derivative_template
from odefinder.language.grammar import Forced
from odefinder.language.tokens import Vocabulary
from odefinder.network.runtime import Runtime
from odefinder.prior.examples import Example, Examples

PLAIN, ORDER_2, HIDDEN, INPUT = "plain", "order 2", "hidden", "input"


@dataclass(frozen=True)
class RoleCase:
    """An example as a fit would see it, and the truth."""

    kind: str
    data: Observations
    truth: Form
    forced: Forced  # the equations x' = v, by state


@dataclass(frozen=True)
class Recovery:
    """Whether the truth is among the samples."""

    case: RoleCase
    equations: bool  # every equation, though perhaps in different samples
    system: bool  # all of them in one sample


def role_case(example: Example, vocabulary: Vocabulary) -> RoleCase:
    """The case of one record."""
    n, d, nodes = int(example["n_points"]), int(example["dimension"]), int(example["n_nodes"])
    columns = d + int(example["n_known"])
    codes = example["roles"][:columns]
    truth = Form.of(Program(example["ops"][:nodes].copy(), example["values"][:nodes].copy()))
    velocities = _velocities(truth, np.flatnonzero(codes == UNSEEN).tolist(), vocabulary)
    roles = {SEEN: Role.OBSERVED, UNSEEN: Role.HIDDEN, KNOWN: Role.INPUT}
    named = [Role.VELOCITY if k in velocities.values() else roles[code] for k, code in enumerate(codes)]
    trajectory = example["trajectory"][:n]
    bounds = np.searchsorted(trajectory, np.arange(example["n_trajectories"] + 1)).astype(np.int64)
    values = np.where(codes == UNSEEN, np.nan, example["states"][:n, :columns])
    data = Observations(example["times"][:n].copy(), values[:, :d], bounds, tuple(named), known=values[:, d:])
    kinds = {ORDER_2: Role.VELOCITY, HIDDEN: Role.HIDDEN, INPUT: Role.INPUT}
    kind = " + ".join(kind for kind, role in kinds.items() if role in named) or PLAIN
    forced = {x: derivative_template(vocabulary, v) for x, v in velocities.items()}
    return RoleCase(kind, data, truth, forced)


def _velocities(truth: Form, unseen: list[int], vocabulary: Vocabulary) -> dict[int, int]:
    """The unseen states that are derivatives, by the state whose equation is x' = v."""
    written = [tuple(vocabulary.encode(part.program)[:-1].tolist()) for part in truth.components()]
    found = {derivative_template(vocabulary, v): v for v in unseen}
    return {x: found[ids] for x, ids in enumerate(written) if ids in found and found[ids] != x}


def with_noise(examples: Examples, sigma: float, seed: int = 0) -> Examples:
    """Clean examples with multiplicative noise on what is seen, in canonical units again."""
    result = examples.copy()
    rng = np.random.default_rng(seed)
    for example in result:
        for column in np.flatnonzero(example["roles"][: example["dimension"]] == SEEN):
            x = example["states"][: example["n_points"], column]
            x *= 1.0 + sigma * rng.normal(size=len(x))
            x /= np.nanmax(np.abs(x)) or 1.0
    return result


def recoveries(
    runtime: Runtime, cases: Sequence[RoleCase], how: Decoding, *, batch: int = 0
) -> list[Recovery]:
    """What the samples of every case hold."""
    data, forced = [case.data for case in cases], [case.forced for case in cases]
    proposals = decode_all(runtime, data, how, forced=forced, batch=batch)
    return [_recovery(case, own) for case, own in zip(cases, proposals, strict=True)]


def _recovery(case: RoleCase, proposals: Sequence[Proposal]) -> Recovery:
    systems = [[part.key for part in proposal.form.components()] for proposal in proposals]
    truth = [part.key for part in case.truth.components()]
    equations = all(key in {system[k] for system in systems} for k, key in enumerate(truth))
    return Recovery(case, equations, truth in systems)


def share(found: Sequence[bool]) -> tuple[float, float]:
    """Percentage and its standard error."""
    p = float(np.mean(found))
    return 100.0 * p, 100.0 * float(np.sqrt(p * (1.0 - p) / len(found)))
