r"""Matrices of floating-point numbers with hundreds of bits.

Arb computes with balls. Here only their midpoints are kept: an iteration contracts its own errors,
while radii would grow from step to step without meaning anything. What is exact on entry comes out
rounded once to the working precision of the context (``flint.ctx.prec``).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import mul
from typing import TypeAlias

import numpy as np
from flint import arb, arb_mat

from sdpdr.base.arrays import Array

Vector: TypeAlias = "list[arb]"

# Order up to which a factorization runs through single numbers; larger ones use products.
_ENTRYWISE_ORDER = 12
_HALF = arb(0.5)


def dot(a: Iterable[arb], b: Iterable[arb]) -> arb:
    """The sum of products, rounded.

    Examples
    --------
    >>> dot([arb(1), arb(2)], [arb(3), arb(4)]) == 11
    True
    """
    return sum(map(mul, a, b), arb(0)).mid()


def identity(n: int, size: arb) -> arb_mat:
    """A multiple of the identity."""
    zero = arb(0)
    return arb_mat(n, n, [size if i == j else zero for i in range(n) for j in range(n)])


def column(vector: Sequence[arb]) -> arb_mat:
    """A vector as a matrix with one column."""
    return arb_mat(len(vector), 1, list(vector))


def product(*factors: arb_mat) -> arb_mat:
    """The product of matrices from left to right, rounded after every factor."""
    result, *others = factors
    for factor in others:
        result = (result * factor).mid()
    return result


def symmetric(matrix: arb_mat) -> arb_mat:
    """The symmetric part."""
    return ((matrix + matrix.transpose()) * _HALF).mid()


def inner(a: arb_mat, b: arb_mat) -> arb:
    """<A, B>, the sum of products of all entries."""
    return dot(a.entries(), b.entries())


def largest(numbers: Iterable[arb]) -> arb:
    """The largest size of the numbers; zero if there are none."""
    return max((abs(x) for x in numbers), default=arb(0))


def to_float(x: arb) -> float:
    """The nearest double of a midpoint, which may be zero or infinite.

    Examples
    --------
    >>> to_float(arb(3) / 4)
    0.75
    """
    return float(x.mid())


def to_array(matrix: arb_mat) -> Array:
    """The nearest doubles of a matrix."""
    numbers = np.array([to_float(x) for x in matrix.entries()])
    return numbers.reshape(matrix.nrows(), matrix.ncols())


def inverse_factor(matrix: arb_mat) -> arb_mat | None:
    r"""The inverse P of the Cholesky factor L of a symmetric matrix; None if not positive definite.

    So that :math:`P M P^T = I` and :math:`M^{-1} = P^T P`. It is found by halves,

    .. math::

        M = \begin{pmatrix} A & B^T \\ B & D \end{pmatrix}, \qquad
        P = \begin{pmatrix} P_A & 0 \\ -P_S (B P_A^T) P_A & P_S \end{pmatrix}, \qquad
        S = D - (B P_A^T)(B P_A^T)^T,

    so that nearly all of the work is multiplication of matrices, which runs at the speed of C.

    Examples
    --------
    >>> matrix = arb_mat(2, 2, [4, 2, 2, 2])
    >>> [to_float(x) for x in inverse_factor(matrix).entries()]
    [0.5, 0.0, -0.5, 1.0]
    >>> inverse_factor(arb_mat(2, 2, [1, 2, 2, 1])) is None
    True
    """
    n = matrix.nrows()
    if n <= _ENTRYWISE_ORDER:
        return _small_inverse_factor(matrix.tolist())
    half = n // 2
    rows = matrix.tolist()
    first = inverse_factor(_part(rows, 0, half, 0, half))
    if first is None:
        return None
    low = product(_part(rows, half, n, 0, half), first.transpose())
    rest = (_part(rows, half, n, half, n) - low * low.transpose()).mid()
    second = inverse_factor(rest)
    if second is None:
        return None
    corner = (-product(second, low, first)).tolist()
    zeros = [arb(0)] * (n - half)
    top = [row + zeros for row in first.tolist()]
    bottom = [left + right for left, right in zip(corner, second.tolist(), strict=True)]
    return arb_mat(top + bottom)


def least_eigenvalue(matrix: arb_mat) -> float:
    """A lower estimate of the least eigenvalue, from the eigenvalues of the nearest doubles.

    It is low by the error that rounding to doubles may have, 1e-14 of the largest entry times the
    order.
    """
    size = largest(matrix.entries())
    if not size > 0:
        return 0.0
    # Divided by its size, so that nothing overflows.
    scaled = to_array((matrix * (1 / size)).mid())
    least = float(np.linalg.eigvalsh((scaled + scaled.T) / 2.0)[0])
    return to_float(size * arb(least - 1e-14 * matrix.nrows()))


def _part(rows: list[list[arb]], top: int, bottom: int, left: int, right: int) -> arb_mat:
    return arb_mat([row[left:right] for row in rows[top:bottom]])


def _small_inverse_factor(rows: list[list[arb]]) -> arb_mat | None:
    """By single numbers: L row by row, and P = L^{-1} by substitution."""
    n = len(rows)
    factor: list[list[arb]] = []
    inverse: list[list[arb]] = []
    for i in range(n):
        line: list[arb] = []
        for j in range(i):
            rest = rows[i][j] - sum(map(mul, line, factor[j][:j]), arb(0))
            line.append((rest * inverse[j][j]).mid())
        pivot = (rows[i][i] - sum(map(mul, line, line), arb(0))).mid()
        if not pivot > 0:
            return None
        line.append(pivot.sqrt().mid())
        factor.append(line)
        own = (1 / line[i]).mid()
        below = [
            (-own * sum((line[k] * inverse[k][j] for k in range(j, i)), arb(0))).mid()
            for j in range(i)
        ]
        inverse.append([*below, own, *[arb(0)] * (n - i - 1)])
    return arb_mat(inverse)
