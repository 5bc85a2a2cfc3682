"""What a metric is worth: its components, its objective, and a bound on the optimum."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sdpdr.linalg.svec import Array

# Share of the trace, in whitened coordinates, up to which a direction is rounding. A pair along
# such a direction has at most the root of it as its distance, so leaving it out costs 1e-6 at most.
RANK_TOLERANCE = 1e-12


@dataclass(frozen=True, eq=False)
class MetricAnswer:
    r"""A metric with its objective and a bound on the least objective possible.

    Attributes
    ----------
    components : array of shape (k, n)
        L with :math:`A = L^T L`; rows by falling length, orthogonal, signs such that the entry of
        largest size is positive.
    value : float
        The objective of this metric, which is feasible.
    bound : float
        No feasible metric has a smaller objective.
    argument : str
        Why the bound holds.
    iterations : int
        0 for closed forms.
    unique : bool
        False where other metrics are known to be as good.
    scale : float
        Size beside which a value counts as zero in the gap.

    Examples
    --------
    >>> answer = MetricAnswer(np.array([[2.0, 0.0]]), 3.0, 2.0, "an example")
    >>> answer.matrix
    array([[4., 0.],
           [0., 0.]])
    >>> answer.gap
    0.5
    """

    components: Array
    value: float
    bound: float
    argument: str
    iterations: int = 0
    unique: bool = True
    scale: float = 0.0

    @property
    def matrix(self) -> Array:
        """The Mahalanobis matrix A."""
        return np.asarray(self.components.T @ self.components)

    @property
    def gap(self) -> float:
        """``(value - bound) / |bound|``, the largest relative suboptimality possible."""
        return (self.value - self.bound) / max(abs(self.bound), self.scale, 1e-300)


def components_of(factor: Array) -> Array:
    r"""Orthogonal components L, the longest first, with :math:`L^T L = F F^T`.

    Parameters
    ----------
    factor : array of shape (n, k)
        F, of full rank.

    Returns
    -------
    array of shape (k, n)
    """
    vectors, sizes, _ = np.linalg.svd(factor, full_matrices=False)
    return oriented((vectors * sizes).T)


def oriented(rows: Array) -> Array:
    """Components with the sign that makes the largest entry of each positive."""
    if not rows.size:
        return rows
    largest = np.take_along_axis(rows, np.argmax(np.abs(rows), axis=1)[:, None], axis=1)
    return np.asarray(rows * np.where(largest < 0.0, -1.0, 1.0))


def trimmed(factor: Array, share: float = RANK_TOLERANCE) -> Array:
    """F of full rank with F F^T unchanged but for eigenvalues below a share of the trace."""
    vectors, sizes, _ = np.linalg.svd(factor, full_matrices=False)
    kept = np.square(sizes) > share * np.sum(np.square(sizes))
    return np.asarray(vectors[:, kept] * sizes[kept])


def factor_of(matrix: Array) -> Array:
    """F with A = F F^T for a symmetric matrix, negative eigenvalues left out."""
    values, vectors = np.linalg.eigh(matrix)
    return np.asarray(vectors * np.sqrt(values.clip(0.0)))
