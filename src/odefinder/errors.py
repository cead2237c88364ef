"""The errors and warnings a user meets: each message says what is wrong and what to do."""


class OdefinderError(Exception):
    """Base of every error that odefinder raises on purpose."""


class ExpressionError(OdefinderError, ValueError):
    """A text, program or token sequence that is not a valid expression."""


class DataError(OdefinderError, ValueError):
    """Times or values that cannot be used as they are."""


class SettingsError(OdefinderError, ValueError):
    """An option with a value that makes no sense."""


class CheckpointError(OdefinderError, ValueError):
    """Weights that are missing, damaged or not for this version."""


class MissingExtraError(OdefinderError, ImportError):
    """An optional dependency that is needed but not installed."""

    def __init__(self, what: str, extra: str):
        super().__init__(f"{what} needs an optional dependency: pip install 'odefinder[{extra}]'")


class NoSystemError(OdefinderError, RuntimeError):
    """A fit that ended without any system."""


class WorkerError(OdefinderError):
    """A process that worked for this one ended, or could not be talked to."""


class SimulationWarning(UserWarning):
    """A simulation that could not reach the last time, or whose inputs do not cover it."""


class StiffnessWarning(UserWarning):
    """A simulation that needed the slower method for stiff systems."""
