r"""Which equations follow from others: exactly, without rounding.

A pivoted factorization guesses weights with which a row is a sum of others. Weights with small
denominators are read off it as fractions. With rows in powers of two, and columns in such that all
of their numbers are integers, the sum is exact in doubles while it stays below :math:`2^{53}`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

import numpy as np
import scipy.linalg as sl
import scipy.sparse as sp
from numpy.typing import NDArray

from sdpdr.base.arrays import Array, Index
from sdpdr.linalg.rounding import near_powers

# Relative size of what is new in a row, below which it is to follow from others.
_DEPENDENT = 1e-7
# Denominators of weights with which one row may be a sum of others.
_DENOMINATOR = 1000
# How near a guess is to its fraction, and terms of continued fractions that come so near.
_OFF, _CONVERGENTS = 1e-8, 20
# Rows that rational elimination, which is slow, is tried on.
_RATIONAL = 30
# Integers below which sums of doubles are exact, digits of a double, and more than its exponents.
_EXACT, _DIGITS, _RANGE = 2.0**53, 53, 4096


@dataclass(frozen=True, eq=False)
class Sums:
    """Rows of E y = f that are sums of others, but for rounding.

    Attributes
    ----------
    rows : sparse array of shape (m, n + 1)
        Those of E, and last f, in powers of two.
    basis, rest : arrays of int
        Rows that others follow from, and those others.
    weights : array of shape (rest, basis)
        Of the rows in powers of two.
    units : array of shape (m,)
        The powers.
    """

    rows: sp.csr_array
    basis: Index
    rest: Index
    weights: Array
    units: Array

    def are_exact(self) -> NDArray[np.bool_]:
        """Which rows are shown to be sums of others, right sides as well: without rounding."""
        return np.asarray(_are_sums(self.rows, self.basis, self.rest, self.weights), dtype=bool)

    def remainder(self, row: int) -> dict[int, Fraction] | None:
        """What rational elimination leaves of a row, places and numbers; None with many rows."""
        return (
            None
            if self.basis.size > _RATIONAL
            else _eliminated(_terms(self.rows[[row]]), self._pivots)
        )

    @cached_property
    def _pivots(self) -> list[tuple[int, dict[int, Fraction]]]:
        return _pivots_of(self.rows[self.basis])


def nearly_dependent(E: sp.csr_array, f: Array, D: Array) -> Sums:
    """Rows that are sums of others to seven digits (parameters as for `independent_rows`).

    Right sides have no say in it.

    Examples
    --------
    >>> E = sp.csr_array([[1.0, 2.0], [3.0, 6.0]])
    >>> sums = nearly_dependent(E, np.array([1.0, 3.0]), np.ones(2))
    >>> sums.rest.size, sums.are_exact().tolist()
    (1, [True])
    """
    weighed = sp.csr_array(E @ sp.diags_array(np.sqrt(D)))
    sizes = np.sqrt(np.asarray(weighed.multiply(weighed).sum(axis=1)).ravel())
    M = (sp.diags_array(1.0 / sizes) @ weighed).toarray()
    R, order = sl.qr(M.T, mode="r", pivoting=True, check_finite=False)
    rank = int(np.sum(np.abs(np.diag(R)) > _DEPENDENT))
    basis, rest = order[:rank], order[rank:]
    # Rows in powers of two have sizes between one and two, and weights are those of such rows.
    near = near_powers(sizes)
    given = sp.csr_array(sp.hstack([E, sp.csr_array(f[:, None])]))
    both = sp.csr_array(sp.diags_array(1.0 / near) @ given)
    weights = sl.solve_triangular(R[:rank, :rank], R[:rank, rank:], check_finite=False).T
    weights *= (sizes / near)[rest][:, None] / (sizes / near)[basis]
    return Sums(both, basis, rest, weights, near)


def independent_rows(E: sp.csr_array, f: Array, D: Array, exact: NDArray[np.bool_]) -> Index | None:
    """Rows of E y = f that all others follow from; None where that is not shown.

    Parameters
    ----------
    E : sparse array of shape (m, n)
        Without rows of zeros.
    f : array of shape (m,)
    D : array of shape (n,)
        Squared sizes of unknowns, in which rows are compared.
    exact : array of bool, shape (m,)
        Rows whose numbers are not rounded; only those follow from others, and from those.

    Examples
    --------
    >>> E = sp.csr_array([[1.0, 2.0], [3.0, 6.0]])
    >>> independent_rows(E, np.array([1.0, 3.0]), np.ones(2), np.ones(2, dtype=bool)).size
    1
    >>> independent_rows(E, np.array([1.0, 4.0]), np.ones(2), np.ones(2, dtype=bool)) is None
    True
    """
    sums = nearly_dependent(E, f, D)
    both, basis, rest, near = sums.rows, sums.basis, sums.rest, sums.units
    given = sp.csr_array(sp.hstack([E, sp.csr_array(f[:, None])]))
    # What underflows is no longer the same.
    exact = exact & (_largest(sp.diags_array(near) @ both - given) == 0.0)
    if not np.all(exact[rest]):
        return None
    known = replace(sums, weights=np.where(exact[basis], sums.weights, 0.0)).are_exact()
    if not np.all(known):
        others = basis[exact[basis]]
        if others.size > _RATIONAL or not _are_eliminated(both[others], both[rest[~known]]):
            return None
    return np.sort(basis)


def _are_sums(both: sp.csr_array, basis: Index, rest: Index, weights: Array) -> Index:
    """Which rows are sums of others with weights of small denominators, as guessed."""
    integers = _in_integers(both)
    places = np.nonzero(np.abs(weights) > 0.5 / _DENOMINATOR)
    above, below = _small_fractions(weights[places])
    common = np.ones(rest.size, dtype=np.int64)
    np.lcm.at(common, places[0], below.astype(np.int64))
    above = above * (common[places[0]] / below)
    # What is no integer, where common denominators overflow, is as good as none.
    above[above != np.rint(above)] = np.inf
    sums = sp.csr_array((above, places), shape=(rest.size, basis.size))
    found, given = integers[basis], sp.diags_array(common.astype(float)) @ integers[rest]
    size = abs(sums) @ abs(found) + abs(given)
    is_exact = _largest(size) < _EXACT
    return np.asarray(is_exact & (_largest(sums @ found - given) == 0.0) & (common > 0))


def _small_fractions(numbers: Array) -> tuple[Array, Array]:
    """Numerators and denominators next to numbers, by continued fractions; else infinite ones."""
    above, below = np.ones((2, numbers.size)), np.zeros((2, numbers.size))
    above[1], below[1] = 0.0, 1.0
    rest, size = numbers, np.maximum(np.abs(numbers), 1.0)
    for _ in range(_CONVERGENTS):
        off = np.abs(above[0] - numbers * below[0])
        is_open = off > _OFF * size * below[0]
        is_open |= below[0] == 0.0
        whole = np.floor(rest)
        for part in (above, below):
            part[:] = np.where(is_open, (whole * part[0] + part[1], part[0]), part)
        rest = 1.0 / np.maximum(rest - whole, _OFF**2)
    is_near = np.abs(above[0] - numbers * below[0]) <= _OFF * size * below[0]
    is_small = (below[0] > 0.0) & (below[0] <= _DENOMINATOR)
    return np.where(is_near & is_small, above[0], np.inf), np.where(is_small, below[0], 1.0)


def _in_integers(matrix: sp.csr_array) -> sp.csr_array:
    """Columns in powers of two, such that all numbers are integers."""
    mantissa, exponent = np.frexp(matrix.data)
    whole = np.ldexp(mantissa, _DIGITS).astype(np.int64)
    # The last bit that is set.
    last = exponent - _DIGITS + np.log2(np.maximum(whole & -whole, 1).astype(float)).astype(int)
    units = np.full(matrix.shape[1], -_RANGE)
    np.maximum.at(units, matrix.indices[whole != 0], -last[whole != 0])
    data = np.ldexp(matrix.data, units[matrix.indices])
    return sp.csr_array((data, matrix.indices, matrix.indptr), shape=matrix.shape)


def _largest(matrix: sp.csr_array) -> Array:
    """The largest number of each row; infinite where there is none that is finite."""
    found = np.zeros(matrix.shape[0])
    np.maximum.at(found, matrix.tocoo().row, np.abs(matrix.data))
    return np.where(np.isnan(found), np.inf, found)


def _terms(row: sp.csr_array) -> dict[int, Fraction]:
    pairs = zip(row.indices, row.data, strict=True)
    return {int(place): Fraction(float(value)) for place, value in pairs if value}


def _are_eliminated(basis: sp.csr_array, rest: sp.csr_array) -> bool:
    """Whether rows follow from a basis, by rational elimination.

    The last column is of right sides, in which no row has a pivot.
    """
    pivots = _pivots_of(basis)
    return not any(_eliminated(_terms(rest[[k]]), pivots) for k in range(rest.shape[0]))


def _pivots_of(basis: sp.csr_array) -> list[tuple[int, dict[int, Fraction]]]:
    """Rows of a basis, each without the pivots of those before it, and its own pivot."""
    right, pivots = basis.shape[1] - 1, list[tuple[int, dict[int, Fraction]]]()
    for k in range(basis.shape[0]):
        line = _eliminated(_terms(basis[[k]]), pivots)
        places = [place for place in line if place != right]
        if places:
            pivots.append((max(places, key=lambda j: abs(line[j])), line))
    return pivots


def _eliminated(
    line: dict[int, Fraction], pivots: Sequence[tuple[int, dict[int, Fraction]]]
) -> dict[int, Fraction]:
    """What is left of a row once others, in turn, have made their pivots zero."""
    for at, other in pivots:
        if line.get(at):
            share = line[at] / other[at]
            for place, value in other.items():
                line[place] = line.get(place, Fraction(0)) - share * value
    return {place: value for place, value in line.items() if value}
