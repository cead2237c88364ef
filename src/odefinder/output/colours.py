"""The colours of trajectories: by the value of a condition, by trajectory, or by variable."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from odefinder.data.dataset import Dataset, Floats
from odefinder.output.style import COLOURS, INK

Colour = Callable[[int, int], Any]
MOST_VALUES = 5  # of a condition that a legend names


def colours_of(dataset: Dataset, one_is_ink: bool = False) -> Colour:
    """The colour of trajectory k and variable j."""
    from matplotlib import colormaps

    if len(dataset) == 1:
        return lambda k, j: INK if one_is_ink else COLOURS[j % len(COLOURS)]
    condition = shown_condition(dataset)
    if condition is not None:
        _, values = condition
        shares = (values - values.min()) / np.ptp(values)
        by_value = colormaps["viridis"](0.9 * shares)
        return lambda k, j: by_value[k]
    if len(dataset) <= len(COLOURS):
        return lambda k, j: COLOURS[k]
    shades = colormaps["viridis"](np.linspace(0.0, 0.9, len(dataset)))
    return lambda k, j: shades[k]


def shown_condition(dataset: Dataset) -> tuple[str, Floats] | None:
    """The first condition that differs between trajectories, and its values (trajectories,)."""
    if dataset.settings is None:
        return None
    for name, values in zip(dataset.conditions, dataset.settings.T, strict=True):
        if np.ptp(values) > 0.0:
            return name, values
    return None


def condition_entries(dataset: Dataset) -> list[tuple[str, Any]]:
    """What a legend says about colours: values of the condition, or the smallest and the largest."""
    condition = shown_condition(dataset)
    if condition is None or len(dataset) == 1:
        return []
    name, values = condition
    first = {float(value): k for k, value in reversed(list(enumerate(values)))}
    shown = sorted(first)
    if len(shown) > MOST_VALUES:
        shown = [shown[0], shown[-1]]
    colour = colours_of(dataset)
    return [(f"{name} = {value:.4g}", colour(first[value], 0)) for value in shown]
