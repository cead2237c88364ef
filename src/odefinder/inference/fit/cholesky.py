"""Small systems of linear equations with a positive definite matrix (compiled)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from odefinder.compiling.jit import compiled
from odefinder.limits.alarm import rings

Floats = NDArray[np.float64]


@compiled
def factorise(matrix: Floats) -> bool:
    """A matrix, of which the lower half is read, becomes its Cholesky factor; False if there is none."""
    for i in range(len(matrix)):
        if rings():  # with many parameters this takes long
            return False
        for j in range(i + 1):
            total = matrix[i, j]
            for k in range(j):
                total -= matrix[i, k] * matrix[j, k]
            if i == j:
                if not total > 0.0:
                    return False
                matrix[i, i] = np.sqrt(total)
            else:
                matrix[i, j] = total / matrix[j, j]
    return True


@compiled
def forward(factor: Floats, right: Floats) -> None:
    """right (n, m) becomes the solution of L y = right."""
    for i in range(len(factor)):
        for c in range(right.shape[1]):
            total = right[i, c]
            for k in range(i):
                total -= factor[i, k] * right[k, c]
            right[i, c] = total / factor[i, i]


@compiled
def backward(factor: Floats, right: Floats) -> None:
    """right (n,) becomes the solution of L' x = right."""
    for i in range(len(factor) - 1, -1, -1):
        total = right[i]
        for k in range(i + 1, len(factor)):
            total -= factor[k, i] * right[k]
        right[i] = total / factor[i, i]
