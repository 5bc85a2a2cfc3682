"""Exact numbers: changes of basis without rounding, and the doubles that hold what comes out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np

from sdpdr.linalg.svec import Array

Random: TypeAlias = np.random.Generator
Exact: TypeAlias = list[list[Fraction]]


def exact(number: Fraction) -> float:
    """The double that is that number.

    Raises
    ------
    ArithmeticError
        There is none.
    """
    double = float(number)
    if Fraction(double) != number:
        raise ArithmeticError(f"{number} has no exact double.")
    return double


def doubles(matrix: Exact) -> Array:
    """A matrix of exact doubles."""
    return np.array([[exact(x) for x in row] for row in matrix])


@dataclass(frozen=True, eq=False)
class Basis:
    """Coordinates X = V M V^T with V = L D or D L: L unimodular, D of powers of two.

    Attributes
    ----------
    matrix, inverse : arrays of Fraction, shape (n, n)
    """

    matrix: Any
    inverse: Any

    @classmethod
    def random(cls, n: int, rng: Random, exponents: Sequence[int], *, mixed: bool = True) -> Basis:
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

    def congruent(self, matrix: Any) -> Exact:
        """V^-T A V^-1, the same linear form on the new coordinates."""
        exact_matrix = np.array([[Fraction(x) for x in row] for row in _listed(matrix)])
        return [list(row) for row in self.inverse.T @ exact_matrix @ self.inverse]

    def point(self, diagonal: Sequence[Fraction]) -> Exact:
        """V diag(x) V^T."""
        return [list(row) for row in (self.matrix * np.array(diagonal)) @ self.matrix.T]


def _listed(matrix: Any) -> Any:
    return matrix.tolist() if isinstance(matrix, np.ndarray) else matrix
