"""Whether a point satisfies a program as it stands: exactly, and not next to it.

Every double is a fraction, and so is every sum of products of them. Nothing is rounded here but
what exponential and power cones need, of which membership is proved by a box.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Mapping, Sequence
from fractions import Fraction
from math import inf, isfinite, nan, nextafter
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array
from sdpdr.certify.flat import (
    NONNEGATIVE,
    SECOND_ORDER,
    SEMIDEFINITE,
    FlatProgram,
    Part,
    cone_of,
)
from sdpdr.certify.rounding import are_positive_definite
from sdpdr.linalg.exact import range_of, whole
from sdpdr.linalg.svec import upper_triangle

# Order up to which a matrix on the boundary of the cone is eliminated in fractions, in a second.
_ORDER = 60


class Miss(NamedTuple):
    """A constraint that a point does not satisfy, or is not shown to.

    Attributes
    ----------
    row : int
        Its first row, of equations and cones.
    amount : float
        By how much it is missed: absolutely, and zero where it may hold.
    """

    row: int
    amount: float


def misses(
    program: FlatProgram, x: Mapping[int, Fraction], known: Collection[int] = ()
) -> list[Miss]:
    """All constraints that a point does not satisfy exactly.

    Parameters
    ----------
    program : FlatProgram
        With exact numbers.
    x : mapping from int to Fraction
        Values of the unknowns; of those that constraints use at least.
    known : collection of int, default ()
        First rows of cones that the point is known to be in.

    Examples
    --------
    >>> from sdpdr.certify.flat import Piece, build
    >>> half_line = Piece(NONNEGATIVE, 1, sp.csr_array([[-1.0]]), np.zeros(1))
    >>> program = build(np.ones(1), sp.csr_array([[3.0]]), np.ones(1), [half_line])
    >>> misses(program, {0: Fraction(1, 3)})
    []
    >>> [miss.row for miss in misses(program, {0: Fraction(0.333333)})]
    [0]
    """
    m, point = program.f.size, _Point(x)
    rests = point.rests(program.E, program.f)
    found = [Miss(row, abs(_double(rest))) for row, rest in enumerate(rests) if rest]
    for kind, size, rows, _ in program.parts:
        first = int(rows[0])
        if m + first in known:
            continue
        amount = _missed(kind, size, point.rests(program.A[rows], program.b[rows]))
        if amount is not None:
            found.append(Miss(m + first, amount))
    return found


def are_dual_feasible(program: FlatProgram, z: Mapping[int, Fraction]) -> bool:
    """Whether multipliers of equations and cones satisfy every condition on them exactly.

    Cones are to be their own duals, and the numbers of the program exact.

    Examples
    --------
    >>> from sdpdr.certify.flat import Piece, build
    >>> half_line = Piece(NONNEGATIVE, 1, sp.csr_array([[-3.0]]), np.zeros(1))
    >>> program = build(np.ones(1), sp.csr_array((0, 1)), np.zeros(0), [half_line])
    >>> [are_dual_feasible(program, {0: Fraction(1, k)}) for k in (3, 4)]
    [True, False]
    """
    if not program.around.is_exact or any(_Point(z).rests(program.dual_equations, -program.c)):
        return False
    for kind, size, rows, _ in program.parts:
        own = [z[program.f.size + row] for row in rows.tolist()]
        if kind == SEMIDEFINITE:
            # Multipliers off the diagonal are those of both triangles.
            triangle = zip(own, *upper_triangle(int(size)), strict=True)
            own = [v / (1 + int(i != j)) for v, i, j in triangle]
        is_own_dual = kind in (NONNEGATIVE, SECOND_ORDER, SEMIDEFINITE)
        if not is_own_dual or _missed(kind, size, own) is not None:
            return False
    return True


def cost(c: Array, x: Mapping[int, Fraction], offset: float = 0.0) -> float:
    """The objective at a point, rounded up where it is no double.

    Examples
    --------
    >>> cost(np.array([1.0, 0.0]), {0: Fraction(1, 3)}) > 1 / 3
    True
    """
    used = np.flatnonzero(c).tolist()
    exact = sum((Fraction(c[k].item()) * x[k] for k in used), Fraction(offset))
    near = _double(exact)
    return near if near == inf or Fraction(near) >= exact else nextafter(near, inf)


def fractions_of(numbers: Array) -> list[Fraction]:
    """Doubles as fractions."""
    return [Fraction(number) for number in np.asarray(numbers, dtype=float).tolist()]


def entries_of_factor(R: Array, i: Sequence[int], j: Sequence[int]) -> list[Fraction]:
    """Entries of R R^T without rounding.

    Examples
    --------
    >>> entries_of_factor(np.array([[0.1], [3.0]]), [1], [1])
    [Fraction(9, 1)]
    """
    rows: dict[int, list[int]] = {}
    exponents = np.frexp(R[R != 0.0])[1]
    shift = 53 - int(exponents.min()) if exponents.size else 0
    unit = Fraction(2) ** shift
    for k in {*i, *j}:
        rows[k] = [int(Fraction(number) * unit) for number in R[k].tolist()]
    square = unit * unit
    pairs = zip(i, j, strict=True)
    return [sum(p * q for p, q in zip(rows[a], rows[b], strict=True)) / square for a, b in pairs]


class _Point:
    """A point as whole numbers over one denominator, which sum many times as fast as fractions."""

    def __init__(self, x: Mapping[int, Fraction]) -> None:
        self._unit = whole(x.values())
        self._numbers = {k: v.numerator * (self._unit // v.denominator) for k, v in x.items()}

    def rests(self, A: sp.csr_array, b: Array) -> list[Fraction]:
        """``b - A x``."""
        ends, numbers, found = A.indptr.tolist(), self._numbers, []
        columns, data = A.indices.tolist(), A.data.tolist()
        for row, right in enumerate(b.tolist()):
            at = [k for k in range(ends[row], ends[row + 1]) if data[k]]
            ratios = [data[k].as_integer_ratio() for k in at]
            # Powers of two.
            unit = max((below for _, below in ratios), default=1)
            terms = (
                n * (unit // d) * numbers[columns[k]] for (n, d), k in zip(ratios, at, strict=True)
            )
            found.append(Fraction(right) - Fraction(sum(terms), unit * self._unit))
        return found


def _double(number: Fraction) -> float:
    """The double next to a fraction; the largest, or infinity, beyond all doubles."""
    try:
        return float(number)
    except OverflowError:
        return inf if number > 0 else -sys.float_info.max


def _around(numbers: Sequence[Fraction]) -> tuple[Array, Array]:
    """Doubles next to fractions, and radii: also where a double is zero and the fraction is not."""
    near = [_double(v) for v in numbers]
    if not np.all(np.isfinite(near)):
        return np.array(near), np.full(len(near), inf)
    radii = [
        0.0 if Fraction(x) == v else nextafter(_double(abs(Fraction(x) - v)), inf)
        for x, v in zip(near, numbers, strict=True)
    ]
    return np.array(near), np.array(radii)


def _missed(kind: str, size: float, s: list[Fraction]) -> float | None:
    """By how much a point misses a cone; None where it is in it."""
    if kind == NONNEGATIVE:
        return None if min(s) >= 0 else -_double(min(s))
    if kind == SECOND_ORDER:
        if s[0] >= 0 and s[0] * s[0] >= sum(v * v for v in s[1:]):
            return None
        head, *tail = (_double(v) for v in s)
        return max(0.0, float(np.linalg.norm(tail)) - head)
    if kind == SEMIDEFINITE:
        return _missed_matrix(int(size), s)
    near, radius = _around(s)
    cone = cone_of(Part(kind, size, np.arange(len(s))))
    return None if np.all(np.isfinite(radius)) and cone.contains(near[None], radius[None]) else 0.0


def _missed_matrix(n: int, s: list[Fraction]) -> float | None:
    """The same of matrices: by a factorization, and by elimination in fractions where it fails."""
    i, j = upper_triangle(n)
    S, R = np.empty((n, n)), np.empty((n, n))
    (S[i, j], R[i, j]) = (S[j, i], R[j, i]) = _around(s)
    if np.all(np.isfinite(R)) and are_positive_definite(S[None], R[None]):
        return None
    entries = {(int(a), int(b)): v for a, b, v in zip(j, i, s, strict=True) if v}
    if n <= _ORDER and range_of(entries) is not None:
        return None
    least = float(np.linalg.eigvalsh(S)[0]) if np.all(np.isfinite(S)) else nan
    return max(0.0, -least) if isfinite(least) else inf
