"""What to do next, in the words of the page: where a sentence names an option of the command line."""

from __future__ import annotations

import re
from typing import Any

from odefinder.data.advice import LEAVE_OUT, SEPARATE
from odefinder.estimator import ODEFormer
from odefinder.inference.remarks import GOOD_R2

# What Python and the command line call something, and what it is on the page.
PHRASES = {
    LEAVE_OUT: "choose “leave out” over the column",
    SEPARATE: "choose “trajectory” over the column that tells them apart, or give a file for each",
    "Say which one it is: time='NAME' (command line: --time NAME), or in Python give the times as the second "
    "argument": "Choose “time” over the one that it is",
    "choose another column: time='NAME' (command line: --time NAME)": "choose “time” over another column",
    "give it as an input (inputs=, --input)": "choose “known input” over its column",
    "(time_budget, --budget)": "(“Seconds it may take”)",
    "(--order 2, --hidden 1)": "(“Order”, “Variables nobody measured”)",
    "; all must have the same": "; all files must have the same. For a table of inputs, drop the data alone "
    "and add it below the columns",
}
# Likewise, with names in it; all are short.
_CONDITION = r"conditions=\['[^'\n]{0,200}'\]"
PATTERNS = {
    r"say (time|trajectory)='[^'\n]{0,200}' \(command line: --\1\)": r"choose “\1” over it",
    _CONDITION + r" \(command line: --condition [^()\n]{0,200}\)": "“condition” over the column",
    _CONDITION: "“condition” over the column",
    r"inputs=\['[^'\n]{0,200}'\]": "choose “known input” over the column",
}
USUAL, LONGER = 10.0, 6.0  # seconds of a fit, and how many times as many may help


def on_the_page(sentence: str) -> str:
    """The sentence with what to do on the page in place of options of Python and of the command line."""
    for phrase, words in PHRASES.items():
        sentence = sentence.replace(phrase, words)
    for pattern, words in PATTERNS.items():
        sentence = re.sub(pattern, words, sentence)
    return sentence


def suggestions(model: ODEFormer) -> list[dict[str, Any]]:
    """Options that may help where a result is poor: what a button says, and what it sets."""
    notes = " ".join(model.notes_)
    poor = not model._fitted()[0].explained >= GOOD_R2
    others: list[dict[str, Any]] = []
    if model.known is not None and poor:
        others.append({"words": "Fit without the known equations", "options": {"known": ""}})
    elif "--order 2" in notes or (poor and model.order == 1):
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
