"""The settings of the prior: `paper`, as in its section 3, and `default`, the shipped choice."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from odefinder.errors import SettingsError
from odefinder.prior import trees
from odefinder.prior.casting import KIND_NAMES
from odefinder.prior.families import FAMILY_NAMES
from odefinder.prior.laboratory import Laboratory
from odefinder.prior.trees import TreeSettings


class Prior(NamedTuple):
    """A distribution over examples.  Shares and `drop_*` are probabilities."""

    tree: TreeSettings
    family_weights: NDArray[np.float64]  # (families,)
    dimension_weights: NDArray[np.float64]  # (6,) of accepted examples: fixed before anything is rejected
    trajectory_weights: NDArray[np.float64]  # (4,) for one to four trajectories
    ties: float  # systems of the families in which some constants are made equal, or 1
    siblings: int  # examples of each system, from other starts and under other conditions
    role_weights: NDArray[np.float64]  # (kinds,): who sees what, and what drives it (`casting.KINDS`)
    order_families: NDArray[np.float64]  # (families,): of second-order systems; others are made into such
    # integration
    points_min: int
    points_max: int
    varied_starts: bool  # initial values and horizons to suit the family; else N(0, 1) and t in [1, 10]
    rtol: float
    atol: float
    max_steps: int
    bound: float
    # filters
    still: float  # oscillation over the last quarter below which a trajectory counts as stationary
    still_relative: bool
    drop_stationary: float
    drop_constant: float
    drop_undersampled: float
    drop_disconnected: float
    drop_monotone: float  # no variable turns; only from two variables on: a single one can do nothing else
    drop_quiet: float  # some variable turns, but none oscillates; likewise
    fit_horizon: bool  # a trajectory that settles early is drawn again over a shorter time
    # corruption
    clean_share: float  # examples without noise; the others have sigma uniform in [0, 0.1], or a laboratory
    in_laboratory: bool  # noise as laboratories have it; else multiplicative noise, as in the paper
    laboratory: Laboratory
    few_points: float  # examples with few points, where their number is drawn; laboratories only
    dense_share: float  # examples without dropped points; the others have rho uniform in [0, 0.5]
    # target
    canonical_units: bool
    canonical_target: bool


def _family_weights(**by_name: float) -> NDArray[np.float64]:
    return np.array([by_name.get(name, 0.0) for name in FAMILY_NAMES])


def _role_weights(**by_name: float) -> NDArray[np.float64]:
    return np.array([by_name.get(name.replace(" ", "_"), 0.0) for name in KIND_NAMES])


ALL_PLAIN = _role_weights(plain=1.0)
SECOND_ORDER = _family_weights(mechanics=1.6, lagrangian=1.0, plane=0.7, circuits=0.3)

LABORATORY = Laboratory(
    noise_weights=np.array([0.28, 0.47, 0.2, 0.05]),  # multiplicative, additive, both, none
    own_levels=0.3,
    rounded=0.2,
    outliers=0.1,
    gaps=0.2,
    stretches=0.08,
)

# The step budget stands in for the paper's limit of one second, so that data do not depend on the machine.
PAPER = Prior(
    tree=trees.PAPER,
    family_weights=_family_weights(trees=1.0),
    dimension_weights=np.ones(6),
    trajectory_weights=np.array([1.0, 0.0, 0.0, 0.0]),
    ties=0.0,
    siblings=1,
    role_weights=ALL_PLAIN,
    order_families=SECOND_ORDER,
    points_min=50,
    points_max=200,
    varied_starts=False,
    rtol=1e-3,
    atol=1e-6,
    max_steps=1000,
    bound=100.0,
    still=1e-3,
    still_relative=False,
    drop_stationary=0.9,
    drop_constant=0.0,
    drop_undersampled=0.0,
    drop_disconnected=0.0,
    drop_monotone=0.0,
    drop_quiet=0.0,
    fit_horizon=False,
    clean_share=0.0,
    in_laboratory=False,
    laboratory=LABORATORY,
    few_points=0.0,
    dense_share=0.0,
    canonical_units=False,
    canonical_target=False,
)

# The default of version 0.1: the benchmark's synthetic systems are drawn from it.
PLAIN = Prior(
    tree=trees.DEFAULT,
    family_weights=_family_weights(
        trees=3.0, reactions=1.3, interactions=1.2, mechanics=1.5, potentials=0.8, linear=1.0, regulation=1.1,
        growth=1.3, neural=0.8, phases=0.5, polynomials=1.0, quadratic=1.2, fluxes=1.3, waves=0.7,
    ),
    dimension_weights=np.array([1.0, 1.6, 1.4, 0.7, 0.4, 0.3]),
    trajectory_weights=np.array([0.7, 0.15, 0.05, 0.1]),
    ties=0.0,
    siblings=4,
    role_weights=ALL_PLAIN,
    order_families=SECOND_ORDER,
    points_min=50,
    points_max=200,
    varied_starts=True,
    rtol=1e-5,
    atol=1e-8,
    max_steps=2000,
    bound=1e3,
    still=1e-3,
    still_relative=True,
    drop_stationary=0.9,
    drop_constant=0.97,
    drop_undersampled=0.95,
    drop_disconnected=0.75,
    drop_monotone=0.9,
    drop_quiet=0.6,
    fit_horizon=True,
    clean_share=0.2,
    in_laboratory=False,
    laboratory=LABORATORY,
    few_points=0.0,
    dense_share=0.2,
    canonical_units=True,
    canonical_target=True,
)  # fmt: skip

DEFAULT = PLAIN._replace(
    family_weights=_family_weights(
        trees=1.6, reactions=1.0, interactions=1.1, mechanics=1.3, potentials=0.6, linear=0.8, regulation=0.9,
        growth=1.0, neural=0.7, phases=0.3, polynomials=0.9, quadratic=1.1, fluxes=0.9, waves=0.5,
        processes=1.7, compartments=0.8, balances=1.3, units=1.2, rotators=0.6, plane=1.0, lagrangian=0.8,
        circuits=0.7, control=0.7, gates=0.7,
    ),
    ties=0.25,
    role_weights=_role_weights(
        plain=0.54, order=0.13, hidden=0.08, input=0.1, order_and_input=0.06, hidden_and_input=0.015,
        condition=0.04, order_and_condition=0.01, time=0.02, order_and_time=0.005,
    ),
    points_min=8,
    drop_monotone=0.94,
    drop_quiet=0.72,
    in_laboratory=True,
    few_points=0.3,
)  # fmt: skip

PRESETS = {"paper": PAPER, "plain": PLAIN, "default": DEFAULT}


def prior_preset(name: str) -> Prior:
    """A prior by name."""
    if name not in PRESETS:
        raise SettingsError(f"there is no preset {name!r}; choose one of {', '.join(PRESETS)}")
    return PRESETS[name]
