r"""Exact changes of basis, and a matrix inequality that ``svec`` stores without rounding.

In ``svec`` entries off the diagonal are stored times :math:`\sqrt 2`, which no double holds. But
where the pattern is a tree, its nodes have two colours; with :math:`D = \mathrm{diag}(1
\text{ or } \sqrt 2)` by colour and a matrix :math:`\tilde H` of integers on the tree,
:math:`H = D \tilde H D` has integers on the diagonal, :math:`\sqrt 2\,\tilde H_{ij}` beside it,
and so the integers :math:`2 \tilde H_{ij}` in ``svec``. Definiteness and inner products with
:math:`D^{-1} \tilde Z D^{-1}` are those in integers.

The optimum: :math:`\tilde W` is a weighted Laplacian of the tree, of kernel **1**, and
:math:`\tilde Z = t \mathbf 1 \mathbf 1^T`. *Interior:* the first matrix is the identity, and moves
:math:`\tilde W` inwards. The others have entries off the diagonal of sum zero; then all are
orthogonal to :math:`I - \mathbf 1 \mathbf 1^T`, which moves :math:`\tilde Z` inwards.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np

from sdpdr.base.arrays import Array
from sdpdr.linalg import VectorMap, svec_index, svec_size
from sdpdr.program import Lmi

Random: TypeAlias = np.random.Generator
Integers: TypeAlias = "np.ndarray[Any, np.dtype[np.int64]]"
# An array of objects: fractions, and whole numbers of any length.
Exact: TypeAlias = Any


def doubles(numbers: Exact) -> Array:
    """Convert exact numbers to doubles; an error if one is not representable."""
    exact = np.asarray(numbers, dtype=object)
    found = exact.astype(float)
    for number, double in zip(exact.flat, found.flat, strict=True):
        if Fraction(float(double)) != number:
            raise ArithmeticError(f"{number} has no exact double.")
    return found


@dataclass(frozen=True, eq=False)
class ExactBasis:
    """Coordinates X = V M V^T with V = L D or D L: L unimodular, D of powers of two."""

    matrix: Exact
    inverse: Exact

    @classmethod
    def random(
        cls, n: int, rng: Random, exponents: Sequence[int], *, mixed: bool = True
    ) -> ExactBasis:
        """A product of n random shears, then the powers of two."""
        matrix = np.array([[Fraction(int(i == j)) for j in range(n)] for i in range(n)])
        inverse = matrix.copy()
        for _ in range(n if mixed else 0):
            i, j = (int(k) for k in rng.choice(n, 2, replace=False))
            sign = int(rng.choice([-1, 1]))
            matrix[:, j] -= sign * matrix[:, i]
            inverse[i] += sign * inverse[j]
        powers = np.array([Fraction(2) ** e for e in exponents])
        return cls(powers[:, None] * matrix, inverse / powers)

    def congruent(self, matrix: Exact | Integers) -> Exact:
        """V^-T A V^-1, the same linear form on the new coordinates."""
        return self.inverse.T @ matrix @ self.inverse

    def point(self, diagonal: Sequence[Fraction]) -> Exact:
        """V diag(x) V^T."""
        return (self.matrix * np.array(diagonal)) @ self.matrix.T


@dataclass(frozen=True, eq=False)
class TreeInequality:
    """A matrix inequality on a path of nodes, and its planted optimum."""

    matrices: list[Integers]
    value: Integers
    weight: int

    @classmethod
    def random(cls, rng: Random, order: int, scalars: int) -> TreeInequality:
        """A path of at least three nodes."""
        links = rng.integers(1, 4, order - 1)
        value = np.zeros((order, order), dtype=np.int64)
        for i, link in enumerate(links):
            value[i, i] += link
            value[i + 1, i + 1] += link
            value[i, i + 1] = value[i + 1, i] = -link
        matrices = [np.eye(order, dtype=np.int64)]
        for _ in range(scalars - 1):
            off = rng.integers(-2, 3, order - 1)
            off[-1] -= off.sum()
            matrix = np.diag(rng.integers(-2, 3, order)) + np.diag(off, 1) + np.diag(off, -1)
            matrices.append(matrix)
        return cls(matrices, value, 2 * int(rng.integers(1, 4)))

    def pull(self, k: int) -> Fraction:
        """Return <H_k, Z>, the cost of scalar k that makes the multiplier feasible."""
        return Fraction(self.weight * int(self.matrices[k].sum()))

    def multiplier(self) -> list[Fraction]:
        """Return Z in ``svec`` coordinates on the pattern, and zero elsewhere."""
        ones = np.ones_like(self.value)
        return [Fraction(z) * self.weight / 2 for z in _coordinates(ones, powers=(2, 1))]

    def lmi(self, name: str, scalars: Sequence[Fraction]) -> Lmi:
        """Return the inequality, with the constant that plants the optimum."""
        constant = self.value - np.tensordot(np.array(scalars), np.array(self.matrices), axes=1)
        columns = np.column_stack([_coordinates(h) for h in self.matrices])
        return Lmi("tree", len(self.value), {name: VectorMap(columns)}, _coordinates(constant))


def _coordinates(matrix: Any, powers: tuple[int, int] = (1, 2)) -> Array:
    """``svec`` of D H D for a matrix on a path; ``powers`` are the squares of D by colour."""
    n = len(matrix)
    stored = np.zeros(svec_size(n))
    index = np.arange(n)
    stored[svec_index(index, index)] = [float(matrix[i][i] * powers[i % 2]) for i in range(n)]
    beside = [float(2 * matrix[i][i + 1]) for i in range(n - 1)]
    stored[svec_index(index[:-1], index[1:])] = beside
    return stored
