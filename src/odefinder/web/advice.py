"""What to do next, in the words of the page: where a sentence names an option of the command line."""

from __future__ import annotations

import re
from typing import Any

from odefinder.estimator import ODEFormer
from odefinder.inference.remarks import GOOD_R2

ROLES = {  # options of the command line, and what they are over a column
    "time": "time",
    "trajectory": "trajectory",
    "variables": "leave out",
    "condition": "condition",
    "input": "known input",
}
USUAL, LONGER = 10.0, 6.0  # seconds of a fit, and how many times as many may help


def on_the_page(sentence: str) -> str:
    """The sentence with a role to choose in place of an option of the command line."""
    return re.sub(r"\(command line: --([a-z]+)[^()]{0,300}\)", _role, sentence)


def _role(found: re.Match[str]) -> str:
    role = ROLES.get(found[1])
    return found[0] if role is None else f"(on this page: choose “{role}” over the column)"


def suggestions(model: ODEFormer) -> list[dict[str, Any]]:
    """Options that may help where a result is poor: what a button says, and what it sets."""
    notes = " ".join(model.notes_)
    poor = not model._fitted()[0].explained >= GOOD_R2
    others = []
    if "--order 2" in notes or (poor and model.order == 1):
        others.append({"words": "Fit with order 2 (accelerations)", "options": {"order": "2"}})
    if "--hidden 1" in notes or (poor and not model.hidden):
        others.append({"words": "Fit with a variable nobody measured", "options": {"hidden": 1}})
    if poor and not model.explicit_time:
        others.append({"words": "Allow the time in the equations", "options": {"explicit_time": True}})
    seconds = LONGER * (model.time_budget or USUAL)
    longer = {"words": f"Give it {seconds:g} seconds", "options": {"time_budget": seconds}}
    if model.early_:
        return [longer, *others]
    return [*others, longer] if poor else others
