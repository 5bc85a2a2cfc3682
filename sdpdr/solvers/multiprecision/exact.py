r"""A program in equality form over the rational numbers, exactly as it is stored.

.. math::

    \min\ \textstyle\sum_k \langle C_k, X_k\rangle + c^T x + d^T f + c_0 \quad\text{s.t. }
    \sum_k A_k(X_k) + B x + F f = b, \qquad X_k \succeq 0,\ x \ge 0,\ f \text{ free.}

Every double is a rational number, so nothing is lost here. One thing has to be said: coefficients
of entries off the diagonal are stored times sqrt 2 (see `sdpdr.linalg.svec`), and rounded. The
program that is meant has the entry with fewest digits whose product with sqrt 2 rounds to the
number stored, which is also what `sdpdr.write_sdpa` writes: an entry that came from a file or from
a formula is recovered without change.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from flint import fmpq

from sdpdr.program.entries import entries_of
from sdpdr.program.sdp import SDP
from sdpdr.program.variables import PsdVariable, Variable

# Row 0 is the cost; rows 1, ..., m follow. Symmetric matrices are upper triangles.
Symmetric = Mapping[tuple[int, int], fmpq]
Column = Mapping[int, fmpq]


@dataclass(frozen=True, eq=False)
class Block:
    """A matrix variable: its order, and the symmetric matrices of the cost and of the rows."""

    order: int
    matrices: Mapping[int, Symmetric]


@dataclass(frozen=True, eq=False)
class ExactProgram:
    """A program in equality form (see the text of the module).

    Attributes
    ----------
    blocks : tuple of Block
    positive, free : tuple of mapping from row to coefficient
        Columns of the scalars, the cost among them as row 0.
    rhs : tuple of fmpq
        Of rows 1, ..., m.
    """

    blocks: tuple[Block, ...]
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


def exact_program(equality: SDP) -> ExactProgram:
    """The rational numbers of a program in equality form, whose vectors may be free.

    Parameters
    ----------
    equality : SDP
        As made by ``to_equality_form(sdp, keep_free=True)``.

    Examples
    --------
    >>> from sdpdr import graphs, methods
    >>> from sdpdr.program.standard import to_equality_form
    >>> program = exact_program(to_equality_form(methods.mvu(graphs.path([1.0, 2.0])).to_sdp()))
    >>> program.n_rows, [block.order for block in program.blocks], len(program.positive)
    (5, [3], 2)
    """
    variables: list[Variable] = list(equality.variables)
    blocks: list[Block] = []
    positive: list[Column] = []
    free: list[Column] = []
    for v, matrices in zip(variables, _matrices(equality, variables), strict=True):
        if isinstance(v, PsdVariable):
            blocks.append(Block(v.n, matrices))
            continue
        columns: list[dict[int, fmpq]] = [{} for _ in range(v.size)]
        for row, matrix in matrices.items():
            for (i, _), value in matrix.items():
                columns[i][row] = value
        (positive if v.nonnegative else free).extend(columns)
    rhs = [rational(b) for r in equality.rows for b in r.rhs.tolist()]
    return ExactProgram(tuple(blocks), tuple(positive), tuple(free), tuple(rhs))


def _matrices(
    equality: SDP, variables: Sequence[Variable]
) -> list[dict[int, dict[tuple[int, int], fmpq]]]:
    """By variable and row, the entries of the upper triangle."""
    entries = entries_of(equality, list(variables))
    found: list[dict[int, dict[tuple[int, int], fmpq]]] = [{} for _ in variables]
    # Files hold the negative of the cost.
    values = np.where(entries.place[0] == 0, -entries.value, entries.value)
    places = (entries.place - np.array([[0], [1], [1], [1]])).T.tolist()
    for (row, block, i, j), value in zip(places, values.tolist(), strict=True):
        found[block].setdefault(row, {})[min(i, j), max(i, j)] = rational(value)
    return found
