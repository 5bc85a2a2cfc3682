r"""Symmetric nonnegative factorization: the nearest :math:`B B^T`, and how near any can be."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array
from sdpdr.base.errors import DataError
from sdpdr.base.keywords import checks_keywords
from sdpdr.families.factor.nonnegative.inputs import symmetric_matrix
from sdpdr.families.factor.nonnegative.least_squares import fit_square

# Rounding errors of eigenvalues, for every row of a matrix, relative to its norm.
_ROUNDINGS = 4.0


@dataclass(frozen=True, eq=False)
class SymmetricNMF:
    """A nonnegative factor, and how much better another might fit.

    Attributes
    ----------
    factor : array of shape (n, k)
        B, columns by decreasing length.
    residual : float
        :math:`|A - B B^T|_F / |A|_F`.
    bound : float
        No matrix with k columns, of whatever signs, has a smaller residual.
    """

    factor: Array
    residual: float
    bound: float

    def __repr__(self) -> str:
        k = self.factor.shape[1]
        return f"SymmetricNMF(k={k}: residual {self.residual:.4g}, at least {self.bound:.4g})"


@checks_keywords
def symmetric_nmf(
    X: ArrayLike, n_components: int, *, starts: int = 5, seed: int = 0
) -> SymmetricNMF:
    r"""Fit :math:`B B^T` to a symmetric matrix, :math:`B \ge 0` with k columns.

    .. math:: \min_{B \ge 0} |A - B B^T|_F

    from random starts, by a quasi-Newton method with bounds. The minimum found is local. It is
    proved that no B with k columns has a smaller error than the square root of the sum of squares
    of the eigenvalues other than the k largest positive ones.
    Unlike `sdpdr.factorize.completely_positive` this takes any k and any symmetric A. If A is an
    affinity, rows of B are soft memberships in k clusters.

    Parameters
    ----------
    X : array_like of shape (n, n)
        A.
    n_components : int
        k, from 1 to n.
    starts : int, default 5
    seed : int, default 0

    Returns
    -------
    SymmetricNMF

    Raises
    ------
    DataError
        A is not square, not symmetric or not finite, or k is out of range.

    References
    ----------
    D. Kuang, S. Yun and H. Park, "SymNMF: nonnegative low-rank approximation of a similarity matrix
    for graph clustering", Journal of Global Optimization 62, 2015.

    Examples
    --------
    >>> import numpy as np
    >>> from sdpdr.nonnegative import symmetric_nmf
    >>> A = np.array([[1.0, 0.9, 0.1], [0.9, 1.0, 0.0], [0.1, 0.0, 1.0]])
    >>> symmetric_nmf(A, 2)
    SymmetricNMF(k=2: residual 0.04398, at least 0.04385)
    """
    A = symmetric_matrix(X)
    n, k = len(A), validate.positive_integer("n_components", n_components)
    if k > n:
        raise DataError(f"n_components={k} is out of range: X has order {n}. Pass 1 to {n}.")
    rng, mean = np.random.default_rng(seed), float(np.mean(np.maximum(A, 0.0)))
    ends = [
        fit_square(A, 2.0 * np.sqrt(mean / k) * rng.random((n, k)))
        for _ in range(validate.positive_integer("starts", starts))
    ]
    B = min(ends, key=lambda B: square_residual(A, B))
    B = B[:, np.argsort(-np.linalg.norm(B, axis=0), kind="stable")]
    return SymmetricNMF(B, square_residual(A, B), eigenvalue_bound(A, k))


def square_residual(A: Array, B: Array) -> float:
    r"""The distance :math:`|A - B B^T|_F / |A|_F`."""
    return float(np.linalg.norm(A - B @ B.T) / np.linalg.norm(A))


def eigenvalue_bound(A: Array, k: int) -> float:
    r"""A lower bound on the residual of every :math:`B B^T` with k columns, by Eckart and Young."""
    values = np.linalg.eigvalsh(A)
    values[len(A) - k :] = np.minimum(values[len(A) - k :], 0.0)
    rounding = _ROUNDINGS * len(A) * np.finfo(float).eps
    return float(max(np.linalg.norm(values) / np.linalg.norm(A) - rounding, 0.0))
