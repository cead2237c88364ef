"""The folder of a run: `run.json` says what was asked for, `results.jsonl` has one line for each fit.

If a fit has several lines (because the method could not run at first), the last one counts.  Runs of the same
set on several machines, or with several versions, can be merged; `parts` then says what each of them was.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from odefinder.bench.protocol import Result, Status
from odefinder.edge.documents import MOST_BYTES, checked_document, parsed
from odefinder.edge.reading import read_bytes
from odefinder.edge.rules import Anything, Choice, Flag, ListOf, MapOf, Number, Object, OrNone, Text, Whole
from odefinder.edge.writing import make_folder, write_text
from odefinder.errors import DataError, SettingsError

FORMAT = 1
RUN, RESULTS = "run.json", "results.jsonl"
MACHINE = ("versions", "processors")
# What all fits of a folder share.  Methods, cells and systems may be added by a later command.
SHARED = ("format", "odefinder", "set", "systems_sha256", "noise", "seed", "time_limit", "memory_limit")
BEFORE = {"noise": "multiplicative"}  # what folders of earlier versions do not say

_NUMBER = Number("a finite number", -1.7e308, 1.7e308)
_COUNT = Whole("a whole number, 0 or more", 0, 2**62)
_VERSIONS = MapOf(Text(), sentence="an object of versions")
_KINDS = {
    "str": Text(most=1_000_000),
    "int": _COUNT,
    "float": _NUMBER,
    "float | None": OrNone(_NUMBER),
    "bool": Flag(),
    "int | None": OrNone(_COUNT),
}
RESULT_RULE = Object(
    {one.name: _KINDS[str(one.type)] for one in fields(Result)}
    | {"status": Choice([str(status) for status in Status])}
)
RUN_RULE = Object(
    {
        "set": Text(),
        "seed": Whole("a whole number", -(2**62), 2**128),
        "systems_sha256": Text(),
        "methods": MapOf(Anything(), sentence="an object of methods"),
    },
    {
        "time_limit": _NUMBER,
        "memory_limit": _NUMBER,
        "commands": ListOf(Text(), sentence="a list of commands"),
        "versions": _VERSIONS,
        "processors": OrNone(_COUNT),
        "parts": ListOf(
            Object(
                {"methods": ListOf(Text(), sentence="a list of methods"), "fits": _COUNT},
                {"versions": _VERSIONS, "processors": OrNone(_COUNT)},
            ),
            sentence="a list of the runs that were merged",
        ),
    },
    keep=True,
)


def open_run(
    folder: Path,
    shared: Mapping[str, Any],
    methods: Mapping[str, Any],
    command: str,
    environment: Mapping[str, Any],
) -> None:
    """Make the folder, or check that it holds a run with the same settings.

    methods: the settings of each; command: what was asked for; environment: what else the report should say.
    """
    asked = json.loads(json.dumps(dict(shared)))
    if os.path.exists(folder) and not os.path.isdir(folder):
        raise SettingsError(f"{folder} is a file; give a folder for the results (--out)")
    content = {**asked, "methods": {}, "commands": []}
    if os.path.exists(folder / RUN):
        content = read_run(folder)
        for name in SHARED:
            if content.get(name) != asked[name]:
                raise SettingsError(
                    f"{folder} has results with other settings: {name} is {content.get(name)} there, "
                    f"{asked[name]} here; give the same, or another folder (--out)"
                )
    elif os.path.exists(folder) and any(folder.iterdir()):
        raise SettingsError(f"{folder} holds other files; give a new or empty folder (--out)")
    for name, settings in methods.items():
        now = json.loads(json.dumps(settings, default=str))
        if content["methods"].setdefault(name, now) != now:
            raise SettingsError(
                f"{folder} has results of {name} with other settings: {content['methods'][name]} there, "
                f"{now} here; give another folder (--out)"
            )
    content.setdefault("commands", [])
    if command not in content["commands"]:
        content["commands"].append(command)
    content |= environment
    make_folder(folder)
    write_text(folder / RUN, json.dumps(content, indent=1) + "\n")


def read_run(folder: Path) -> dict[str, Any]:
    """The content of `run.json`."""
    path = folder / RUN
    if not os.path.exists(path):
        raise DataError(f"{folder} has no {RUN}: `odefinder bench` did not write it; give the --out of a run")
    content = parsed(read_bytes(path, MOST_BYTES))
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise DataError(f"{path} is not of format {FORMAT}, which this odefinder reads")
    return BEFORE | dict(checked_document(content, RUN_RULE, str(path)))


def read_results(folder: Path) -> list[Result]:
    """The results of a folder, sorted; the last one of each fit."""
    path = folder / RESULTS
    if not os.path.exists(path):
        return []
    by_key = {}
    lines = read_bytes(path, MOST_BYTES).split(b"\n")
    for number, line in enumerate(lines[:-1], start=1):  # what follows the last newline was cut off
        try:
            entry = checked_document(parsed(line), RESULT_RULE, "the line")
        except DataError as problem:
            raise DataError(
                f"line {number} of {path} is damaged; remove the line, and the same command repeats its fit "
                f"({problem})"
            ) from None
        result = Result(**entry)
        by_key[result.key] = result
    return sorted(by_key.values(), key=_order)


def _order(result: Result) -> tuple[Any, ...]:
    number = int(result.system) if result.system.isdecimal() else 0
    return result.method, result.sigma, result.rho, number, result.system, result.initial


def merge_runs(folders: Sequence[Path], out: Path) -> int:
    """Write the results of several runs into one folder; returns how many.

    They must have the same set, seed, noise and limits.  Of a fit that several have, the last one counts.
    """
    if os.path.exists(out) and (not os.path.isdir(out) or any(out.iterdir())):
        raise SettingsError(f"{out} exists; give a new or empty folder (--out)")
    runs = [read_run(folder) for folder in folders]
    for folder, run in zip(folders, runs, strict=True):
        for name in SHARED:
            if name != "odefinder" and run.get(name) != runs[0].get(name):
                raise SettingsError(
                    f"{folder} cannot be merged with {folders[0]}: {name} is {run.get(name)} there and "
                    f"{runs[0].get(name)} here"
                )
    content = {**runs[-1], "methods": {}, "commands": [], "parts": []}
    results: dict[tuple[Any, ...], Result] = {}
    for folder, run in zip(folders, runs, strict=True):
        own = {result.key: result for result in read_results(folder)}
        results |= own
        content["methods"] |= run["methods"]
        content["commands"] += [one for one in run.get("commands", []) if one not in content["commands"]]
        part = {name: run[name] for name in MACHINE if name in run}
        content["parts"] += run.get("parts") or [
            {**part, "methods": sorted({result.method for result in own.values()}), "fits": len(own)}
        ]
    make_folder(out)
    write_text(out / RUN, json.dumps(content, indent=1) + "\n")
    ordered = sorted(results.values(), key=_order)
    lines = [json.dumps(asdict(result), allow_nan=False) + "\n" for result in ordered]
    write_text(out / RESULTS, "".join(lines))
    return len(lines)
