r"""Matrices of squared distances as Gram matrices.

A symmetric matrix D with a zero diagonal holds the squared distances of some points if and only if
:math:`x^T D x \le 0` for all x orthogonal to the ones (Schoenberg 1935).
"""

from __future__ import annotations

import numpy as np

from sdpdr.base.arrays import Array


def about_centre(lengths: Array, weights: Array) -> Array:
    """The Gram matrix of points with these squared distances and weighted mean zero."""
    weights = weights / weights.sum()
    mean = lengths @ weights
    return np.asarray(-0.5 * (lengths - mean[:, None] - mean[None, :] + weights @ mean))
