r"""Matrices of squared distances, some of which must be the same number.

A symmetric matrix D with a zero diagonal holds the squared distances of some points if and only if
:math:`x^T D x \le 0` for all x orthogonal to the ones (Schoenberg 1935). Their Gram matrix about
the centre with weights u is

.. math::  K = -\tfrac12 P D P^T, \qquad P = I - \mathbf 1 u^T / (u^T \mathbf 1).

Distances that are stored as one number are the same exactly, whatever rounding makes of K. All
distances raised by one number stay the same where they were: those of a regular simplex are added,
which lifts every eigenvalue by half of it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from sdpdr.base.arrays import Array, Index
from sdpdr.linalg.rounding import UNIT, gamma
from sdpdr.linalg.verified import is_verified_positive
from sdpdr.linalg.walks import connected_components

# How often distances are raised, and how many times as far above rounding each time.
_TRIES, _MORE = 6, 10.0


@dataclass(frozen=True, eq=False)
class Alike:
    """Which points coincide, and which pairs of the others are equally far apart."""

    place: Index
    kind: Index

    @classmethod
    def of(cls, n: int, zero: Index, before: Index, after: Index) -> Alike:
        """From pairs of points that coincide, and pairs as far apart as others."""
        while True:
            place = _parts(n, zero)
            p = int(place.max(initial=-1)) + 1
            keys = [_keys(place, p, pairs) for pairs in (before, after)]
            none = (keys[0] < 0) != (keys[1] < 0)
            if not np.any(none):
                break
            # As far apart as a point from itself.
            zero = np.concatenate([zero, before[none], after[none]])
        known = keys[0] >= 0
        kind = _parts(p * p, np.column_stack([key[known] for key in keys])).reshape(p, p)
        upper = np.triu_indices(p, 1)
        names = np.full((p, p), -1)
        names[upper] = np.unique(kind[upper], return_inverse=True)[1]
        names.T[upper] = names[upper]
        return cls(place, names)

    def evened(self, lengths: Array) -> Array:
        """Squared distances of places, from those of points; every kind at its mean."""
        first = np.unique(self.place, return_index=True)[1]
        between = lengths[np.ix_(first, first)]
        off = self.kind >= 0
        if not off.any():
            return np.zeros(self.kind.shape)
        count = np.bincount(self.kind[off])
        mean = np.bincount(self.kind[off], between[off]) / count
        return np.where(off, mean[self.kind], 0.0)


def lengths_between(gram: Array) -> Array:
    """All squared distances of points with a Gram matrix."""
    diagonal = np.diagonal(gram)
    return np.asarray(diagonal[:, None] + diagonal[None, :] - 2.0 * gram)


def about_centre(lengths: Array, weights: Array) -> Array:
    """The Gram matrix of points with squared distances, whose centre is the origin."""
    weights = weights / weights.sum()
    mean = lengths @ weights
    return np.asarray(-0.5 * (lengths - mean[:, None] - mean[None, :] + weights @ mean))


def raised(lengths: Array) -> Array | None:
    """The distances, all raised by as little as makes them distances of points; None if in vain."""
    n = len(lengths)
    if not np.isfinite(lengths).all():
        return None
    if n < 2:
        return lengths
    # The ones, whose eigenvalue is zero here, stand in no other's way.
    gram = about_centre(lengths, np.ones(n)) + float(np.max(lengths)) / n
    lowest = float(np.linalg.eigvalsh(gram)[0])
    blur = n * UNIT * float(np.max(np.abs(lengths)))
    off = ~np.eye(n, dtype=bool)
    for attempt in range(_TRIES):
        more = max(blur * _MORE**attempt - lowest, 0.0)
        found = np.where(off, lengths + 2.0 * more, 0.0)
        if np.all(found >= 0.0) and _are_of_points(found):
            return found
    return None


def _are_of_points(lengths: Array) -> bool:
    """Whether it is proved that distances are those of points."""
    ones = np.ones((len(lengths), 1))
    mean = lengths.mean(axis=0)
    centre = float(mean.mean())
    gram = -0.5 * (lengths - mean[:, None] - mean[None, :] + centre)
    sizes = lengths + mean[:, None] + mean[None, :] + centre
    return is_verified_positive(gram, float(gamma(6)) * sizes, ones)


def mean_product(cost: Array, lengths: Array, weights: Array) -> tuple[float, float]:
    """The inner product of a matrix with the Gram matrix of points, and a bound on its rounding."""
    n = len(lengths)
    u = weights / weights.sum()
    turned = _centred(_centred(cost, u, -1.0).T, u, -1.0)
    sizes = _centred(_centred(np.abs(cost), u, 1.0).T, u, 1.0)
    value = -0.5 * float(np.sum(turned * lengths))
    return value, float(gamma(n * n + 8 * n + 32)) * float(np.sum(sizes * np.abs(lengths)))


def _centred(matrix: Array, u: Array, sign: float) -> Array:
    """A (I + s 1 u^T)."""
    return np.asarray(matrix + sign * np.outer(matrix.sum(axis=1), u))


def _keys(place: Index, p: int, pairs: Index) -> Index:
    low, high = np.sort(place[pairs], axis=1).T
    return np.where(low == high, -1, low * p + high)


def _parts(n: int, links: Index) -> Index:
    """Number of the connected part of each of n things."""
    joined = csr_array((np.ones(len(links)), tuple(links.T)), shape=(n, n))
    return np.asarray(connected_components(joined)[1], dtype=np.int64)
