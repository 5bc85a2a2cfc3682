r"""Symmetric nonnegative factorization: the nearest :math:`B B^T`, and how near any can be.

(D. Kuang, S. Yun and H. Park, "SymNMF: nonnegative low-rank approximation of a similarity matrix
for graph clustering", Journal of Global Optimization 62, 2015.)
"""

from __future__ import annotations

import numpy as np

from sdpdr.base.arrays import Array
from sdpdr.base.deadline import ENDLESS, Deadline
from sdpdr.families.factor.nonnegative.least_squares import fit_square

# Rounding errors of eigenvalues, for every row of a matrix, relative to its norm.
_ROUNDINGS = 4.0


def best_square(
    A: Array,
    k: int,
    starts: int,
    seed: int,
    *,
    size: float,
    tol: float = 0.0,
    deadline: Deadline = ENDLESS,
) -> tuple[Array, float]:
    r"""The nearest :math:`B B^T`, B >= 0 with k columns, of local searches, and its residual.

    They begin at random factors with entries up to ``size``, and end with a residual up to ``tol``.
    """
    best, least = np.zeros((len(A), k)), 1.0
    rng = np.random.default_rng([seed, k])
    for _ in range(starts):
        if least <= tol or deadline.is_over():
            break
        B = fit_square(A, size * rng.random((len(A), k)), deadline=deadline)
        if (residual := square_residual(A, B)) < least:
            best, least = B, residual
    return best, least


def square_residual(A: Array, B: Array) -> float:
    r"""The distance :math:`|A - B B^T|_F / |A|_F`."""
    return float(np.linalg.norm(A - B @ B.T) / np.linalg.norm(A))


def eigenvalue_bound(A: Array, k: int) -> float:
    r"""A lower bound on the residual of every :math:`B B^T` with k columns, by Eckart and Young."""
    values = np.linalg.eigvalsh(A)
    values[len(A) - k :] = np.minimum(values[len(A) - k :], 0.0)
    rounding = _ROUNDINGS * len(A) * np.finfo(float).eps
    return float(max(np.linalg.norm(values) / np.linalg.norm(A) - rounding, 0.0))
