"""Elimination over the rationals: spans of vectors, null vectors and the face that they leave.

A vector is a mapping from places to non-zero fractions. Stored doubles are fractions, so nothing
here rounds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from math import lcm

import scipy.sparse as sp

from sdpdr.linalg.exact import Vector, add

# Products of entries in an elimination beyond which it takes too long.
_LARGEST = 1_000_000


def exact_columns(matrix: sp.csr_array) -> list[Vector] | None:
    """The columns of a matrix; None where an elimination of them would take too long."""
    by_column = sp.csc_array(matrix)
    if by_column.nnz * by_column.shape[1] > _LARGEST:
        return None
    ends = zip(by_column.indptr[:-1], by_column.indptr[1:], strict=True)
    parts = [(by_column.indices[a:b].tolist(), by_column.data[a:b].tolist()) for a, b in ends]
    return [
        {i: Fraction(a) for i, a in zip(places, data, strict=True) if a} for places, data in parts
    ]


class Span:
    """The span of vectors that are inserted one by one, and remainders of others modulo it.

    Every vector has the entry one at its first place, the pivot, where those inserted later are
    zero. Unlike an `Echelon`, earlier vectors are not reduced by later ones, which would fill them.

    Examples
    --------
    >>> span = Span()
    >>> span.insert({0: Fraction(2), 1: Fraction(2)}), span.insert({0: Fraction(3)})
    (True, True)
    >>> span.reduced({1: Fraction(5), 4: Fraction(1)}), sorted(span.pivots)
    ({4: Fraction(1, 1)}, [0, 1])
    """

    def __init__(self) -> None:
        self.pivots: dict[int, Vector] = {}

    def reduced(self, vector: Mapping[int, Fraction]) -> Vector:
        """What is left of a vector modulo the span."""
        rest = dict(vector)
        while True:
            pivot = next((j for j in sorted(rest) if j in self.pivots), None)
            if pivot is None:
                return rest
            add(rest, self.pivots[pivot], -rest[pivot])

    def insert(self, vector: Mapping[int, Fraction]) -> bool:
        """Insert a vector; True if it was not in the span before."""
        rest = self.reduced(vector)
        if rest:
            first = min(rest)
            self.pivots[first] = {j: a / rest[first] for j, a in rest.items()}
        return bool(rest)


class Echelon:
    """The null vectors of a matrix variable, kept reduced; and the face they leave.

    Every vector has the entry one at a place of its own, its pivot, where all others are zero.
    So X = V M V^T with V the unit matrix on the places that are no pivots, and unit vectors among
    the combinations of null vectors show as such.

    Examples
    --------
    >>> face = Echelon()
    >>> face.insert({0: Fraction(1), 1: Fraction(1)}), face.insert({0: Fraction(3)})
    (True, True)
    >>> face.insert({1: Fraction(7)}), sorted(face.vectors)
    (False, [0, 1])
    """

    def __init__(self) -> None:
        self.vectors: dict[int, Vector] = {}
        # Pivots of vectors that have other entries.
        self.mixed: set[int] = set()

    @property
    def units(self) -> set[int]:
        """Places whose whole row is zero."""
        return self.vectors.keys() - self.mixed

    def reduced(self, vector: Mapping[int, Fraction]) -> Vector:
        """What is left of a vector modulo the null vectors."""
        rest: Vector = dict(vector)
        for pivot in [p for p in vector if p in self.vectors]:
            add(rest, self.vectors[pivot], -vector[pivot])
        return rest

    def insert(self, vector: Mapping[int, Fraction]) -> bool:
        """Insert a null vector; True if it was not in the span before."""
        rest = self.reduced(vector)
        if not rest:
            return False
        pivot = max(rest, key=lambda i: (abs(rest[i]), -i))
        rest = {i: value / rest[pivot] for i, value in rest.items()}
        for other in sorted(self.mixed):
            held = self.vectors[other]
            if pivot in held:
                add(held, rest, -held[pivot])
                if len(held) == 1:
                    self.mixed.discard(other)
        self.vectors[pivot] = rest
        if len(rest) > 1:
            self.mixed.add(pivot)
        return True

    def filtered(self, is_kept: Callable[[Vector], bool]) -> Echelon:
        """The null vectors for which a condition holds, unchanged."""
        found = Echelon()
        found.vectors = {i: vector for i, vector in self.vectors.items() if is_kept(vector)}
        found.mixed = self.mixed & found.vectors.keys()
        return found

    def row(self, i: int) -> Vector:
        """Row i of V."""
        if i not in self.vectors:
            return {i: Fraction(1)}
        return {j: -value for j, value in self.vectors[i].items() if j != i}

    def basis(self, n: int) -> list[tuple[int, int, Fraction]]:
        """The entries (row, column, number) of V for matrices of order n."""
        own = [i for i in range(n) if i not in self.vectors]
        column = {place: k for k, place in enumerate(own)}
        return [(i, column[j], a) for i in range(n) for j, a in self.row(i).items()]


def complement(null: sp.csr_array) -> sp.csr_array | None:
    """Columns of integers that span the orthogonal complement of others, without rounding.

    None if a column needs integers that doubles do not hold, or if the elimination is too long.

    Examples
    --------
    >>> complement(sp.csr_array([[1.0], [1.0], [1.0]])).toarray()
    array([[-1., -1.],
           [ 1.,  0.],
           [ 0.,  1.]])
    """
    vectors, echelon, n = exact_columns(null), Echelon(), null.shape[0]
    if vectors is None:
        return None
    for vector in vectors:
        echelon.insert(vector)
    entries, scales = echelon.basis(n), [1] * (n - len(echelon.vectors))
    for _, k, a in entries:
        scales[k] = lcm(scales[k], a.denominator)
    numbers = [a * scales[k] for _, k, a in entries]
    if any(abs(number) >= 2**53 for number in numbers):
        return None
    places = [i for i, _, _ in entries], [k for _, k, _ in entries]
    return sp.csr_array(([float(a) for a in numbers], places), shape=(n, len(scales)))
