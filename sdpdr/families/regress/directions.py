"""How many directions a linear map keeps where none says, and directions of length one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd
import scipy.sparse as sp
from sklearn.neighbors import NearestNeighbors

from sdpdr.base.arrays import Array, Index, Matrix
from sdpdr.families.regress.ridge import CenteredData

# Directions among which is chosen, at most, and their numbers; beyond them it is all or none. At
# 200 000 columns 64 directions took half of the memory that the data would take if dense.
_TRIED = 64
_NUMBERS = 10**6
# Samples by which the number is chosen, at most.
SAMPLES = 2000
# Numbers of all components that span the data, at most.
_ENTRIES = 10**7
# Share of its length that a direction has outside of those before it, or it adds none.
SPREAD = 1e-9
# Of the largest singular value; smaller ones may be rounding.
_RANK = 3e-7
# Share of the largest eigenvalue within which two are equal: an eigenvector is known to rounding
# over their difference.
_EQUAL = 1e-6


def orthonormal(directions: Array) -> tuple[Array, np.ndarray]:
    """Rows made orthonormal one by one, and which they are: those that the others do not span.

    Examples
    --------
    >>> orthonormal(np.array([[2.0, 0.0], [1.0, 0.0], [1.0, 1.0]]))
    (array([[1., 0.],
           [0., 1.]]), array([ True, False,  True]))
    """
    basis = np.empty_like(directions, dtype=float)
    kept = np.zeros(len(directions), dtype=bool)
    d = 0
    for k, row in enumerate(directions):
        rest = row
        for _ in range(2):  # what is left of a long row is not orthogonal to the last digit
            rest = rest - (basis[:d] @ rest) @ basis[:d]
        length = np.linalg.norm(rest)
        if length > SPREAD * np.linalg.norm(row):
            basis[d], kept[k] = rest / length, True
            d += 1
    return basis[:d], kept


def most_tried(shape: tuple[int, ...], least: int) -> int:
    """How many directions are solved for, of data of this shape."""
    n, m = shape
    return min(max(min(_TRIED, _NUMBERS // m), least), n - 1, m)


def spans_quickly(X: Matrix) -> bool:
    """Whether all directions of the data are few enough numbers to be kept."""
    return bool(min(X.shape) * X.shape[1] <= _ENTRIES)


def completed(basis: Array, X: Matrix) -> Array:
    """Orthonormal rows, and after them all others that the data spread along, widest first.

    Distances among the data are kept then. Of another point, what is lost is how far it lies from
    their span, which is the same for all of them.
    """
    mean = np.asarray(X.mean(axis=0)).ravel()
    data = CenteredData.about(X, mean).moved()
    squares, vectors = data.eigenvectors()
    # Rows with the inner products of the columns of the data.
    columns = data.transposed_times(vectors) if data.is_wide else vectors * np.sqrt(squares)
    rows = columns.T
    rest = rows - (rows @ basis.T) @ basis
    s, others = np.linalg.svd(rest, full_matrices=False)[1:]
    return np.vstack([basis, others[s > _RANK * np.sqrt(squares[-1])]])


def some_of_each(y: np.ndarray, most: int, seed: int) -> Index:
    """Samples drawn at random, two of every class at least; all of them where those are few."""
    if y.size <= most:
        return np.arange(y.size)
    drawn = np.random.default_rng(seed).permutation(y.size)
    place = pd.Series(y[drawn]).groupby(y[drawn]).cumcount().to_numpy()
    first = np.argsort(place >= 2, kind="stable")
    return np.sort(drawn[first[: max(most, int(np.sum(place < 2)))]])


@dataclass(frozen=True, eq=False)
class NumberChoice:
    """How many directions tell classes by the nearest neighbour.

    Attributes
    ----------
    number : int
    tried : tuple of (number, share)
        Shares of samples whose nearest other one is of their class.
    """

    number: int
    tried: tuple[tuple[int, float], ...]


def choose_number(
    places: Array,
    y: np.ndarray,
    everything: tuple[Matrix, int] | None = None,
    eigenvalues: Array | None = None,
) -> NumberChoice:
    """The largest number of leading columns that tells classes as well as any other does.

    Numbers are powers of two, all columns, and all that there is to the data. A number tells as
    well as that which tells most samples left out, unless it tells fewer by more than the standard
    error of the difference, sample by sample.

    Parameters
    ----------
    places : array of shape (n, d)
    y : array_like of shape (n,)
    everything : tuple of array or sparse array of shape (n, m), and int, optional
        Data of which the columns are a part, and how many directions they have, no fewer than d.
    eigenvalues : array of shape (d,), optional
        Of the columns. Those of equal ones are taken together: any turn of them is as good, so that
        a part of them would depend on the order of samples and the unit of the data.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y = np.arange(100) % 2
    >>> choose_number(np.column_stack([5.0 * y, 9.0 * rng.standard_normal((100, 3))]), y).number
    1
    """
    ends = np.arange(1, places.shape[1] + 1) if eigenvalues is None else _ends(eigenvalues)
    right = {d: _told(part, y) for d, part in _numbers(places, everything, ends)}
    best = max(right, key=lambda d: (right[d].mean(), d))
    lost = {d: right[best].astype(float) - told for d, told in right.items()}
    as_good = [d for d, x in lost.items() if x.mean() <= x.std() / np.sqrt(y.size)]
    return NumberChoice(max(as_good), tuple((d, float(told.mean())) for d, told in right.items()))


def _ends(eigenvalues: Array) -> Index:
    """Numbers of leading eigenvalues that part no equal ones.

    Examples
    --------
    >>> _ends(np.array([1.0, 1.0, 0.5, 0.2, 0.2]))
    array([2, 3, 5])
    """
    apart = np.abs(np.diff(eigenvalues)) > _EQUAL * np.max(np.abs(eigenvalues))
    return np.append(np.flatnonzero(apart) + 1, len(eigenvalues))


def _numbers(
    places: Array, everything: tuple[Matrix, int] | None, ends: Index
) -> Iterator[tuple[int, Matrix]]:
    """Numbers that are tried, ascending, and the columns that they stand for."""
    d, most = int(ends[0]), places.shape[1]
    while d < most:
        yield d, places[:, :d]
        d = int(ends[np.searchsorted(ends, min(2 * d, most))])
    if everything is None or everything[1] > most:
        yield most, places
    if everything is not None:
        yield everything[1], everything[0]


def _told(places: Matrix, y: np.ndarray) -> np.ndarray:
    """Of which samples the nearest other one is of their class."""
    way = "brute" if sp.issparse(places) else "auto"
    near = NearestNeighbors(n_neighbors=1, algorithm=way).fit(places)
    return np.asarray(y[near.kneighbors(return_distance=False)[:, 0]] == y)
