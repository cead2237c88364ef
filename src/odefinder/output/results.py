"""What a fitted estimator found: a table with a chosen row, as text, formulas, source and figures."""

from __future__ import annotations

from functools import cached_property
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from odefinder.data.dataset import Dataset
from odefinder.edge.parameters import checked
from odefinder.edge.rules import shown
from odefinder.errors import SettingsError
from odefinder.inference.choose.criterion import on_front
from odefinder.inference.known_parts import varied_values
from odefinder.inference.remarks import Explanation
from odefinder.output import table
from odefinder.output.scikit_learn import not_fitted_error
from odefinder.output.trust import Trust

if TYPE_CHECKING:
    import pandas as pd


class Results(Trust):
    """The part of `ODEFormer` that shows what was found."""

    constants_: dict[str, float | tuple[float, ...]]
    notes_: list[str]
    early_: bool
    _explanations: list[Explanation]

    @cached_property
    def equations_(self) -> pd.DataFrame:
        """All systems that were found, best first."""
        if not self.__sklearn_is_fitted__():  # as for any attribute that is not there
            raise AttributeError(f"{type(self).__name__!r} object has no attribute 'equations_'")
        import pandas as pd

        found = self._explanations
        sizes = [one.system.complexity for one in found]
        windows = {"r2_windows": [one.r2_windows for one in found]} if found[0].r2_windows is not None else {}
        table = pd.DataFrame(
            {
                "complexity": sizes,
                "r2": [one.r2 for one in found],
                **windows,
                "front": on_front(sizes, [-one.explained for one in found]),
                "criterion": [one.criterion for one in found],
                "weight": [one.weight for one in found],
                "source": [one.source for one in found],
                "errors": self.standard_errors(),
                "system": [one.system for one in found],
            }
        )
        table.attrs["early"] = self.early_
        return table

    def choose(self, row: int) -> Self:
        """Take another row of `equations_` as the result."""
        explanations = self._fitted()
        if not isinstance(row, Integral) or not 0 <= row < len(explanations):
            raise SettingsError(
                f"there is no row {shown(row)} in equations_; choose one from 0 to {len(explanations) - 1}"
            )
        self.chosen_ = int(row)
        self.system_, self.starts_ = explanations[row].system, explanations[row].starts
        self.constants_ = dict(explanations[row].constants)
        return self

    def sympy(self) -> list[Any]:
        """The right-hand sides of the chosen system as SymPy expressions."""
        self._fitted()
        return self.system_.sympy()

    def export(self, target: str, trajectory: int = 0) -> str:
        """Source of the chosen system for another program: see `ODESystem.export` for the targets.

        It has the start values, time span, inputs and doses of one of the observed trajectories.
        """
        self._fitted()
        self.dataset_.check_trajectory(trajectory)
        data, system = self._with_varied(), self.system_
        if missing := set(system.inputs) - set(data.known):
            raise SettingsError(f"the data lack {', '.join(sorted(missing))}; use system_.export(inputs=...)")
        signals = data.all_signals()[trajectory]
        columns = [data.known.index(name) for name in system.inputs]
        signals = signals._replace(before=signals.before[:, columns], after=signals.after[:, columns])
        return system.export(target, self.starts_[trajectory], data.times[trajectory], signals)

    def _with_varied(self) -> Dataset:
        """The data with the constants that vary as conditions."""
        return self.dataset_.with_conditions(varied_values(self.constants_))

    def plot(self, path: str | Path | None = None, bands: bool = True, horizon: float | None = None) -> Any:
        """A figure of equations, data, trajectories, phase portrait and candidates; also to a file.

        bands: whether the trajectories have bands of 90 %.  horizon: how long they go on after the data.
        """
        from odefinder.output.plot import Front, save, summary_figure

        self._fitted()
        # On a logarithmic axis a fit with R2 = 1 would have no place.
        errors = [max(1.0 - one.explained, 1e-12) for one in self._explanations]
        front = Front([one.system.complexity for one in self._explanations], errors, self.chosen_)
        longer = 0.0 if horizon is None else checked("horizon", horizon)
        around = self.observed_bands(horizon) if checked("bands", bands) else []
        data = self._with_varied()
        system = self.system_.with_inputs(data.known)
        figure = summary_figure(data, system, self.starts_, front, around, longer)
        if path is not None:
            save(figure, path)
        return figure

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_explanations")

    def __str__(self) -> str:
        if not self.__sklearn_is_fitted__():
            return super().__repr__()
        return table.as_text(self.dataset_, self._explanations, self.chosen_, self.notes_)

    def __repr__(self) -> str:
        return str(self) if self.__sklearn_is_fitted__() else super().__repr__()

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        """In a notebook, the table."""
        html = self._repr_html_()
        return {"text/plain": repr(self), **({} if html is None else {"text/html": html})}

    def _repr_html_(self) -> str | None:
        from odefinder.output.html import as_html

        if not self.__sklearn_is_fitted__():
            return None
        return as_html(self.dataset_, self._explanations, self.chosen_, self.notes_)

    def _fitted(self) -> list[Explanation]:
        if not self.__sklearn_is_fitted__():
            error = getattr(self, "error_", None)
            raise not_fitted_error()(
                f"this fit failed: {error}" if error else "this ODEFormer has no result yet; call fit(X, t)"
            )
        return self._explanations
