"""ODEFormer: the estimator that people use, in the manner of scikit-learn.

It validates what it is given, hands it to `inference.find`, and keeps what came back.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from functools import cached_property
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from odefinder.data.arrays import from_arrays
from odefinder.data.dataset import Dataset, Floats
from odefinder.edge.parameters import checked_all
from odefinder.edge.rules import cores, shown
from odefinder.errors import ExpressionError, SettingsError
from odefinder.expressions.operators import allowed_operators
from odefinder.expressions.program import Program
from odefinder.inference.choose.criterion import on_front
from odefinder.inference.find import FindSettings, Outcome, find
from odefinder.inference.fit.states import estimate_states
from odefinder.inference.propose.decode import Decoding
from odefinder.inference.remarks import Explanation
from odefinder.numerics.r2 import variance_weighted_r2
from odefinder.output import model_file, table
from odefinder.output.progress import stage_line
from odefinder.output.scikit_learn import Parameters, not_fitted_error
from odefinder.system import ODESystem

if TYPE_CHECKING:
    import pandas as pd

Guess = str | ODESystem | dict[str, str]


def __getattr__(name: str) -> Any:
    if name == "NotFittedError":  # scikit-learn's, too, which takes a second to import
        return not_fitted_error()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


class ODEFormer(Parameters):
    """Finds the system of ordinary differential equations behind observed trajectories.

    >>> model = ODEFormer().fit(X, t)  # doctest: +SKIP
    >>> print(model)                   # all systems that were found, the chosen one marked
    >>> model.system_                  # the chosen one

    Parameters
    ----------
    time_budget : seconds that a fit may take, compilation on the first run of a machine left out.
    random_state : a whole number gives the same result every time; None, another one each time.
    samples : systems drawn from the network; more are slower, and more of them fit noise by chance.
    temperature : how adventurous the network is: 0.1 repeats its favourites, 1 draws as it was trained.
    operators : names of the functions and powers that may occur, such as ["sin", "pow2", "inv"] (sums and
        products always may), or None for all: see `odefinder.expressions.operators`.
    guess : equations to start from, as text ("x' = -x; y' = x*y"), an ODESystem, or a list of such systems.
    network : whether the network proposes systems.
    sparse : whether sparse regression proposes equations.
    weights : the path of a network's weights; None for those that come with odefinder.
    runtime : "onnx", or "torch" (pip install 'odefinder[train]'), which uses a GPU where there is one.
    threads : of the network and of linear algebra; on a busy machine more are slower.
    progress : whether to show what is going on, on the standard error stream.

    Attributes
    ----------
    equations_ : DataFrame, one row per system, best first: complexity, r2, front (whether no other is both
        simpler and closer to the data), criterion (smaller is better), weight (how well it is supported
        relative to the others; all sum to 1), source, system.
    system_ : the chosen ODESystem, by default the first of them; `choose` takes another.
    starts_ : its initial values, (trajectories, variables), estimated where the data are noisy.
    noise_ : standard deviation of the measurement errors of each variable, as estimated from the data.
    notes_ : sentences about the data and the result that are worth knowing.
    dataset_ : the data as they were understood.
    """

    dataset_: Dataset
    system_: ODESystem
    starts_: Floats
    chosen_: int
    error_: Exception  # of a fit that failed in `fit_many`

    def __init__(
        self,
        time_budget: float = 10.0,
        random_state: int | np.random.RandomState | np.random.Generator | None = 0,
        samples: int = 50,
        temperature: float = 1.0,
        operators: Iterable[str] | None = None,
        guess: Guess | Sequence[Guess] | None = None,
        network: bool = True,
        sparse: bool = True,
        weights: str | Path | None = None,
        runtime: str = "onnx",
        threads: int = 1,
        progress: bool = False,
    ):
        self.time_budget = time_budget
        self.random_state = random_state
        self.samples = samples
        self.temperature = temperature
        self.operators = operators
        self.guess = guess
        self.network = network
        self.sparse = sparse
        self.weights = weights
        self.runtime = runtime
        self.threads = threads
        self.progress = progress

    # ------------------------------------------------------------------------------------ fitting

    def fit(
        self,
        X: Any,
        t: Any = None,
        *,
        variables: Sequence[Hashable] | None = None,
        trajectory: Hashable | None = None,
    ) -> ODEFormer:
        """Find the systems behind trajectories; Ctrl-C ends the search with the best so far.

        X is an array (points, variables), a DataFrame, a mapping name -> values, a list of these (one a
        trajectory), or a Dataset, such as `odefinder.data.read("file.csv")`.  t has the times, or the name
        of the column that has them.  NaN is a missing value.  `variables` names the columns of an array, or
        chooses those of a DataFrame; `trajectory` is the column that tells its trajectories apart.
        """
        dataset = _dataset(X, t, variables, trajectory)
        how = self._settings(dataset)
        with stage_line(bool(self.progress), how.time_budget) as report:
            outcome = find(dataset, how, report)
        return self._keep(dataset, outcome)

    def fit_many(
        self, datasets: Iterable[Any], n_jobs: int | None = None, backend: str | None = None
    ) -> list[ODEFormer]:
        """One fitted copy of this estimator for each dataset: what `fit` takes as X, or a pair (X, t).

        It runs in parallel through joblib, whose back-ends (`loky`, `threading`, `dask`, `ray`) go by name.
        Where a fit fails, its copy has the error as `error_`, and the others are not touched.
        """
        import joblib

        given = checked_all({"n_jobs": n_jobs, "backend": backend})
        if given["n_jobs"] == 0 or not isinstance(datasets, Iterable) or isinstance(datasets, (str, bytes)):
            raise SettingsError("give fit_many a list of datasets, and n_jobs other than 0")
        try:
            parallel = joblib.Parallel(n_jobs=n_jobs, backend=backend)
        except (ValueError, ImportError) as problem:
            raise SettingsError(f"joblib does not know the back-end {backend!r}: {problem}") from None
        return list(parallel(joblib.delayed(_fit_one)(self.copy(), one) for one in datasets))

    def _settings(self, dataset: Dataset) -> FindSettings:
        """The parameters, checked."""
        given = checked_all(self.get_params(deep=False))
        operators = allowed_operators(self.operators)
        decoding = Decoding(given["samples"], given["temperature"], _seed(self.random_state))
        return FindSettings(
            time_budget=given["time_budget"],
            decoding=decoding,
            operators=operators,
            guesses=_guesses(self.guess, dataset.variables, operators),
            network=given["network"],
            sparse=given["sparse"],
            weights=given["weights"],
            runtime=given["runtime"],
            threads=min(given["threads"], cores()),  # more would wait for each other
        )

    def _keep(self, dataset: Dataset, outcome: Outcome) -> ODEFormer:
        """Take over what was found."""
        self.dataset_ = dataset
        self.noise_ = outcome.noise
        self.notes_ = [*dataset.notes, *outcome.notes]
        self.n_features_in_ = dataset.dimension
        self._explanations = outcome.explanations
        self.__dict__.pop("equations_", None)  # the table of an earlier fit
        return self.choose(0)

    # ------------------------------------------------------------------------------------ results

    @cached_property
    def equations_(self) -> pd.DataFrame:
        """All systems that were found, best first."""
        if not self.__sklearn_is_fitted__():  # as of an attribute that is not there
            raise AttributeError(f"{type(self).__name__!r} object has no attribute 'equations_'")
        import pandas as pd

        found = self._explanations
        sizes = [one.system.complexity for one in found]
        return pd.DataFrame(
            {
                "complexity": sizes,
                "r2": [one.r2 for one in found],
                "front": on_front(sizes, [-one.r2 for one in found]),
                "criterion": [one.criterion for one in found],
                "weight": [one.weight for one in found],
                "source": [one.source for one in found],
                "system": [one.system for one in found],
            }
        )

    def choose(self, row: int) -> ODEFormer:
        """Take another row of `equations_` as the result."""
        explanations = self._fitted()
        if not isinstance(row, Integral) or not 0 <= row < len(explanations):
            raise SettingsError(
                f"there is no row {shown(row)} in equations_; choose one from 0 to {len(explanations) - 1}"
            )
        self.chosen_ = int(row)
        self.system_, self.starts_ = explanations[row].system, explanations[row].starts
        return self

    def simulate(
        self, x0: ArrayLike | Mapping[str, float] | None = None, t: ArrayLike | None = None
    ) -> Floats:
        """The trajectory (points, variables) of the chosen system at the times t, from x0 at t[0].

        Without x0 and t they are those of the first observed trajectory.
        """
        self._fitted()
        return self.system_.simulate(
            self.starts_[0] if x0 is None else x0, self.dataset_.times[0] if t is None else t
        )

    def score(self, X: Any, t: Any = None) -> float:
        """R2 of the chosen system's trajectories, weighted by variance; -inf where one blows up.

        They begin at the first values of the data, or, where these are noisy or missing, at estimates.
        Columns with names are found by them, in any order.
        """
        self._fitted()
        dataset = _with_variables(_dataset(X, t), self.system_.variables)
        scaling = dataset.scaling()
        starts = scaling.original_states(estimate_states(dataset.observations(scaling)).starts)
        predicted = [
            self.system_.simulate(start, times) for start, times in zip(starts, dataset.times, strict=True)
        ]
        return variance_weighted_r2(np.concatenate(dataset.states), np.concatenate(predicted))

    def latex(self, digits: int | None = 4) -> str:
        """The chosen system as an `aligned` block for mathematics mode."""
        self._fitted()
        return self.system_.latex(digits)

    def sympy(self) -> list[Any]:
        """The right-hand sides of the chosen system as SymPy expressions."""
        self._fitted()
        return self.system_.sympy()

    def plot(self, path: str | Path | None = None) -> Any:
        """A figure of equations, data, trajectories, phase portrait and candidates; also to a file."""
        from odefinder.output.plot import Front, save, summary_figure

        self._fitted()
        # On a logarithmic axis a fit with R2 = 1 would have no place.
        errors = [max(1.0 - one.r2, 1e-12) for one in self._explanations]
        front = Front([one.system.complexity for one in self._explanations], errors, self.chosen_)
        figure = summary_figure(self.dataset_, self.system_, self.starts_, front)
        if path is not None:
            save(figure, path)
        return figure

    def save(self, path: str | Path) -> None:
        """Write the fitted estimator as JSON, for `ODEFormer.load` and `odefinder simulate`."""
        explanations = self._fitted()
        notes = self.notes_[len(self.dataset_.notes) :]
        outcome = Outcome(explanations, self.noise_, notes)
        model_file.write(path, model_file.Saved(self.get_params(), self.dataset_, outcome, self.chosen_))

    @classmethod
    def load(cls, path: str | Path) -> ODEFormer:
        """The fitted estimator in a file that `save` wrote."""
        saved = model_file.read(path)
        known = set(cls.parameter_names())
        model = cls(**{name: value for name, value in saved.parameters.items() if name in known})
        return model._keep(saved.dataset, saved.outcome).choose(saved.chosen)

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
        return {"text/plain": repr(self)}

    def _fitted(self) -> list[Explanation]:
        if not self.__sklearn_is_fitted__():
            error = getattr(self, "error_", None)
            raise not_fitted_error()(
                f"this fit failed: {error}" if error else "this ODEFormer has no result yet; call fit(X, t)"
            )
        return self._explanations


# ---------------------------------------------------------------------------------------- what was given


def _fit_one(model: ODEFormer, data: Any) -> ODEFormer:
    """Fit, or keep the error."""
    try:
        return model.fit(*data) if isinstance(data, tuple) and len(data) == 2 else model.fit(data)
    except Exception as error:  # one bad dataset must not cost the results of all others
        model.error_ = error
        return model


def _dataset(
    X: Any, t: Any, variables: Sequence[Hashable] | None = None, trajectory: Hashable | None = None
) -> Dataset:
    if not isinstance(X, Dataset):
        return from_arrays(X, t, variables, trajectory)
    if t is not None or variables is not None or trajectory is not None:
        raise SettingsError("a Dataset has its own times and variables; give nothing else")
    return X


def _with_variables(dataset: Dataset, names: tuple[str, ...]) -> Dataset:
    """The data with the variables of these names, or in their places where one of both sides has no names."""
    given = dataset.variables
    if set(names) <= set(given):
        return dataset.with_variables(names)
    unnamed = tuple(f"x{j}" for j in range(len(names)))
    if len(given) == len(names) and unnamed in (given, names):
        return dataset
    raise SettingsError(
        f"the variables of the data are {', '.join(given)}, those of the system {', '.join(names)}; "
        "give the same ones"
    )


def _seed(random_state: Any) -> int:
    """A whole number for what scikit-learn allows as random_state."""
    if random_state is None:
        return int(np.random.default_rng().integers(2**31))
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**31))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31 - 1))
    if not isinstance(random_state, Integral) or random_state < 0:
        raise SettingsError(f"random_state is a whole number, 0 or more, or None, not {shown(random_state)}")
    return int(random_state)


def _guesses(guess: Any, variables: Sequence[str], operators: frozenset[str] | None) -> tuple[Program, ...]:
    """The guessed systems, with the variables in the order of the data."""
    if guess is None:
        return ()
    programs = []
    for one in guess if isinstance(guess, (list, tuple)) else [guess]:
        system = one if isinstance(one, ODESystem) else ODESystem.from_text(one, variables)
        if set(system.variables) != set(variables):
            raise ExpressionError(
                f"the guess is about {', '.join(system.variables)}, the data about {', '.join(variables)}; "
                "use the names of the data"
            )
        program = system.with_variables(variables).program
        if operators is not None and (others := program.operators() - operators):
            raise SettingsError(
                f"the guess has {', '.join(sorted(others))}, which operators does not allow; add it there, "
                "or leave it out of the guess"
            )
        programs.append(program)
    return tuple(programs)
