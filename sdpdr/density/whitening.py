"""Points in coordinates of their own: mean zero, covariance the identity, no idle directions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from sdpdr.errors import DataError
from sdpdr.graphs import validate
from sdpdr.linalg.svec import Array

# Singular values below this share of the largest are rounding.
_RANK = 1e-9


@dataclass(frozen=True, eq=False)
class Whitening:
    r"""The change of coordinates :math:`x = \bar x + B S y` that makes points white.

    Attributes
    ----------
    points : array of shape (k, r)
        The y, with :math:`\sum_i y_i = 0` and :math:`\sum_i y_i y_i^T = k I`.
    mean : array of shape (D,)
    basis : array of shape (D, r)
        B, orthonormal columns.
    scale : array of shape (r,)
        S, descending.
    """

    points: Array
    mean: Array
    basis: Array
    scale: Array

    @property
    def rank(self) -> int:
        """Dimension of the flat that the points span."""
        return int(self.scale.size)


def whiten(X: ArrayLike, dimension: int | None = None) -> Whitening:
    """White coordinates of points.

    Parameters
    ----------
    X : array_like of shape (k, D)
    dimension : int, optional
        Keep only the directions of largest spread, this many. Default: all that the points span.

    Raises
    ------
    DataError
        The points are not finite, all equal, or span fewer dimensions than asked for.

    Examples
    --------
    >>> whiten([[0.0, 0.0], [1.0, 1.0], [3.0, 3.0]]).rank
    1
    """
    points = validate.points(X, at_least=2)
    mean = points.mean(axis=0)
    left, sizes, right = np.linalg.svd(points - mean, full_matrices=False)
    rank = int(np.sum(sizes > _RANK * sizes[0]))
    if dimension is not None:
        dimension = validate.positive_integer("dimension", dimension)
        if rank < dimension:
            raise DataError(
                f"the {len(points)} points lie in a flat of {rank} dimension"
                f"{'s' if rank != 1 else ''}, and have no volume in {dimension}. Ask for "
                f"dimension={rank} or less, or give more points."
            )
        rank = dimension
    root = np.sqrt(len(points))
    return Whitening(root * left[:, :rank], mean, right[:rank].T, sizes[:rank] / root)
