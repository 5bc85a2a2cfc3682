r"""The search for an orthogonal matrix that makes a factor non-negative, to compare with."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array
from sdpdr.base.errors import DataError
from sdpdr.families.factor.nonnegative.symmetric import numerical_rank, symmetric_matrix
from sdpdr.families.factor.nonnegative.symmetric_nmf import square_residual


@dataclass(frozen=True, eq=False)
class Rotated:
    """What the search found.

    Attributes
    ----------
    factor : array of shape (n, k)
        L Q, its negative entries replaced by zero.
    residual : float
        :math:`|A - B B^T|_F / |A|_F` of it.
    steps : int
        Projections in the last start.
    starts : int
        Starts taken.
    """

    factor: Array
    residual: float
    steps: int
    starts: int


def rotated_factor(
    X: Array,
    n_components: int,
    *,
    starts: int = 1,
    seed: int = 0,
    max_iter: int = 5000,
    tol: float = 1e-10,
) -> Rotated:
    r"""Groetzner and Dur's search: :math:`A = L L^T`, find an orthogonal Q with :math:`L Q \ge 0`.

    Alternating projections onto the orthogonal matrices, and approximately onto the polyhedron
    :math:`\{Q : L Q \ge 0\}` by :math:`Q + L^+ (\max(L Q, 0) - L Q)`. A local method without
    semidefinite programs; `sdpdr.factorize.completely_positive` is held against it.

    Parameters
    ----------
    X : array_like of shape (n, n)
        A.
    n_components : int
        k, at least the rank of A.
    starts : int, default 1
        Orthogonal matrices drawn at random to begin with, at most.
    seed : int, default 0
    max_iter : int, default 5000
        Projections in each start.
    tol : float, default 1e-10
        Entries above minus this, relative to the root of the largest entry of A, end the search.

    Raises
    ------
    DataError
        As `symmetric_matrix`, or k is below the rank.

    References
    ----------
    P. Groetzner and M. Dur, "A factorization method for completely positive matrices", Linear
    Algebra and its Applications 591, 2020, the variant with approximate projections.

    Examples
    --------
    >>> B = np.array([[1.0, 0.0], [2.0, 1.0], [0.0, 3.0]])
    >>> rotated_factor(B @ B.T, 2, starts=3).residual < 1e-8
    True
    """
    A = symmetric_matrix(X)
    k, rank = validate.positive_integer("n_components", n_components), numerical_rank(A)
    if k < rank:
        raise DataError(f"n_components={k} is below the rank of X, which is {rank}.")
    values, vectors = np.linalg.eigh(A)
    n, r = len(A), min(k, len(A))
    L = np.zeros((n, k))
    L[:, :r] = vectors[:, n - r :] * np.sqrt(np.maximum(values[n - r :], 0.0))
    inverse, least = (
        np.asarray(np.linalg.pinv(L, rcond=1e-8)),
        -tol * float(np.sqrt(np.max(np.abs(A)))),
    )
    rng, best = np.random.default_rng(seed), None
    for start in range(1, validate.positive_integer("starts", starts) + 1):
        turned, steps = _search(L, inverse, least, max_iter, rng)
        factor = np.maximum(turned, 0.0)
        found = Rotated(factor, square_residual(A, factor), steps, start)
        best = found if best is None or found.residual < best.residual else best
        if np.min(turned) >= least:
            break
    assert best is not None
    return best


def _search(
    L: Array, inverse: Array, least: float, max_iter: int, rng: np.random.Generator
) -> tuple[Array, int]:
    k = L.shape[1]
    Q = np.linalg.qr(rng.standard_normal((k, k)))[0]
    for step in range(max_iter):
        turned = L @ Q
        if np.min(turned) >= least:
            return turned, step
        left, _, right = np.linalg.svd(Q + inverse @ (np.maximum(turned, 0.0) - turned))
        Q = left @ right
    return L @ Q, max_iter
