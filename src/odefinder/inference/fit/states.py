"""The states behind the observations: noise level, smooth trajectories, and a grid to integrate along them.

Clean data are interpolated by a spline of high order, because smoothing would wash out fast changes; noisy
data are smoothed.  Predicting points from their neighbours tells the two apart: with rising order of the
polynomial, the errors of a clean signal keep falling, while those of noise stay.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from odefinder.data.observations import Floats, Ints, Observations
from odefinder.expressions.program import Program
from odefinder.inference.fit.interpolation import Known, error_by_order, interpolate
from odefinder.inference.fit.noise_shape import relative_variances
from odefinder.inference.fit.smoothing import Smoother
from odefinder.limits.alarm import alarm_rings
from odefinder.numerics.evaluate import evaluate
from odefinder.numerics.integrate import Status, integrate
from odefinder.numerics.knots import values_at

CLEAN_LEVEL = 3e-4  # prediction errors, relative to the signal, so small that smoothing could not help
PLATEAU = 0.4  # from middle to high orders, the errors of noise do not fall to less than this share
UNDERSAMPLED = 0.05  # with less noise found by smoothing, relative to the error of prediction, there is none
FEW_ORDERS = 4  # with fewer, nothing can be said about noise, and the data count as clean
SMOOTHING_ORDER = 3
# Standard deviations: where the curve misses the first value by more, it cuts off a fast beginning.  Chosen
# on textbook and synthetic systems (`benchmarks/noise.py`).
DOUBT = 2.0
NODES = 450  # of the quadrature over all trajectories, roughly
MIN_NODES_EACH, MAX_NODES_EACH = 3, 8  # per interval between neighbouring times


@dataclass(frozen=True)
class StateEstimate:
    """States along the observed trajectories, and a quadrature along them."""

    smoothed: bool  # else interpolated: the observations are taken as exact
    noise: Floats  # (D,): standard deviation of the observations; if interpolated, the error of prediction
    relative: Floats  # (N, D): the variance of each observation, relative to its mean over the variable
    error: Floats  # (D,): root mean square error to be expected of the states
    states: Floats  # (N, D) at the observed times
    derivatives: Floats  # (N, D)
    starts: Floats  # (trajectories, D): smoothed, or observed where that is more trustworthy
    start_errors: Floats  # (trajectories, D): their standard deviations; 0 where they are exact
    known: Floats  # (N, K): the variables that have no equations, at the observed times
    nodes: Floats  # (M, D + K): all variables at the nodes of the quadrature
    node_times: Floats  # (M,)
    weights: Floats  # (M,)
    times: Floats  # (N,): the observed times
    ends: Ints  # (N,): the nodes before each observed time are those below this index
    bounds: Ints  # (trajectories + 1,) of the observed times

    @property
    def variables(self) -> Floats:
        """What equations may read, at the observed times: (N, D + K)."""
        return np.hstack([self.states, self.known]) if self.known.shape[1] else self.states

    def left(self, data: Observations) -> float:
        """The mean squared scaled residual that the true system leaves, except for errors of integration."""
        if not self.smoothed:
            return 0.0
        seen = np.isfinite(data.states).sum(axis=0)  # never seen, never scored
        return float((self.noise / data.scale) ** 2 @ seen / max(seen.sum(), 1))

    def integrals(self, values: Floats) -> Floats:
        """Integrals of functions given at the nodes, from the trajectory's start to each observed time.

        (M, ...) -> (N, ...)
        """
        weights = self.weights.reshape(-1, *[1] * (values.ndim - 1))
        total = np.concatenate([np.zeros((1, *values.shape[1:])), np.cumsum(weights * values, axis=0)])
        result = total[self.ends]
        for first, last in pairwise(self.bounds):
            result[first:last] -= result[first]
        return result

    def repeated_integrals(self, values: Floats, depth: int) -> Floats:
        """Of a function given at the nodes (M,), integrated up to three times, at the observed times (N,)."""
        moments = [self.integrals(values * self.node_times**power) for power in range(depth)]
        return integrated_again(moments, self.times)


def integrated_again(moments: Sequence[Floats], times: Floats) -> Floats:
    """A function integrated as often as there are moments, up to three; times (N,).

    moments (..., N): integrals up to each time of the function times 1, the time, and its square.
    """
    if len(moments) == 1:
        return moments[0]
    if len(moments) == 2:
        return times * moments[0] - moments[1]
    return 0.5 * (times * times * moments[0] - 2.0 * times * moments[1] + moments[2])


def estimate_states(data: Observations, *, smoothed: bool | None = None) -> StateEstimate:
    """States and noise level from the data alone.  smoothed: None to smooth what looks noisy.

    An alarm makes the estimate of the remaining variables rougher: they are interpolated.
    """
    variables = [_observed(data, d) for d in range(data.dimension)]
    windows: Known = {}
    errors = [error_by_order(times, values, windows) for times, values in variables]
    suspected = _is_noisy(errors, data.scale) if smoothed is None else smoothed
    smoothers = _smoothers(variables, errors) if suspected else []
    if smoothed is None:
        # Undersampled signals look like noise too; but then the smoother finds hardly any in some variable.
        smoothed = suspected and not any(
            smoother is not None and smoother.noise < UNDERSAMPLED * by_order.min()
            for smoother, by_order in zip(smoothers, errors, strict=True)
        )
    node_times, weights, ends = _quadrature(data)
    states, derivatives = np.empty(data.states.shape), np.empty(data.states.shape)
    nodes, slopes = np.empty((len(node_times), data.variables)), np.empty((len(node_times), data.dimension))
    noise, error = np.zeros(data.dimension), np.zeros(data.dimension)
    relative = np.ones(data.states.shape)
    start_errors = np.zeros((len(data), data.dimension))
    for d, (times, values) in enumerate(variables):
        best = int(np.argmin(errors[d])) if len(errors[d]) else 0
        noise[d] = error[d] = errors[d][best] if len(errors[d]) else 0.0
        degree = min(best // 2 * 2 + 3, _highest_degree(noise[d] / data.scale[d]))
        smoother = smoothers[d] if smoothed else None
        if smoother is not None:  # it may take what is fast for noise, and so may the neighbours
            noise[d] = min(smoother.noise, noise[d])
        spreads = []
        for k in range(len(times)):
            rows = slice(data.bounds[k], data.bounds[k + 1])
            places = slice(ends[rows][0], ends[rows][-1])
            if smoother is None:
                curve = interpolate(times[k], values[k], degree)
                states[rows, d], derivatives[rows, d] = curve(data.times[rows]), curve.slope(data.times[rows])
                nodes[places, d] = curve(node_times[places])
                slopes[places, d] = curve.slope(node_times[places])
            else:
                together = np.concatenate([data.times[rows], node_times[places]])
                value, slope, spread = smoother.at(k, together)
                count = len(data.times[rows])
                states[rows, d], derivatives[rows, d] = value[:count], slope[:count]
                nodes[places, d], slopes[places, d] = value[count:], slope[count:]
                spreads.append(spread[:count])
                start_errors[k, d] = spread[0]
        if spreads:
            error[d] = math.sqrt(np.mean(np.concatenate(spreads) ** 2))
            seen = np.isfinite(data.states[:, d])
            curves = [states[a:b, d][seen[a:b]] for a, b in data.spans()]
            shape = relative_variances(times, values, curves, float(noise[d]), windows)
            relative[seen, d] = np.concatenate(shape)
    for d in np.flatnonzero(data.unseen).tolist():
        _take_derivative(data, d, ends, node_times, states, derivatives, nodes, slopes)
    nodes[:, data.dimension :] = _known_at(data, node_times, ends)
    starts = states[data.bounds[:-1]]
    if smoothed:
        first = data.states[data.bounds[:-1]]
        own = noise * np.sqrt(relative[data.bounds[:-1]])
        surer = np.isfinite(first) & ((own < start_errors) | (np.abs(first - starts) > DOUBT * own))
        starts, start_errors = np.where(surer, first, starts), np.where(surer, own, start_errors)
    return StateEstimate(
        smoothed, noise, relative, error, states, derivatives, starts, start_errors, _known(data), nodes,
        node_times, weights, data.times, ends, data.bounds,
    )  # fmt: skip


def _take_derivative(
    data: Observations, velocity: int, ends: Ints, node_times: Floats, states: Floats, derivatives: Floats,
    nodes: Floats, slopes: Floats,
) -> None:  # fmt: skip
    """A velocity is the slope of the curve of its position; what nobody knows anything about is 0."""
    position = data.derivative_of[velocity] if data.derivative_of else -1
    if position < 0:
        states[:, velocity] = derivatives[:, velocity] = nodes[:, velocity] = slopes[:, velocity] = 0.0
        return
    states[:, velocity], nodes[:, velocity] = derivatives[:, position], slopes[:, position]
    for first, last in data.spans():
        rows, places = slice(first, last), slice(ends[first], ends[last - 1])
        derivatives[rows, velocity] = np.gradient(states[rows, velocity], data.times[rows])
        slopes[places, velocity] = np.gradient(nodes[places, velocity], node_times[places])


def _known(data: Observations) -> Floats:
    return np.empty((len(data.times), 0)) if data.known is None else data.known


def _known_at(data: Observations, node_times: Floats, ends: Ints) -> Floats:
    """The variables that have no equations at the nodes, (M, K)."""
    result = np.empty((len(node_times), data.variables - data.dimension))
    for k, signals in enumerate(data.signals if result.shape[1] else ()):
        places = slice(ends[data.bounds[k]], ends[data.bounds[k + 1] - 1])
        result[places] = values_at(signals, node_times[places])
    return result


def states_of_model(
    program: Program, starts: Floats, data: Observations, before: StateEstimate
) -> StateEstimate | None:
    """A system's own trajectories as the state estimate; None if it cannot be integrated.

    For a second pass: the trajectories of a fair model are closer to the truth than any smoothing.
    """
    states, nodes = np.empty_like(before.states), before.nodes.copy()
    systems = data.whole_systems(program)
    for k in range(len(data)):
        rows = slice(data.bounds[k], data.bounds[k + 1])
        places = slice(before.ends[rows][0], before.ends[rows][-1])
        together = np.concatenate([data.times[rows], before.node_times[places]])
        order = np.argsort(together)
        path, status = integrate(
            systems[k],
            starts[k],
            together[order],
            signals=data.signals_of(k),
            rtol=1e-7,
            atol=1e-9,
            bound=1e3,
        )
        if status != Status.OK:
            return None
        unsorted = np.empty_like(path)
        unsorted[order] = path
        count = len(data.times[rows])
        states[rows], nodes[places, : data.dimension] = unsorted[:count], unsorted[count:]
    moved = replace(before, states=states, starts=starts, nodes=nodes)
    slopes = [
        evaluate(system, moved.variables[first:last])
        for system, (first, last) in zip(systems, data.spans(), strict=True)
    ]
    return replace(moved, derivatives=np.concatenate(slopes))


def _observed(data: Observations, variable: int) -> tuple[list[Floats], list[Floats]]:
    """Times and values of one variable in each trajectory, without the missing ones."""
    times, values = [], []
    for t, x in data.trajectories():
        seen = np.isfinite(x[:, variable])
        times.append(t[seen])
        values.append(x[seen, variable])
    return times, values


def _highest_degree(error: float) -> int:
    """Where neighbours predict badly, splines of high degree oscillate at the ends and in gaps."""
    return 9 if error < 1e-3 else (7 if error < 1e-2 else 5)


def _smoothers(
    variables: list[tuple[list[Floats], list[Floats]]], errors: list[Floats]
) -> list[Smoother | None]:
    """One for each variable; None if it has few points or does not change, or if there is no time."""
    return [
        Smoother(times, values, SMOOTHING_ORDER)
        if sum(map(len, times)) > 2 * SMOOTHING_ORDER
        and len(by_order)
        and by_order.min() > 0.0
        and not alarm_rings()
        else None
        for (times, values), by_order in zip(variables, errors, strict=True)
    ]


def _is_noisy(errors: list[Floats], scale: Floats) -> bool:
    """Whether the errors of prediction stop falling with the order, on average over the variables."""
    levels, ratios = [], []
    for by_order, spread in zip(errors, scale, strict=True):
        n = len(by_order)
        if n >= FEW_ORDERS and by_order.min() > 0.0:
            logs = np.log(by_order)
            levels.append(logs.min() - math.log(spread))
            ratios.append(logs[-2:].mean() - logs[n // 2 - 1 : n // 2 + 1].mean())
    if not levels:
        return False
    return float(np.mean(levels)) > math.log(CLEAN_LEVEL) and float(np.mean(ratios)) > math.log(PLATEAU)


def _quadrature(data: Observations) -> tuple[Floats, Floats, Ints]:
    """Times and weights of Gauss nodes between neighbouring times, and how many lie before each time."""
    each = int(np.clip(math.ceil(NODES / len(data.times)), MIN_NODES_EACH, MAX_NODES_EACH))
    places, shares = np.polynomial.legendre.leggauss(each)
    times, weights, ends = [], [], []
    count = 0
    for t, _ in data.trajectories():
        half = np.diff(t)[:, None] / 2.0
        times.append((t[:-1, None] + half * (1.0 + places)).ravel())
        weights.append((half * shares).ravel())
        ends.append(count + each * np.arange(len(t)))
        count += each * (len(t) - 1)
    return np.concatenate(times), np.concatenate(weights), np.concatenate(ends).astype(np.int64)
