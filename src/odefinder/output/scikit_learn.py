"""What scikit-learn asks of an estimator, without importing scikit-learn, which takes a second.

It is imported only where one of its own types is wanted: for tags, and for the error of an estimator that
is not fitted.
"""

from __future__ import annotations

import copy
import inspect
from functools import cache
from typing import Any, Self

from odefinder.errors import OdefinderError, SettingsError


class Parameters:
    """Parameters by name, as arguments of `__init__` and attributes: for clones, grids and pipelines."""

    @classmethod
    def parameter_names(cls) -> list[str]:
        """The arguments of `__init__`, in the order of the alphabet."""
        return sorted(name for name in inspect.signature(cls.__init__).parameters if name != "self")

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters; deep is there because scikit-learn passes it."""
        return {name: getattr(self, name) for name in self.parameter_names()}

    def set_params(self, **params: Any) -> Self:
        """Change parameters."""
        names = self.parameter_names()
        for name, value in params.items():
            if name not in names:
                raise SettingsError(
                    f"{type(self).__name__} has no parameter {name!r}; it has {', '.join(names)}"
                )
            setattr(self, name, value)
        return self

    def copy(self) -> Self:
        """An estimator with copies of the same parameters, not fitted."""
        return type(self)(**copy.deepcopy(self.get_params()))

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import InputTags, Tags, TargetTags

        return Tags(
            estimator_type=None,
            target_tags=TargetTags(required=False),
            input_tags=InputTags(allow_nan=True),
            no_validation=True,  # times are not a target, and lists of trajectories are not a matrix
        )

    def __repr__(self) -> str:
        """The call that makes it, without what is as by default."""
        defaults = inspect.signature(type(self).__init__).parameters
        changed = [
            f"{name}={value!r}"
            for name, value in self.get_params().items()
            if repr(value) != repr(defaults[name].default)
        ]
        return f"{type(self).__name__}({', '.join(changed)})"


@cache
def not_fitted_error() -> type[OdefinderError]:
    """The error of a result that is asked for before there is one: ours and scikit-learn's."""
    from sklearn import exceptions

    class NotFittedError(OdefinderError, exceptions.NotFittedError):
        """A result that is asked for before there is one."""

    NotFittedError.__module__ = "odefinder.estimator"
    NotFittedError.__qualname__ = "NotFittedError"
    return NotFittedError
