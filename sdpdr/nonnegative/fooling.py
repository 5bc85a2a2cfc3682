"""Fooling sets: places that no two of which one non-negative component can serve."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from numpy.typing import ArrayLike

from sdpdr.linalg.svec import Index
from sdpdr.nonnegative.inputs import nonnegative_matrix

Flags: TypeAlias = npt.NDArray[np.bool_]


def fooling_set(X: ArrayLike) -> Index:
    r"""Places (i, j) with :math:`V_{ij} > 0` of which no two lie in one positive rectangle.

    For any two of them :math:`V_{ij'} V_{i'j} = 0`. A component :math:`w h^T \le V` that were
    positive at both would be positive at (i, j') and (i', j) too, so each place needs a component
    of its own: their number is a lower bound on the non-negative rank, which depends on the zeros
    alone. The set is grown greedily from every place in turn; a larger one may exist.

    Parameters
    ----------
    X : array_like of shape (N, m)
        Not negative.

    Returns
    -------
    ndarray of int, shape (p, 2)

    References
    ----------
    Fiorini, Kaibel, Pashkovich and Theis, "Combinatorial bounds on nonnegative rank and extended
    formulations", Discrete Mathematics 313, 2013.

    Examples
    --------
    >>> fooling_set([[1, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 1], [0, 0, 1, 1]]).shape
    (4, 2)
    >>> len(fooling_set([[1.0, 2.0], [3.0, 4.0]]))
    1
    """
    V = nonnegative_matrix(X) > 0.0
    places = np.argwhere(V)
    # Those in sparse rows and columns are in conflict with the fewest others.
    crowd = V.sum(axis=1)[places[:, 0]] + V.sum(axis=0)[places[:, 1]]
    places = places[np.argsort(crowd, kind="stable")]
    found = [_grown(V, places, seed) for seed in range(len(places))]
    return np.asarray(places[max(found, key=len)])


def _grown(V: Flags, places: Index, seed: int) -> list[int]:
    """The set that holds one place and, in order, every other that goes with those before it."""
    free = _apart(V, places, seed)
    chosen = [seed]
    while free.any():
        chosen.append(int(np.argmax(free)))
        free &= _apart(V, places, chosen[-1])
    return chosen


def _apart(V: Flags, places: Index, at: int) -> Flags:
    """Which places share no positive rectangle with one of them."""
    i, j = places[at]
    return ~(V[i, places[:, 1]] & V[places[:, 0], j])
