"""ODEFormer: the estimator that people use, in the manner of scikit-learn.

It validates what it is given, hands it to `inference.find`, and keeps what came back.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np

from odefinder.data.dataset import Dataset, Floats
from odefinder.data.forms import columns_named, dataset_of, with_variables_of
from odefinder.data.time_units import in_units_of
from odefinder.edge.parameters import checked, checked_all
from odefinder.edge.rules import items
from odefinder.errors import SettingsError
from odefinder.inference.find import find
from odefinder.inference.fit.known_settings import Known, knowledge_of
from odefinder.inference.fit.known_terms import check_guesses
from odefinder.inference.fit.known_text import known_states
from odefinder.inference.fit.starts import starts_of
from odefinder.inference.measures import Measure, chaos_measure, checked_measure
from odefinder.inference.outcome import Outcome
from odefinder.inference.propose.decode import Decoding
from odefinder.inference.settings import FindSettings, default_budget
from odefinder.inference.wishes import guessed_programs, operators_of, seed_of, varied_in_guess
from odefinder.inference.workers import side_by_side
from odefinder.limits.processors import cores
from odefinder.numerics.r2 import variance_weighted_r2
from odefinder.output import model_file
from odefinder.output.progress import checked_progress, stage_line
from odefinder.output.results import Results
from odefinder.output.scikit_learn import Parameters, not_fitted_error
from odefinder.system import ODESystem

Guess = str | ODESystem | dict[str, str]


def __getattr__(name: str) -> Any:
    if name == "NotFittedError":  # scikit-learn's, too, which takes a second to import
        return not_fitted_error()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


class ODEFormer(Results, Parameters):
    """Finds the system of ordinary differential equations behind observed trajectories.

    >>> model = ODEFormer().fit(X, t)  # doctest: +SKIP
    >>> print(model)                   # all systems that were found, the chosen one marked
    >>> model.system_                  # the chosen one

    Parameters
    ----------
    order : 2 where positions were measured and velocities were not (3 likewise): a number, or a mapping
        variable -> number.  The velocity of `theta` is called `theta_dot`; a column of that name is a
        measured velocity.
    hidden : states that nobody measured and that the equations have all the same, such as the predator of an
        observed prey: 1, or 2.  They are called h1, h2, and their scale is free, unless `known` has them.
    explicit_time : whether the equations may contain the time t itself.
    round_constants : whether constants become simple numbers where the data allow it, such as 1.0003 -> 1.
    known : equations that are known, as text: "S' = -b*S*I; I' = b*S*I - ?".  A question mark stands for
        terms that are to be found, `?(S, I)` for terms in these variables; names that are not variables are
        constants, to be fitted.  theta'' = ... with order=2.
    fixed : values of such constants that stay as they are, {"g": 9.81}; of initial values, {"x(0)": 1}.
    bounds : lowest and highest values of such constants, {"b": (0, None)}, or of initial values.
    positive : variables that no term may make negative at zero, or True for all.
    conserve : a sum that every system conserves exactly, "S + I + R", or a list of such sums.
    vary : constants of `known` that differ between trajectories; or of a `guess`, where the choice decides.
    terms : the terms that may occur in what is found, by equation, {"x": ["x", "x*y"]}, whatever their
        constants are; "!x*y" forbids one and allows all others.  A list is about all equations.
    time_budget : seconds that a fit may take, compilation on the first run of a machine left out.  None: 10,
        and 10 more for each variable from the fourth on, up to 60.
    random_state : a whole number gives the same result every time; None, another one each time.
    samples : systems that the network may propose; more are slower, and more of them fit noise by chance.
        A third of them are drawn; the likeliest equations of each variable take the place of the others.
    temperature : how adventurous the network is: 0.1 repeats its favourites, 1 draws as it was trained.
    operators : names of the functions and powers that may occur, such as ["sin", "pow2", "inv"] (sums and
        products always may), or None for all: see `odefinder.expressions.operators`.  "!tan" forbids one.
        A mapping variable -> names is about the equations of these variables.
    guess : equations to start from, as text ("x' = -x; y' = x*y"), an ODESystem, or a list of such systems.
    network : whether the network proposes systems.
    sparse : whether sparse regression proposes equations.
    weights : the path of a network's weights; None for those that come with odefinder.
    runtime : "onnx", or "torch" (pip install 'odefinder[train]'), which uses a GPU where there is one.
    threads : of the network and of linear algebra; on a busy machine more are slower.
    progress : whether to show what is going on, on the standard error stream; or a function that is called
        with the name of each stage.  If it has an attribute `better`, a function, this one is called with
        every system that is the best so far, and its initial values.

    Attributes
    ----------
    equations_ : DataFrame, one row per system, best first: complexity, r2, front (whether no other is both
        simpler and closer to the data), criterion (smaller is better), weight (the chance that it
        predicts trajectories from elsewhere), source, errors (standard errors of `system.constants`), system.
    system_ : the chosen ODESystem, by default the first of them; `choose` takes another.
    starts_ : its initial values, (trajectories, variables), estimated where the data are noisy.
    noise_ : standard deviation of the measurement errors of each variable, as estimated from the data.
    constants_ : the named constants of `known` in the chosen system, by name; one that varies has a value for
        each trajectory, and is a condition of the system.
    notes_ : sentences about the data and the result that are worth knowing.
    early_ : whether the time budget or Ctrl-C ended the search; if not, the same seed gives the same result.
    dataset_ : the data as they were understood.
    """

    dataset_: Dataset
    system_: ODESystem
    starts_: Floats
    chosen_: int
    error_: Exception  # of a fit that failed in `fit_many`

    def __init__(
        self,
        time_budget: float | None = None,
        random_state: int | np.random.RandomState | np.random.Generator | None = 0,
        samples: int = 50,
        temperature: float = 1.0,
        operators: Iterable[str] | Mapping[str, Iterable[str]] | None = None,
        guess: Guess | Sequence[Guess] | None = None,
        network: bool = True,
        sparse: bool = True,
        weights: str | Path | None = None,
        runtime: str = "onnx",
        threads: int = 1,
        progress: bool | Callable[[str], None] = False,
        order: int | Mapping[str, int] = 1,
        explicit_time: bool = False,
        known: str | Sequence[str] | Mapping[str, str] | None = None,
        fixed: Mapping[str, float] | None = None,
        bounds: Mapping[str, tuple[float | None, float | None]] | None = None,
        positive: Sequence[str] | bool | None = None,
        conserve: str | Sequence[str] | None = None,
        vary: Sequence[str] | None = None,
        terms: Sequence[str] | Mapping[str, str | Sequence[str]] | str | None = None,
        hidden: int = 0,
        round_constants: bool = True,
    ):
        self.order = order
        self.hidden = hidden
        self.explicit_time = explicit_time
        self.known = known
        self.fixed = fixed
        self.bounds = bounds
        self.positive = positive
        self.conserve = conserve
        self.vary = vary
        self.terms = terms
        self.round_constants = round_constants
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
        inputs: Any = None,
        conditions: Any = None,
        errors: Any = None,
        variables: Sequence[Hashable] | None = None,
        trajectory: Hashable | None = None,
    ) -> ODEFormer:
        """Find the systems behind trajectories; Ctrl-C ends the search with the best so far.

        X is an array (points, variables), a DataFrame, a mapping name -> values, a list of these (one per
        trajectory), a Dataset, such as `odefinder.data.read("file.csv")`, or a list of those.  t has the
        times, or the name of the column that has them.  NaN is a missing value.  `variables` names the
        columns of an array, or chooses those of a DataFrame; `trajectory` is the column that tells its
        trajectories apart.

        inputs : known signals that drive the system: columns by name, an array on the times of X, a table
            with its own times, a function u(t), or a mapping name -> one of these.
        conditions : known, and constant within a trajectory: columns by name, or a mapping name -> value.
        errors : standard errors of the values: a mapping variable -> column, values or number.
        For several trajectories each of these may be a list, one entry each.
        """
        begin = time.perf_counter()
        given = {"inputs": inputs, "conditions": conditions, "errors": errors}
        dataset = self._cast(dataset_of(X, t, variables, trajectory, **given))
        how = self._settings(dataset)
        how = replace(how, spent=time.perf_counter() - begin)
        with stage_line(checked_progress(self.progress), how.time_budget) as report:
            outcome = find(dataset, how, report, getattr(self.progress, "better", None))
        return self._keep(dataset, outcome)

    def _cast(self, dataset: Dataset) -> Dataset:
        """The data with the states that nobody measured, and the time where equations may contain it."""
        explicit, unseen = checked("explicit_time", self.explicit_time), isinstance(self.hidden, Integral)
        if isinstance(self.order, int) and self.order == 1 and unseen and not self.hidden and not explicit:
            return dataset
        names = known_states(self.known) if unseen and self.hidden and self.known is not None else ()
        return dataset.with_roles(self.order, self.hidden, explicit, names)

    def fit_many(
        self, datasets: Iterable[Any], n_jobs: int | None = None, backend: str | None = None
    ) -> list[ODEFormer]:
        """One fitted copy of this estimator for each dataset: what `fit` takes as X, or a pair (X, t).

        With n_jobs, it runs in this many processes, or through a back-end of joblib by name (`threading`,
        `dask`, `ray`).  Where a fit fails, or its process is killed, its copy has the error as `error_`, and
        the others are not touched.
        """
        every = items(datasets)
        if checked_all({"n_jobs": n_jobs, "backend": backend})["n_jobs"] == 0 or every is None:
            raise SettingsError("give fit_many a list of datasets, and n_jobs other than 0")
        jobs = [(self.copy(), one) for one in every]
        results = side_by_side(_fit_one, jobs, n_jobs, backend)
        return [_or_error(model, one) for (model, _), one in zip(jobs, results, strict=True)]

    def _settings(self, dataset: Dataset) -> FindSettings:
        """The parameters, checked."""
        given = checked_all(self.get_params(deep=False))
        budget = given["time_budget"]
        operators, by_state = operators_of(self.operators, dataset.variables)
        vary = self.vary
        named: tuple[str, ...] = ()
        if vary is not None and self.known is None and self.guess is not None:
            vary, named = None, varied_in_guess(self.guess, vary, dataset)
        wishes = Known(self.known, self.fixed, self.bounds, self.positive, self.conserve, vary, self.terms)
        decoding = Decoding(given["samples"], given["temperature"], seed_of(self.random_state))
        knowledge = knowledge_of(wishes, dataset, operators, by_state)
        guesses = guessed_programs(self.guess, dataset.variables, dataset.known, operators, named)
        if knowledge is not None:
            check_guesses(guesses, knowledge.terms, dataset.variables)
        return FindSettings(
            time_budget=default_budget(dataset.dimension) if budget is None else budget,
            decoding=decoding,
            operators=operators,
            knowledge=knowledge,
            guesses=guesses,
            network=given["network"],
            sparse=given["sparse"],
            weights=given["weights"],
            runtime=given["runtime"],
            threads=min(given["threads"], cores()),  # more would wait for each other
            round_constants=given["round_constants"],
        )

    def _keep(self, dataset: Dataset, outcome: Outcome) -> ODEFormer:
        """Take over what was found."""
        self.dataset_ = dataset
        self.noise_ = outcome.noise
        self.early_ = outcome.early
        self.notes_ = [*dataset.notes, *outcome.notes]
        self.n_features_in_ = dataset.dimension
        self._explanations = outcome.explanations
        for name in ("equations_", "_prepared", "_drawn"):  # of an earlier fit
            self.__dict__.pop(name, None)
        if outcome.prepared is not None:
            self.__dict__["_prepared"] = outcome.prepared
        return self.choose(0)

    # ------------------------------------------------------------------------------------ results

    def score(
        self,
        X: Any,
        t: Any = None,
        *,
        inputs: Any = None,
        conditions: Any = None,
        errors: Any = None,
        measure: Measure = "r2",
    ) -> float:
        """R2 of the chosen system's trajectories, weighted by variance; -inf where one blows up.

        measure : for chaotic motion, which no one can follow for long, `valid_time` (how long predictions
            hold, in Lyapunov times), `window_r2` (R2 over one Lyapunov time), `attractor_distance` (0: the
            same attractor), `lyapunov_exponent` (the largest) or `dimension` (of the attractor).

        They begin at the first values of the data, or, where these are noisy or missing, at estimates; those
        of velocities that nobody measured are fitted.  Columns with names are found by them, in any order;
        inputs and conditions, too, unless they are given.
        """
        self._fitted()
        measure = checked_measure(measure)
        if inputs is None:
            inputs = columns_named(X, self.dataset_.inputs)
        if conditions is None:
            conditions = columns_named(X, self.dataset_.conditions)
        given = in_units_of(
            dataset_of(X, t, inputs=inputs, conditions=conditions, errors=errors), self.dataset_.clock
        )
        dataset = self._cast(with_variables_of(given, self.dataset_.observed))
        if sorted(dataset.known) != sorted(self.system_.inputs):
            raise SettingsError(
                f"the system reads {', '.join(self.system_.inputs) or 'no inputs'}, and the data have "
                f"{', '.join(dataset.known) or 'none'}; give the same ones (inputs=, conditions=)"
            )
        system = self.system_.with_inputs(dataset.known)
        starts = starts_of(system, dataset, self.starts_.mean(axis=0))
        if measure != "r2":
            return chaos_measure(system, dataset, starts, measure)
        driven = zip(starts, dataset.times, dataset.all_signals(), strict=True)
        predicted = [system.simulate(start, times, signals) for start, times, signals in driven]
        return variance_weighted_r2(np.concatenate(dataset.states), np.concatenate(predicted))

    def save(self, path: str | Path) -> None:
        """Write the fitted estimator as JSON, for `ODEFormer.load` and `odefinder simulate`."""
        explanations = self._fitted()
        notes = self.notes_[len(self.dataset_.notes) :]
        outcome = Outcome(explanations, self.noise_, notes, self.early_)
        model_file.write(path, model_file.Saved(self.get_params(), self.dataset_, outcome, self.chosen_))

    @classmethod
    def load(cls, path: str | Path) -> ODEFormer:
        """The fitted estimator in a file that `save` wrote."""
        saved = model_file.read(path)
        known = set(cls.parameter_names())
        model = cls(**{name: value for name, value in saved.parameters.items() if name in known})
        return model._keep(saved.dataset, saved.outcome).choose(saved.chosen)


# ---------------------------------------------------------------------------------------- many fits


def _fit_one(model: ODEFormer, data: Any) -> ODEFormer:
    """Fit, or keep the error."""
    try:
        return model.fit(*data) if isinstance(data, tuple) and len(data) == 2 else model.fit(data)
    except Exception as error:  # one bad dataset must not cost the results of all others
        model.error_ = error
        return model


def _or_error(model: ODEFormer, result: Any) -> ODEFormer:
    """What another process returned, or the estimator with the error in its place."""
    if isinstance(result, ODEFormer):
        return result
    model.error_ = result
    return model
