"""A learned metric with its value and bound, and factors of its matrix."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sdpdr.base.arrays import Array

# Eigenvalues below this share of the trace are rounding. The distance of a pair along such a
# direction is at most the square root of it, so dropping the direction costs 1e-6 at most.
RANK_TOLERANCE = 1e-12


@dataclass(frozen=True, eq=False)
class MetricAnswer:
    r"""A metric with its objective and a lower bound on the objective of every feasible metric.

    Attributes
    ----------
    components : array of shape (k, n)
        L with :math:`A = L^T L`; orthogonal rows, the longest first, with the entry of largest
        absolute value positive.
    value : float
        The objective of this metric, which is feasible.
    bound : float
        No feasible metric has a smaller objective.
    argument : str
        Why the bound holds.
    iterations : int
        0 for closed forms.
    unique : bool
        False if other metrics are known to be as good.
    scale : float
        Size relative to which a value counts as zero in the gap.

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


def trimmed(factor: Array) -> Array:
    """F of full rank with F F^T unchanged except for eigenvalues that are rounding."""
    vectors, sizes, _ = np.linalg.svd(factor, full_matrices=False)
    kept = np.square(sizes) > RANK_TOLERANCE * np.sum(np.square(sizes))
    return np.asarray(vectors[:, kept] * sizes[kept])
