r"""Which equations follow from others: exactly, without rounding.

With columns scaled by powers of two, all numbers are integers. A pivoted factorization guesses the
weights with which a row is a sum of others. Weights with small denominators become fractions, and
the sum is exact in doubles while it stays below :math:`2^{53}`.

Other rows are tested modulo primes. With B a block of columns J of the basis, and r a row,

.. math::  \det \begin{pmatrix} B & b_c \\ r_J & r_c \end{pmatrix}
           = \det B\, (r_c - r_J B^{-1} b_c)

is an integer for each other column c, and no larger than the product of the lengths of its rows
(Hadamard). If B is regular modulo primes whose product is larger than twice that bound, and the
bracket vanishes modulo all of them, the bracket is zero.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from math import isqrt

import numpy as np
import scipy.linalg as sl
import scipy.sparse as sp
from numpy.typing import NDArray

from sdpdr.base.arrays import Array, Index, Matrix
from sdpdr.certify.rounding import DIGITS, last_bits
from sdpdr.linalg.rounding import near_powers

# Relative size of the new part of a row, below which the row should follow from others.
_DEPENDENT = 1e-7
# Denominators of weights with which one row may be a sum of others.
_DENOMINATOR = 1000
# Largest distance of a guess from its fraction, and terms of continued fractions.
_OFF, _CONVERGENTS = 1e-8, 20
# Multiplications modulo primes that take a second or two.
_WORK = 5e9
# Integers below which sums of doubles are exact.
_EXACT = 2.0**DIGITS


@dataclass(frozen=True, eq=False)
class Sums:
    """Rows of E y = f that are sums of others, but for rounding.

    Attributes
    ----------
    given, rows : sparse arrays of shape (m, n + 1)
        Rows of E, with f as the last column; and the same, scaled by powers of two.
    basis, rest : arrays of int
        Rows from which the others follow, and the others.
    weights : array of shape (rest, basis)
        Weights of the rows in powers of two.
    units : array of shape (m,)
        The powers.
    """

    given: sp.csr_array
    rows: sp.csr_array
    basis: Index
    rest: Index
    weights: Array
    units: Array

    def follow(self, exact: NDArray[np.bool_]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Which rows are sums of others, with right-hand sides, and for which that is decided.

        Parameters
        ----------
        exact : array of bool, shape (m,)
            Rows that others may follow from.
        """
        weights = np.where(exact[self.basis], self.weights, 0.0)
        found = _are_sums(self.rows, self.basis, self.rest, weights)
        decided, left = found.copy(), np.flatnonzero(~found)
        some = _follow(self.given, self.basis[exact[self.basis]], self.rest[left])
        if some is not None:
            found[left], decided[left] = some, True
        return found, decided

    def follows_from(self, k: int, some: Index, *, sides: bool = True) -> bool:
        """Whether it is shown that one of ``rest`` is a sum of some of the basis alone.

        Parameters
        ----------
        k : int
            Its place in ``rest``.
        some : array of int
            Places in ``basis``.
        sides : bool, default True
            Whether right sides are to be the same sum.
        """
        kept = sp.diags_array(np.append(np.ones(self.n), float(sides)))
        given, rows = sp.csr_array(self.given @ kept), sp.csr_array(self.rows @ kept)
        basis, rest = self.basis[some], self.rest[[k]]
        if np.all(_are_sums(rows, basis, rest, self.weights[[k]][:, some])):
            return True
        found = _follow(given, basis, rest)
        return found is not None and bool(found[0])

    def coefficients_follow(self) -> NDArray[np.bool_]:
        """Which rows are proved to be sums of others, without right-hand sides."""
        bare = sp.csr_array(self.given @ sp.diags_array(np.append(np.ones(self.n), 0.0)))
        found = _follow(bare, self.basis, self.rest)
        return np.zeros(self.rest.size, dtype=bool) if found is None else found

    @property
    def are_same(self) -> NDArray[np.bool_]:
        """Which rows are unchanged by the scaling with powers of two, without underflow."""
        return _largest(sp.diags_array(self.units) @ self.rows - self.given) == 0.0

    @property
    def n(self) -> int:
        """The number of unknowns."""
        return self.given.shape[1] - 1


def nearly_dependent(E: sp.csr_array, f: Array, D: Array) -> Sums:
    """Rows that are sums of others to seven digits (parameters as for `independent_rows`).

    Right-hand sides are ignored.

    Examples
    --------
    >>> E = sp.csr_array([[1.0, 2.0], [3.0, 6.0]])
    >>> sums = nearly_dependent(E, np.array([1.0, 3.0]), np.ones(2))
    >>> sums.rest.size, sums.follow(np.ones(2, dtype=bool))[0].tolist()
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
    return Sums(given, both, basis, rest, weights, near)


def independent_rows(E: sp.csr_array, f: Array, D: Array, exact: NDArray[np.bool_]) -> Index | None:
    """Rows of E y = f from which all others follow, if they are independent; None without proof.

    The caller proves their independence. If all rows are sums of r rows that are chosen without
    sizes, whose weights have small denominators, no r + 1 rows are independent, and any r that are
    have the same span.

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
    sums, plain = nearly_dependent(E, f, D), nearly_dependent(E, f, np.ones(D.size))
    are_exact = plain.basis.size == sums.basis.size and np.all(exact & plain.are_same)
    if are_exact and np.all(_are_sums(plain.rows, plain.basis, plain.rest, plain.weights)):
        return np.sort(sums.basis)
    exact = exact & sums.are_same
    if not np.all(exact[sums.rest]):
        return None
    return np.sort(sums.basis) if np.all(sums.follow(exact)[0]) else None


def _are_sums(both: sp.csr_array, basis: Index, rest: Index, weights: Array) -> NDArray[np.bool_]:
    """Which rows are sums of others with weights of small denominators, as guessed."""
    integers = _in_integers(both)
    places = np.nonzero(np.abs(weights) > 0.5 / _DENOMINATOR)
    above, below = _small_fractions(weights[places])
    common = np.ones(rest.size, dtype=np.int64)
    np.lcm.at(common, places[0], below.astype(np.int64))
    above = above * (common[places[0]] / below)
    # If the common denominator overflows, the product is no integer, and the row is not proved.
    above[above != np.rint(above)] = np.inf
    sums = sp.csr_array((above, places), shape=(rest.size, basis.size))
    found, given = integers[basis], sp.diags_array(common.astype(float)) @ integers[rest]
    size = abs(sums) @ abs(found) + abs(given)
    is_exact = _largest(size) < _EXACT
    is_sum = is_exact & (_largest(sums @ found - given) == 0.0) & (common > 0)
    return np.asarray(is_sum, dtype=bool)


def _small_fractions(numbers: Array) -> tuple[Array, Array]:
    """Numerators and denominators next to numbers, by continued fractions; else infinite ones."""
    above, below = np.ones((2, numbers.size)), np.zeros((2, numbers.size))
    above[1], below[1] = 0.0, 1.0
    rest, size = numbers, np.maximum(np.abs(numbers), 1.0)
    for _ in range(_CONVERGENTS):
        off = np.abs(above[0] - numbers * below[0])
        is_open = off > _OFF * size * below[0]
        whole = np.floor(rest)
        for part in (above, below):
            part[:] = np.where(is_open, (whole * part[0] + part[1], part[0]), part)
        rest = 1.0 / np.maximum(rest - whole, _OFF**2)
    is_near = np.abs(above[0] - numbers * below[0]) <= _OFF * size * below[0]
    is_small = below[0] <= _DENOMINATOR
    return np.where(is_near & is_small, above[0], np.inf), np.where(is_small, below[0], 1.0)


def _in_integers(matrix: Matrix) -> sp.csr_array:
    """Columns in powers of two, such that all numbers are integers."""
    matrix = sp.csr_array(matrix)
    units = np.full(matrix.shape[1], np.iinfo(np.int32).min)
    np.maximum.at(units, matrix.indices, -last_bits(matrix.data))
    data = np.ldexp(matrix.data, units[matrix.indices])
    return sp.csr_array((data, matrix.indices, matrix.indptr), shape=matrix.shape)


def _largest(matrix: sp.csr_array) -> Array:
    """The largest absolute value of each row; infinite for nan."""
    found = np.zeros(matrix.shape[0])
    sizes = np.abs(matrix.data)
    np.maximum.at(found, matrix.tocoo().row, np.where(np.isnan(sizes), np.inf, sizes))
    return found


def _follow(given: sp.csr_array, basis: Index, rest: Index) -> NDArray[np.bool_] | None:
    """Which rows are sums of those of a basis: modulo primes, as at the top of the file.

    None where that takes too long, or numbers are too large.
    """
    r = basis.size
    # Rows lose the powers of two that they have in common.
    whole = _in_integers(_in_integers(given[np.append(basis, rest)]).T).T.toarray()
    lengths = np.linalg.norm(whole, axis=1)
    if not r or not rest.size or not np.all(np.isfinite(lengths)):
        return None
    logs = np.log2(np.maximum(lengths, 1.0))
    # Enough for the rounding of all logarithms, and one for the sign.
    bits = 1.001 * float(np.sum(logs[:r]) + np.max(logs[r:])) + 2.0
    # Sums of r products are exact in doubles.
    largest = int(np.sqrt(_EXACT / r))
    most = 2 * int(bits / np.log2(largest)) + 2
    if most * r**2 * (r + rest.size) > _WORK:
        return None
    # No column of right sides has a pivot.
    columns = sl.qr(whole[:r, :-1], mode="r", pivoting=True, check_finite=False)[1]
    J, others = columns[:r], np.append(columns[r:], whole.shape[1] - 1)
    # Leading blocks are regular then.
    order = sl.lu(whole[:r, J], p_indices=True, check_finite=False)[0]
    whole[:r] = whole[np.argsort(order)]
    found = np.ones(rest.size, dtype=bool)
    for p in islice(_primes_below(largest), most):
        if bits < 0.0:
            return found
        M = np.mod(whole, p)
        inverse = _inverse(M[np.ix_(range(r), J)], p)
        if inverse is None:
            continue
        weights = np.mod(M[r:, J] @ inverse, p)
        # A determinant that is no multiple of a prime is not zero.
        found &= ~np.any(np.mod(M[r:, others] - weights @ M[:r, others], p), axis=1)
        if not np.any(found):
            return found
        bits -= float(np.log2(p))
    return None


def _primes_below(largest: int) -> Iterator[int]:
    """Primes, the largest first."""
    for p in range(largest, 2, -1):
        if all(p % k for k in range(2, isqrt(p) + 1)):
            yield p


def _inverse(B: Array, p: int) -> Array | None:
    """The inverse modulo a prime, from that of a leading block; None where one is singular."""
    r = B.shape[0]
    if r == 1:
        return np.array([[float(pow(int(B[0, 0]), -1, p))]]) if B[0, 0] else None
    half = r // 2
    first = _inverse(B[:half, :half], p)
    if first is None:
        return None
    left, right = np.mod(B[half:, :half] @ first, p), np.mod(first @ B[:half, half:], p)
    last = _inverse(np.mod(B[half:, half:] - left @ B[:half, half:], p), p)
    if last is None:
        return None
    corner = np.mod(right @ last, p)
    top = np.hstack([np.mod(first + corner @ left, p), p - corner])
    return np.vstack([top, np.hstack([np.mod(-last @ left, p), last])])
