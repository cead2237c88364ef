"""Examples with roles: how often the network's samples hold the true equations.

An example of the prior says what each of its columns is, and so of which kind it is: *order 2* has velocities
that nobody measured (x' = v, which the decoder is given), *hidden* has other states that nobody measured;
known variables are *inputs*, *conditions* (constant in each trajectory) or the *time*.  Some are of several
kinds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from odefinder.bench.validation import decode_all
from odefinder.data.observations import Floats, Ints, Observations
from odefinder.data.roles import SEEN, UNSEEN, Role
from odefinder.expressions.form import Form
from odefinder.expressions.program import Program
from odefinder.inference.propose.decode import Decoding, Proposal, derivative_template
from odefinder.language.grammar import Forced
from odefinder.language.tokens import Vocabulary
from odefinder.network.runtime import Runtime
from odefinder.prior.examples import Example, Examples

PLAIN, ORDER_2, INPUTS = "plain", "order 2", "inputs"
STRAIGHT = 1e-9  # how far the correlation of a known variable with time may be from 1 if it is the time


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
    trajectory = example["trajectory"][:n]
    bounds = np.searchsorted(trajectory, np.arange(example["n_trajectories"] + 1)).astype(np.int64)
    times = example["times"][:n].copy()
    values = np.where(codes == UNSEEN, np.nan, example["states"][:n, :columns])
    roles = [Role.OBSERVED if code == SEEN else Role.HIDDEN for code in codes[:d]]
    for v in velocities.values():
        roles[v] = Role.VELOCITY
    roles += [_known_role(times, signal, bounds) for signal in values.T[d:]]
    data = Observations(times, values[:, :d], bounds, tuple(roles), known=values[:, d:])
    forced = {x: derivative_template(vocabulary, v) for x, v in velocities.items()}
    return RoleCase(_kind(roles), data, truth, forced)


def _known_role(times: Floats, signal: Floats, bounds: Ints) -> Role:
    """What a known variable is, to judge by its values."""
    if all(np.ptp(signal[a:b]) == 0.0 for a, b in pairwise(bounds)):
        return Role.CONDITION
    straight = np.ptp(signal) > 0.0 and np.corrcoef(times, signal)[0, 1] > 1.0 - STRAIGHT
    return Role.TIME if straight else Role.INPUT


def _kind(roles: Sequence[Role]) -> str:
    """The name of a kind, such as "order 2 + input"."""
    names = {Role.VELOCITY: ORDER_2, Role.INPUT: INPUTS if roles.count(Role.INPUT) > 1 else "input"}
    special = sorted({role for role in roles if role != Role.OBSERVED}, key=list(Role).index)
    return " + ".join(names.get(role, role.value) for role in special) or PLAIN


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
