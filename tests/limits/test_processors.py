"""Threads of linear algebra."""

import numpy as np
from threadpoolctl import threadpool_info

from odefinder.limits.processors import linear_algebra


def threads() -> list[int]:
    return [one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"]


def test_linear_algebra_is_limited_inside_only() -> None:
    np.linalg.eigh(np.eye(3))  # its library is loaded
    before = threads()
    with linear_algebra(1):
        assert set(threads()) == {1}
    assert threads() == before
