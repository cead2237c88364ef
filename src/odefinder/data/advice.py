"""What several messages about data say, and the limits they are about."""

from odefinder.errors import DataError

MIN_POINTS = 4  # of a trajectory, and of a variable
LARGEST, SMALLEST = 1e100, 1e-100  # bounds of a variable's largest magnitude: its square must not overflow

LEAVE_OUT = "leave the column out by naming the others: variables=['NAME', ...] (command line: --variables)"
SEPARATE = (
    "give several trajectories as lists, [X1, X2] and [t1, t2], or name the column that tells them apart: "
    "trajectory='NAME' (command line: --trajectory NAME)"
)


def check_size(name: str, largest: float) -> None:
    """Raise if the largest magnitude of a column is beyond what can be computed with."""
    if largest > LARGEST or 0.0 < largest < SMALLEST:
        size = "large" if largest > 1.0 else "small"
        raise DataError(
            f"the values of {name!r} reach {largest:.3g}, which is too {size} to compute with; give them in "
            "another unit, so that they are near 1"
        )
