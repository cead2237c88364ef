"""Small compiled functions, and calls of them for `compile_missing`."""

from odefinder.compiling.jit import compiled


@compiled
def doubled(x: float) -> float:
    return 2.0 * x


@compiled
def doubled_often(x: float, times: int) -> float:
    for _ in range(times):
        x = doubled(x)
    return x


@compiled
def halved(x: float) -> float:
    return 0.5 * x


def call_doubled_often() -> None:
    assert doubled_often(1.0, 3) == 8.0


def call_halved() -> None:
    assert halved(1.0) == 0.5
