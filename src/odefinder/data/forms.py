"""Data in every form that `fit` and `score` take, as one dataset."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import Any

from odefinder.data.arrays import from_arrays
from odefinder.data.dataset import Dataset
from odefinder.data.joining import joined
from odefinder.errors import SettingsError


def dataset_of(
    X: Any,
    t: Any,
    variables: Sequence[Hashable] | None = None,
    trajectory: Hashable | None = None,
    **known: Any,
) -> Dataset:
    """The dataset of arrays, tables or mappings, of a Dataset, or of several."""
    several = isinstance(X, (list, tuple)) and len(X) > 0 and all(isinstance(one, Dataset) for one in X)
    if not several and not isinstance(X, Dataset):
        return from_arrays(X, t, variables, trajectory, **known)
    if any(one is not None for one in (t, variables, trajectory, *known.values())):
        raise SettingsError("a Dataset has its own times, variables and inputs; give nothing else")
    return joined(X) if several else X


def columns_named(X: Any, names: Sequence[str]) -> list[str] | None:
    """These names, if the table, mapping or list of them has columns of all of them; otherwise None."""
    tables = list(X) if isinstance(X, (list, tuple)) else [X]
    keys = [set(one.keys()) for one in tables if hasattr(one, "keys") and not isinstance(one, Dataset)]
    found = len(names) > 0 and len(keys) == len(tables) > 0 and all(set(names) <= own for own in keys)
    return list(names) if found else None


def with_variables_of(dataset: Dataset, names: tuple[str, ...]) -> Dataset:
    """The data with the variables of these names, or in their places where one of both sides has no names."""
    given = dataset.variables
    if set(names) <= set(given):
        return dataset.with_variables(names)
    unnamed = tuple(f"x{j}" for j in range(len(names)))
    if len(given) == len(names) and unnamed in (given, names):
        return replace(dataset, variables=names, titles=names)
    raise SettingsError(
        f"the variables of the data are {', '.join(given)}, those of the system {', '.join(names)}; "
        "give the same ones"
    )
