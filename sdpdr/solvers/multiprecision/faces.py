r"""The face of the cone that rows confine a matrix to, found and left in exact arithmetic.

A row :math:`\langle A, X\rangle = 0` on one matrix alone, with A positive semidefinite, says that
:math:`A X = 0`: X lives on the null space of A, and there is no interior for a method to start in.
With a basis V of that space, :math:`X = V L V^T` and the program becomes one over L. Rows that
vanish on the face are gone; others may then confine L in turn, so this is repeated. All of it is
done over the rational numbers: V and the new data are exact.

References
----------
Borwein, Wolkowicz, "Regularizing the abstract convex program", Journal of Mathematical Analysis
and Applications 83, 1981.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import scipy.sparse as sp
from flint import fmpq, fmpq_mat

from sdpdr.base.arrays import Array
from sdpdr.linalg.exact import range_of
from sdpdr.solvers.multiprecision.exact import ExactBlock, ExactProgram, Symmetric, rational

# Rows with more support are not looked at: elimination in fractions takes its third power.
_LARGEST = 200
Vectors = Sequence[Mapping[int, fmpq]]


@dataclass(frozen=True, eq=False)
class Confined:
    """A program on faces, and the bases that lead back.

    Attributes
    ----------
    program : ExactProgram
    bases : tuple of fmpq_mat or None
        V of shape (n, r) for every matrix; None where the whole cone is left.
    exposing : tuple of int
        Rows that were used, numbered from 1.
    """

    program: ExactProgram
    bases: tuple[fmpq_mat | None, ...]
    exposing: tuple[int, ...]

    def basis(self, k: int) -> Array | None:
        """V of one matrix in doubles."""
        basis = self.bases[k]
        if basis is None:
            return None
        numbers = [float(_fraction(x)) for x in basis.entries()]
        return np.array(numbers).reshape(basis.nrows(), basis.ncols())


def confined(
    program: ExactProgram, known: Sequence[sp.csr_array], pause: Callable[[], None] = lambda: None
) -> Confined:
    """Leave the faces that single rows confine matrices to, until none is left.

    Parameters
    ----------
    program : ExactProgram
    known : list of array of shape (n, p)
        For every matrix X, columns u that are known to satisfy X u = 0.
    pause : callable, optional
        Called for every row; whatever it raises ends the work.
    """
    found = Confined(program, tuple(None for _ in program.blocks), ())
    for k, columns in enumerate(known):
        if columns.shape[1]:
            found = _on_face(found, k, _columns(columns), (), pause)
    while True:
        step = _next_face(found.program, pause)
        if step is None:
            return found
        k, vectors, row = step
        found = _on_face(found, k, vectors, (row,), pause)


def _next_face(program: ExactProgram, pause: Callable[[], None]) -> tuple[int, Vectors, int] | None:
    """A matrix, vectors that it maps to zero, and the row that says so."""
    users: dict[int, list[int]] = {}
    for k, block in enumerate(program.blocks):
        for row in block.matrices:
            users.setdefault(row, []).append(k)
    with_scalars = {row for column in (*program.positive, *program.free) for row in column}
    for row, blocks in users.items():
        pause()
        if row == 0 or row in with_scalars or len(blocks) > 1 or program.rhs[row - 1] != 0:
            continue
        matrix = program.blocks[blocks[0]].matrices[row]
        vectors = range_if_semidefinite(matrix)
        if vectors:
            return blocks[0], vectors, row
    return None


def range_if_semidefinite(matrix: Symmetric) -> list[dict[int, fmpq]]:
    """Vectors that span the range of a symmetric matrix A if A or -A is positive semidefinite.

    Empty if A is indefinite.

    Examples
    --------
    >>> range_if_semidefinite({(0, 0): fmpq(1), (0, 2): fmpq(2), (2, 2): fmpq(4)})
    [{0: 1, 2: 2}]
    >>> range_if_semidefinite({(0, 1): fmpq(1)})
    []
    """
    support = sorted({k for place in matrix for k in place})
    diagonal = [matrix.get((k, k), fmpq(0)) for k in support]
    signs = {(d > 0) - (d < 0) for d in diagonal}
    if len(support) > _LARGEST or signs not in ({1}, {-1}):
        # A zero on the diagonal of a semidefinite matrix has a row of zeros beside it.
        return []
    sign = signs.pop()
    found = range_of({place: sign * _fraction(x) for place, x in matrix.items()})
    return [{i: fmpq(x.numerator, x.denominator) for i, x in v.items()} for v in found or []]


def _fraction(x: fmpq) -> Fraction:
    return Fraction(int(x.p), int(x.q))


def _on_face(
    found: Confined,
    k: int,
    vectors: Vectors,
    rows: tuple[int, ...],
    pause: Callable[[], None],
) -> Confined:
    """The program with X_k = V L V^T, where V spans what is orthogonal to the vectors."""
    block, before = found.program.blocks[k], found.bases[k]
    basis = _orthogonal(vectors, block.order)
    lines = _lines(basis)
    matrices = {}
    for row, matrix in block.matrices.items():
        pause()
        matrices[row] = _congruence(matrix, lines)
    smaller = ExactBlock(basis.ncols(), {row: a for row, a in matrices.items() if a})
    blocks, bases = list(found.program.blocks), list(found.bases)
    blocks[k], bases[k] = smaller, basis if before is None else before * basis
    program = replace(found.program, blocks=tuple(blocks))
    return Confined(program, tuple(bases), (*found.exposing, *rows))


def _orthogonal(vectors: Vectors, n: int) -> fmpq_mat:
    """A basis of all that is orthogonal to the vectors, as columns, by elimination."""
    rows = fmpq_mat(len(vectors), n, [v.get(i, fmpq(0)) for v in vectors for i in range(n)])
    reduced, rank = rows.rref()
    pivots: list[int] = []
    for i in range(rank):
        pivots.append(next(j for j in range(n) if reduced[i, j] != 0))
    others = [j for j in range(n) if j not in set(pivots)]
    basis = fmpq_mat(n, len(others))
    for c, j in enumerate(others):
        basis[j, c] = fmpq(1)
        for i, pivot in enumerate(pivots):
            basis[pivot, c] = -reduced[i, j]
    return basis


def _lines(basis: fmpq_mat) -> list[dict[int, fmpq]]:
    """Rows of a basis, without zeros."""
    return [{c: x for c, x in enumerate(line) if x != 0} for line in basis.tolist()]


def _congruence(
    matrix: Symmetric, lines: Sequence[Mapping[int, fmpq]]
) -> dict[tuple[int, int], fmpq]:
    """V^T A V, upper triangle."""
    total: dict[tuple[int, int], fmpq] = {}
    for (i, j), value in matrix.items():
        pairs = [(i, j)] if i == j else [(i, j), (j, i)]
        for p, q in pairs:
            for a, x in lines[p].items():
                for b, y in lines[q].items():
                    if a <= b:
                        total[a, b] = total.get((a, b), fmpq(0)) + value * x * y
    return {place: x for place, x in total.items() if x != 0}


def _columns(columns: sp.csr_array) -> list[dict[int, fmpq]]:
    table = columns.toarray().T.tolist()
    return [{i: rational(x) for i, x in enumerate(column) if x} for column in table]
