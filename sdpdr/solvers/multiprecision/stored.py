r"""A program in equality form as lists of the numbers that it stores.

.. math::

    \min\ \textstyle\sum_k \langle C_k, X_k\rangle + c^T x + d^T f + c_0 \quad\text{s.t. }
    \sum_k A_k(X_k) + B x + F f = b, \qquad X_k \succeq 0,\ x \ge 0,\ f \text{ free.}

Coefficients of entries off the diagonal are stored times sqrt 2 (see `sdpdr.linalg.svec`), and
rounded. The program that is meant has the entry with fewest digits whose product with sqrt 2 rounds
to the number stored, which is also what `sdpdr.program.write_sdpa` writes: an entry that came from
a file or from a formula is recovered without change.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from sdpdr.base.arrays import Array, Index
from sdpdr.linalg import LinearMap, SvecMap, VectorMap
from sdpdr.linalg.svec import near_unscaled, svec_pairs
from sdpdr.program.entries import entries_of
from sdpdr.program.point import PsdVariable, Variable
from sdpdr.program.rows import Rows
from sdpdr.program.sdp import SDP

# Row 0 is the cost; rows 1, ..., m follow. Symmetric matrices are upper triangles.
Symmetric = Mapping[tuple[int, int], float]
Column = Mapping[int, float]


@dataclass(frozen=True, eq=False)
class StoredBlock:
    """A matrix variable: its order, and the symmetric matrices of the cost and of the rows."""

    order: int
    matrices: Mapping[int, Symmetric]


@dataclass(frozen=True, eq=False)
class StoredProgram:
    """A program in equality form (see the text of the module).

    Attributes
    ----------
    blocks : tuple of StoredBlock
    positive, free : tuple of mapping from row to coefficient
        Columns of the scalars, the cost among them as row 0.
    rhs : tuple of float
        Right sides of rows 1, ..., m.
    """

    blocks: tuple[StoredBlock, ...]
    positive: tuple[Column, ...]
    free: tuple[Column, ...]
    rhs: tuple[float, ...]

    def columns(self) -> Iterator[Column]:
        """The columns of all unknowns, entries of matrices among them."""
        for block in self.blocks:
            by_place: dict[tuple[int, int], dict[int, float]] = {}
            for row, matrix in block.matrices.items():
                for (i, j), value in matrix.items():
                    by_place.setdefault((i, j), {})[row] = value if i == j else 2.0 * value
            yield from by_place.values()
        yield from self.positive
        yield from self.free


def natural_program(equality: SDP, inequalities: Mapping[str, int] | None = None) -> SDP:
    """The same program with the coefficients that are meant, and one group of rows, "rows".

    Parameters
    ----------
    equality : SDP
        As made by ``to_equality_form(sdp, keep_free=True)``.
    inequalities : mapping from label to order, optional
        Rows that stand for matrix inequalities, entry by entry in ``svec`` coordinates. Those of
        entries off the diagonal are divided by sqrt 2, which cancels.

    Examples
    --------
    >>> from sdpdr import graphs, methods
    >>> from sdpdr.program.standard import to_equality_form
    >>> natural_program(to_equality_form(methods.mvu(graphs.path([1.0, 2.0])).to_sdp()))
    SDP(unnamed; matrices [K: 3x3], 2 scalars, 5 rows, 0 matrix inequalities)
    """
    orders = inequalities or {}
    off = [np.zeros(1, dtype=bool), *(_off_diagonal_rows(r, orders) for r in equality.rows)]
    sides = [equality.objective, *(r.lhs for r in equality.rows)]
    starts = np.cumsum([0, 1, *(r.m for r in equality.rows)])
    objective: dict[str, LinearMap | VectorMap] = {}
    lhs: dict[str, LinearMap | VectorMap] = {}
    for v in equality.variables:
        found = [
            _entries(side[v.name], v, mask, int(start))
            for start, side, mask in zip(starts, sides, off, strict=False)
            if v.name in side
        ]
        if not found:
            continue
        row, i, j, value = (np.concatenate(each) for each in zip(*found, strict=True))
        of_cost = row == 0
        if np.any(of_cost):
            objective[v.name] = _map(v, 1, row, i, j, value, of_cost)
        if not np.all(of_cost):
            lhs[v.name] = _map(v, equality.n_rows, row - 1, i, j, value, ~of_cost)
    rhs = np.concatenate([np.zeros(0), *(r.rhs for r in equality.rows)])
    rhs = np.where(np.concatenate(off)[1:], near_unscaled(rhs), rhs)
    rows = (Rows("rows", "==", lhs, rhs),) if rhs.size else ()
    return SDP(equality.variables, objective, rows)


def _off_diagonal_rows(rows: Rows, orders: Mapping[str, int]) -> NDArray[np.bool_]:
    """Which rows stand for entries off the diagonal of a matrix inequality."""
    if rows.label not in orders:
        return np.zeros(rows.m, dtype=bool)
    i, j = svec_pairs(np.arange(rows.m))
    return np.asarray(i != j)


def _entries(
    linear_map: LinearMap | VectorMap, variable: Variable, off: NDArray[np.bool_], start: int
) -> tuple[Index, Index, Index, Array]:
    """Rows of a map from ``start``, places in the variable, and the coefficients meant."""
    matrix = linear_map.matrix().tocoo()
    matrix.sum_duplicates()
    i = j = matrix.col
    if isinstance(variable, PsdVariable):
        i, j = svec_pairs(matrix.col)
    row_off, entry_off = off[matrix.row], i != j
    value = np.where(row_off != entry_off, near_unscaled(matrix.data), matrix.data)
    # Off both diagonals, sqrt 2 stands on both sides; the entry counts twice in <A, X>.
    value = np.where(row_off & entry_off, value / 2.0, value)
    return start + matrix.row.astype(np.intp), i, j, value


def _map(
    variable: Variable,
    m: int,
    row: Index,
    i: Index,
    j: Index,
    value: Array,
    chosen: NDArray[np.bool_],
) -> LinearMap | VectorMap:
    """Rows that read the chosen entries of a variable."""
    row, i, j, value = row[chosen], i[chosen], j[chosen], value[chosen]
    if isinstance(variable, PsdVariable):
        return SvecMap.from_entries(variable.n, m, row, i, j, value)
    return variable.rows(sp.csr_array((value, (row, i)), shape=(m, variable.size)))


def stored_program(natural: SDP) -> StoredProgram:
    """The numbers of a program as made by `natural_program`, or of the same on a face."""
    variables = list(natural.variables)
    found = entries_of(natural, variables)
    blocks, positive, free = list[StoredBlock](), list[Column](), list[Column]()
    for v, entries in zip(variables, found.by_block(len(variables)), strict=True):
        listed = zip(*entries.place[[0, 2, 3]].tolist(), entries.value.tolist(), strict=True)
        by_row: dict[int, dict[tuple[int, int], float]] = {}
        columns: list[dict[int, float]] = [{} for _ in range(v.size)]
        for row, i, j, value in listed:
            # Files have the negative of the cost.
            number = value if row else -value
            if isinstance(v, PsdVariable):
                by_row.setdefault(row, {})[i - 1, j - 1] = number
            else:
                columns[i - 1][row] = number
        if isinstance(v, PsdVariable):
            blocks.append(StoredBlock(v.n, by_row))
        else:
            (positive if v.nonnegative else free).extend(columns)
    rhs = tuple(x for r in natural.rows for x in r.rhs.tolist())
    return StoredProgram(tuple(blocks), tuple(positive), tuple(free), rhs)
