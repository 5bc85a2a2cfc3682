r"""A program in equality form over the rational numbers, exactly as it is stored.

.. math::

    \min\ \textstyle\sum_k \langle C_k, X_k\rangle + c^T x + d^T f + c_0 \quad\text{s.t. }
    \sum_k A_k(X_k) + B x + F f = b, \qquad X_k \succeq 0,\ x \ge 0,\ f \text{ free.}

Every double is a rational number, so nothing is lost here. One thing has to be said: coefficients
of entries off the diagonal are stored times sqrt 2 (see `sdpdr.linalg.svec`), and rounded. The
program that is meant has the entry with fewest digits whose product with sqrt 2 rounds to the
number stored, which is also what `sdpdr.program.write_sdpa` writes: an entry that came from a file
or from a formula is recovered without change.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from flint import fmpq
from numpy.typing import NDArray

from sdpdr.linalg.svec import SQRT2, svec_pairs, unscaled
from sdpdr.program.point import PsdVariable, Variable
from sdpdr.program.rows import Rows
from sdpdr.program.sdp import SDP

# Row 0 is the cost; rows 1, ..., m follow. Symmetric matrices are upper triangles.
Symmetric = Mapping[tuple[int, int], fmpq]
Column = Mapping[int, fmpq]


@dataclass(frozen=True, eq=False)
class ExactBlock:
    """A matrix variable: its order, and the symmetric matrices of the cost and of the rows."""

    order: int
    matrices: Mapping[int, Symmetric]


@dataclass(frozen=True, eq=False)
class ExactProgram:
    """A program in equality form (see the text of the module).

    Attributes
    ----------
    blocks : tuple of ExactBlock
    positive, free : tuple of mapping from row to coefficient
        Columns of the scalars, the cost among them as row 0.
    rhs : tuple of fmpq
        Of rows 1, ..., m.
    """

    blocks: tuple[ExactBlock, ...]
    positive: tuple[Column, ...]
    free: tuple[Column, ...]
    rhs: tuple[fmpq, ...]

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.rhs)

    def columns(self) -> Iterator[Column]:
        """The columns of all unknowns, entries of matrices among them."""
        for block in self.blocks:
            by_place: dict[tuple[int, int], dict[int, fmpq]] = {}
            for row, matrix in block.matrices.items():
                for (i, j), value in matrix.items():
                    by_place.setdefault((i, j), {})[row] = value if i == j else 2 * value
            yield from by_place.values()
        yield from self.positive
        yield from self.free


def rational(number: float) -> fmpq:
    """A double as the rational number that it is.

    Examples
    --------
    >>> rational(0.75)
    3/4
    """
    return fmpq(*float(number).as_integer_ratio())


def exact_program(
    equality: SDP,
    inequalities: Mapping[str, int] | None = None,
    pause: Callable[[], None] = lambda: None,
) -> ExactProgram:
    """The rational numbers of a program in equality form, whose vectors may be free.

    Parameters
    ----------
    equality : SDP
        As made by ``to_equality_form(sdp, keep_free=True)``.
    inequalities : mapping from label to order, optional
        Rows that stand for matrix inequalities, entry by entry in ``svec`` coordinates. Those of
        entries off the diagonal are divided by sqrt 2, which cancels.
    pause : callable, optional
        Called now and then; whatever it raises ends the work.

    Examples
    --------
    >>> from sdpdr import graphs, methods
    >>> from sdpdr.program.standard import to_equality_form
    >>> program = exact_program(to_equality_form(methods.mvu(graphs.path([1.0, 2.0])).to_sdp()))
    >>> program.n_rows, [block.order for block in program.blocks], len(program.positive)
    (5, [3], 2)
    """
    orders = inequalities or {}
    blocks: list[ExactBlock] = []
    positive: list[Column] = []
    free: list[Column] = []
    for v in equality.variables:
        pause()
        if isinstance(v, PsdVariable):
            blocks.append(ExactBlock(v.n, _matrices(equality, v, orders)))
            continue
        columns: list[dict[int, fmpq]] = [{} for _ in range(v.size)]
        for row, i, value in _vectors(equality, v, orders):
            columns[i][row] = value
        (positive if v.nonnegative else free).extend(columns)
    rhs: list[fmpq] = []
    for r in equality.rows:
        off = off_diagonal_rows(r, orders)
        rhs += [_natural(b, mixed) for b, mixed in zip(r.rhs.tolist(), off.tolist(), strict=True)]
    return ExactProgram(tuple(blocks), tuple(positive), tuple(free), tuple(rhs))


def off_diagonal_rows(rows: Rows, orders: Mapping[str, int]) -> NDArray[np.bool_]:
    """Which rows stand for entries off the diagonal of a matrix inequality."""
    if rows.label not in orders:
        return np.zeros(rows.m, dtype=bool)
    i, j = svec_pairs(np.arange(rows.m))
    return np.asarray(i != j)


def _natural(stored: float, is_scaled: bool) -> fmpq:
    """A stored number, without the sqrt 2 that it may have been multiplied by."""
    if not is_scaled:
        return rational(stored)
    natural = float(unscaled(np.array([stored]))[0])
    return rational(stored / SQRT2 if np.isnan(natural) else natural)


def _parts(
    equality: SDP, variable: Variable, orders: Mapping[str, int]
) -> Iterator[tuple[int, int, float, bool]]:
    """Row, column, stored coefficient, and whether the row stands off a diagonal."""
    first = 1
    nothing = np.zeros(1, dtype=bool)
    groups = [(0, equality.objective, nothing)]
    for r in equality.rows:
        groups.append((first, r.lhs, off_diagonal_rows(r, orders)))
        first += r.m
    for start, expression, off in groups:
        if variable.name not in expression:
            continue
        matrix = expression[variable.name].matrix().tocoo()
        matrix.sum_duplicates()
        for row, k, value in zip(
            matrix.row.tolist(), matrix.col.tolist(), matrix.data.tolist(), strict=True
        ):
            if value:
                yield start + row, k, value, bool(off[row])


def _vectors(
    equality: SDP, variable: Variable, orders: Mapping[str, int]
) -> Iterator[tuple[int, int, fmpq]]:
    for row, k, value, off in _parts(equality, variable, orders):
        yield row, k, _natural(value, off)


def _matrices(
    equality: SDP, variable: PsdVariable, orders: Mapping[str, int]
) -> dict[int, dict[tuple[int, int], fmpq]]:
    """By row, the entries of the upper triangle of its symmetric matrix."""
    low, high = (x.tolist() for x in svec_pairs(np.arange(variable.size)))
    found: dict[int, dict[tuple[int, int], fmpq]] = {}
    for row, k, value, off in _parts(equality, variable, orders):
        i, j = low[k], high[k]
        # Off both diagonals, sqrt 2 stands on both sides; the entry counts twice in <A, X>.
        entry = rational(value) / 2 if off and i != j else _natural(value, off or i != j)
        found.setdefault(row, {})[i, j] = entry
    return found
