"""How far to trust a candidate: its constants with errors, and bands around its curves."""

from __future__ import annotations

from typing import Any

import numpy as np

from odefinder.errors import SettingsError
from odefinder.estimator import ODEFormer
from odefinder.output.higher_order import equations_text
from odefinder.web.advice import on_the_page
from odefinder.web.models import FARTHEST, with_choice
from odefinder.web.plain import drawn, number, numbers


def trust_of(model: ODEFormer, row: int) -> dict[str, Any]:
    """The equations with named constants, these with errors and intervals, and what the residuals say."""
    chosen = with_choice(model, row)
    summary = chosen.summary()
    return {
        "latex": chosen.latex(errors=True),
        "text": equations_text(summary.explicit, chosen.dataset_, labels=summary.labels),
        "level": summary.level,
        "constants": [
            {
                "name": one.name,
                "equation": one.equation,
                "value": one.shown,
                "error": number(one.error),
                "low": number(one.shown_interval[0]),
                "high": number(one.shown_interval[1]),
                "rounded": one.rounded,
                "determined": one.determined,
                "fixed": one.fixed,
                "tied": one.tied,
                "trajectory": one.trajectory,
            }
            for one in summary.constants
            if not one.given or one.fixed
        ],
        "remarks": [on_the_page(one) for one in summary.remarks],
    }


def bands_of(model: ODEFormer, row: int, until: Any = 1.0) -> list[dict[str, Any]]:
    """The bands around the first trajectories, for `until` durations of the data."""
    try:
        share = float(until)
    except ValueError:
        share = np.nan
    if not 1.0 <= share <= FARTHEST:
        raise SettingsError(f"a forecast may last up to {FARTHEST:g} times as long as the data")
    chosen = with_choice(model, row)
    longest = max(float(times[-1] - times[0]) for times in chosen.dataset_.times)
    return [
        {
            "times": numbers(one.times),
            "low": [drawn(column) for column in one.lower.T],
            "high": [drawn(column) for column in one.upper.T],
            "level": one.level,
        }
        for one in chosen.observed_bands((share - 1.0) * longest or None)
    ]
