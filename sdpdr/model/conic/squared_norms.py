r"""Squares of norms as sums of squares.

cvxpy writes ``norm(X - G, "fro") ** 2`` as the square of an unknown t with a second-order cone
:math:`\|v\| \le t`. Where t is in nothing else, its square is the sum of those of unknowns y with
the equation y = v, which `defined` then eliminates.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp

from sdpdr.model.conic.program import AUXILIARY, Columns, ConeRows, ConicProgram, taken, widened
from sdpdr.model.conic.step import Raised, Step, in_order, unit_columns


@dataclass(frozen=True, eq=False)
class SquaredNorm:
    """A second-order cone whose bound is squared in the cost and in nothing else.

    Attributes
    ----------
    cone : ConeRows
    column : int
        The bound t.
    square : int
        The row of the squares that t is in.
    scale : float
        Half the square of t counts as that of v times this.
    """

    cone: ConeRows
    column: int
    square: int
    scale: float

    @property
    def size(self) -> int:
        """Number of entries of v."""
        return self.cone.rows.size - 1


def squared_norms(program: ConicProgram) -> Step | None:
    r"""The program in which squared norms are sums of squares; None if there are none.

    Examples
    --------
    Half the square of t, where :math:`\|(x - 3, x)\| \le t`:

    >>> from sdpdr.model.conic.program import Columns
    >>> matrix = sp.csr_array([[0.0, -1.0], [-1.0, 0.0], [-1.0, 0.0]])
    >>> columns = [Columns("x", np.arange(1)), Columns("auxiliary", np.arange(1, 2))]
    >>> cones = [ConeRows("second-order", "norm", np.arange(3))]
    >>> rhs, root = np.array([0.0, -3.0, 0.0]), sp.csr_array([[0.0, 1.0]])
    >>> given = ConicProgram(np.zeros(2), 0.0, matrix, rhs, cones, columns, root=root)
    >>> found = squared_norms(given)
    >>> found.program.root.toarray().tolist(), [cone.kind for cone in found.program.cones]
    ([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]], ['zero'])
    >>> found.primal(np.array([3.0, 0.0, 3.0]))
    array([3., 3.])
    """
    norms = [] if program.root is None else _norms(program)
    return _with_squares(program, norms) if norms else None


def _norms(program: ConicProgram) -> list[SquaredNorm]:
    """The norms whose bounds are squared, and are in nothing else."""
    matrix, root, shift = program.matrix, program.root, program.root_shift
    assert root is not None
    is_own = program.are_called(AUXILIARY) & (program.cost == 0.0)
    is_own &= np.bincount(matrix.indices, minlength=is_own.size) == 1
    is_own &= np.bincount(root.indices, minlength=is_own.size) == 1
    alone = np.flatnonzero(np.diff(root.indptr) == 1)
    if shift is not None:
        alone = alone[shift[alone] == 0.0]
    square = dict(zip(root.indices[root.indptr[alone]].tolist(), alone.tolist(), strict=True))
    found = []
    for cone in program.cones:
        bound = taken(matrix, cone.rows[:1])
        if cone.kind != "second-order" or bound.nnz != 1 or program.rhs[cone.rows[0]] != 0.0:
            continue
        t = int(bound.indices[0])
        if is_own[t] and t in square and bound.data[0] < 0.0:
            scale = abs(float(root.data[root.indptr[square[t]]])) / -float(bound.data[0])
            found.append(SquaredNorm(cone, t, square[t], scale))
    return found


def _with_squares(program: ConicProgram, norms: list[SquaredNorm]) -> Step:
    """The program with an unknown for each entry of v, and equations in place of the cones."""
    assert program.root is not None
    (m, n), q, cones = program.matrix.shape, program.root.shape[0], [norm.cone for norm in norms]
    bounds = np.array([norm.column for norm in norms])
    kept = np.setdiff1d(np.arange(n), bounds)
    row = np.setdiff1d(np.arange(m), [cone.rows[0] for cone in cones])
    square = np.setdiff1d(np.arange(q), [norm.square for norm in norms])
    direction, none = np.zeros(n), np.arange(0)
    direction[bounds] = 1.0
    step = Step.substituting(program, kept, row, raised=(Raised(direction, cones, none, none),))
    smaller, scale = step.program, np.repeat([n.scale for n in norms], [n.size for n in norms])
    body = np.searchsorted(row, np.concatenate([cone.rows[1:] for cone in cones]))
    labels, k = {cone.label for cone in cones}, scale.size
    assert smaller.root is not None
    shift = None if smaller.root_shift is None else smaller.root_shift[square]
    larger = replace(
        smaller,
        cost=np.append(smaller.cost, np.zeros(k)),
        matrix=in_order(sp.hstack([smaller.matrix, unit_columns(body, row.size)])),
        cones=[
            replace(cone, kind="zero") if cone.label in labels else cone for cone in smaller.cones
        ],
        columns=[*smaller.columns, Columns(AUXILIARY, kept.size + np.arange(k))],
        root=in_order(sp.block_diag([smaller.root[square], sp.diags_array(scale)])),
        root_shift=None if shift is None else np.append(shift, np.zeros(k)),
    )
    return replace(step, program=larger, columns=widened(step.columns, k))
