r"""Proof that a point nearby satisfies all equations and lies in the cone.

Given x near a solution of A x = b, with rows B chosen independent, the point
:math:`x + A_B^T (A_B A_B^T)^{-1} r`, :math:`r = b_B - A_B x`, satisfies the rows B exactly. With
R an approximate inverse of :math:`A_B A_B^T`, :math:`|r| \le \rho` and
:math:`\|I - A_B A_B^T R\|_\infty \le \alpha < 1`, the inverse is
:math:`R (I - E)^{-1}`, and the point lies within

.. math::  |A_B^T R| \left(\rho + \tfrac{\alpha}{1 - \alpha} \|\rho\|_\infty \mathbf 1\right)

of x, entry by entry (Rump, "Verification methods", Acta Numerica 19, 2010, section 10). This box is
checked for positive definiteness (`sdpdr.linalg.verified`) and for signs, and its largest objective
is the value attained.

Rows that have a column of their own, as the slack of an inequality or of a matrix inequality is,
are left out of the equations at first: whatever the other entries are, that one entry makes such a
row hold, and moves with them by no more than the row says. Only where the box is too large for the
cone is the whole system solved, whose shortest step leaves slack that is nearly zero as it is.

The bounds hold for every matrix within the radius of A, and all rounding is accounted for. What
remains is rows that depend on others: they hold at the exact point if they follow from them exactly
(`dependent`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import scipy.linalg as sl
import scipy.sparse as sp
import scipy.sparse.linalg as spl

from sdpdr.base.arrays import Array, Index
from sdpdr.base.deadline import EffortSpentError
from sdpdr.linalg.rounding import UNIT, gamma
from sdpdr.linalg.svec import smat
from sdpdr.linalg.verified import is_verified_positive
from sdpdr.program.attain.cone import ConeProgram, Scaled
from sdpdr.program.attain.dependent import follows

# Rows of a dense inverse that takes seconds.
LARGEST = 3000
# A row whose part independent of the others is this small, squared, depends on them.
_DEPENDENT = 1e-13
# Columns that are multiplied by the inverse at once.
_CHUNK = 4000
_REFINEMENTS = 3


@dataclass(frozen=True, eq=False)
class Box:
    """A box that contains a feasible point.

    Attributes
    ----------
    x : array of shape (N,)
        Its centre, in the units of the `ConeProgram`.
    value : float
        The largest objective in it.
    factors : mapping from name to array of shape (order, r)
        Of the matrices on their faces, where the proof was in terms of them.
    """

    x: Array
    value: float
    factors: Mapping[str, Array] = field(default_factory=dict)


def enclose(program: ConeProgram, x: Array, exact: bool = False) -> Box | str:
    """A box around a point nearby that contains a feasible one, or why none was found.

    Parameters
    ----------
    program : ConeProgram
    x : array of shape (N,)
        In the interior of the cone.
    exact : bool, default False
        Demand that dependent rows are shown to follow from the others in rational arithmetic;
        modulo a prime will do otherwise.
    """
    scaled = program.rescaled(x)
    rows, columns = own_columns(scaled)
    # An inverse and some products, which go on several times as fast as others do. Of time alone:
    # rows for which it is too large are refused.
    program.effort.foresee(float(scaled.b.size - rows.size) ** 3)
    found = _enclosed(program, scaled, _System(scaled, rows, columns), x, exact)
    if isinstance(found, str) and rows.size:
        nothing = np.zeros(0, dtype=np.int64)
        return _enclosed(program, scaled, _System(scaled, nothing, nothing), x, exact)
    return found


def own_columns(scaled: Scaled) -> tuple[Index, Index]:
    """Rows that have a column that no other row sees, and these columns."""
    columns = sp.csc_array(abs(scaled.A) + abs(scaled.radius))
    alone = np.diff(columns.indptr) == 1
    place = np.flatnonzero(alone)
    row = columns.indices[columns.indptr[place]]
    size = np.abs(_entries(scaled.A, row, place))
    around = np.abs(_entries(scaled.radius, row, place))
    # The largest of several comes last, and stays.
    order = np.lexsort((size, row))
    last = np.append(row[order][1:] != row[order][:-1], True)[: order.size]
    kept = order[last & (size[order] > 2.0 * around[order])]
    return row[kept].astype(np.int64), place[kept]


def _enclosed(
    program: ConeProgram, scaled: Scaled, system: _System, x: Array, exact: bool
) -> Box | str:
    y = system.nearest(x / scaled.units, scaled.b)
    radius, missed = system.distance(y, scaled.b)
    if radius is None:
        return missed
    if system.others.size and not follows(program, system.rows, system.others, exact):
        return "rows depend on others, and it is not shown that they follow from them exactly"
    for block in program.blocks:
        centre, around = smat(y[block.part]), smat(radius[block.part])
        if not is_verified_positive(centre, around + 4.0 * UNIT * np.abs(centre)):
            return f"{block.name!r} is not positive definite throughout the box around it"
    low = y[program.nonnegative] - radius[program.nonnegative]
    if np.any(low < 0.0):
        return "a scalar that is to be non-negative may be negative in the box around it"
    return Box(scaled.units * y, _largest_value(program, scaled.units * y, scaled.units * radius))


def _largest_value(program: ConeProgram, x: Array, radius: Array) -> float:
    reach = np.abs(x) + radius
    linear = np.abs(program.c) @ radius + program.c_radius @ reach
    quadratic = program.curvature @ (radius * (2.0 * np.abs(x) + radius))
    size = np.abs(program.c) @ reach + program.curvature @ (reach * reach)
    rounding = float(gamma(x.size + 8)) * (size + abs(program.sdp.constant))
    return program.value(x) + 1.01 * float(linear + 0.5 * quadratic + rounding)


class _System:
    """The equations in units that suit a point, and an inverse of A A^T on independent rows.

    Rows that have columns of their own, as they are given, are satisfied by these.
    """

    def __init__(self, scaled: Scaled, slack_rows: Index, slack: Index) -> None:
        self._slack = OwnColumns(scaled, slack_rows, slack)
        solved = np.setdiff1d(np.arange(scaled.b.size), slack_rows)
        self.rows = rows = solved[independent_rows(scaled.A[solved])]
        self.others = np.setdiff1d(solved, rows)
        if rows.size > LARGEST:
            raise EffortSpentError(f"{rows.size} rows are too many for a dense inverse")
        self._A, self._radius = scaled.A[rows], scaled.radius[rows]
        self._residual = _Residual(self._A, self._radius)
        self._columns = self._A.T.tocsr()
        product = (self._A @ self._columns).toarray()
        self._inverse = sl.inv(product) if rows.size else product
        self._alpha = self._departure(product)

    def _departure(self, product: Array) -> float:
        """A bound on the norm of I - A A^T R, whatever A is within its radius."""
        m = product.shape[0]
        if m == 0:
            return 0.0
        size = abs(self._A)
        terms = int(np.max(np.diff(self._A.indptr), initial=0)) + 4
        crossed = self._radius @ size.T
        off = (size @ size.T) * float(gamma(terms)) + (crossed + crossed.T) * 1.01
        off = (off + self._radius @ self._radius.T).toarray()
        inverse = np.abs(self._inverse)
        residual = np.abs(np.eye(m) - product @ self._inverse)
        rounding = gamma(m + 2) * (np.abs(product) @ inverse + np.eye(m))
        return 1.01 * float(np.max((residual + rounding + off @ inverse).sum(axis=1)))

    def nearest(self, y: Array, b: Array) -> Array:
        """The point moved onto the equations with right sides b, as far as rounding lets it."""
        for _ in range(_REFINEMENTS if self.rows.size else 0):
            y = y + self._columns @ (self._inverse @ (b[self.rows] - self._A @ y))
        return self._slack.nearest(y, b)

    def distance(self, y: Array, b: Array) -> tuple[Array | None, str]:
        """How far, entry by entry, a solution of the independent rows is at most."""
        if not self._alpha < 1.0:
            return None, "the equations are too close to dependent to be solved with a proof"
        missed = self._residual.bound(b[self.rows], y)
        worst = float(np.max(missed, initial=0.0))
        radius = self._spread(1.01 * (missed + self._alpha / (1.0 - self._alpha) * worst))
        return self._slack.distance(y, b, radius), ""

    def _spread(self, missed: Array) -> Array:
        """The product of |A^T R| and a vector, some columns of A at a time."""
        parts = self.kept if self._columns.shape[0] <= _CHUNK else self._spreading()
        found = np.concatenate([np.zeros(0), *(part @ missed for part in parts)])
        return np.asarray(1.01 * (found + self.rounding @ (np.abs(self._inverse) @ missed)))

    @cached_property
    def kept(self) -> list[Array]:
        """Bounds on |A^T R|, where they fit into memory."""
        return list(self._spreading())

    def _spreading(self) -> Iterator[Array]:
        for start in range(0, self._columns.shape[0], _CHUNK):
            yield np.abs(self._columns[start : start + _CHUNK] @ self._inverse)

    @cached_property
    def rounding(self) -> sp.csr_array:
        """What rounding adds to them, beside |R|."""
        terms = int(np.max(np.diff(self._columns.indptr), initial=0)) + 4
        return float(gamma(terms)) * abs(self._columns) + self._radius.T.tocsr()


class OwnColumns:
    """Rows with columns of their own, which the other rows do not see."""

    def __init__(self, scaled: Scaled, rows: Index, columns: Index) -> None:
        self.rows, self.columns = rows, columns
        self.entries = _entries(scaled.A, rows, columns)
        self._A, around = scaled.A[rows], scaled.radius[rows]
        self._reach = 1.01 * (abs(self._A) + around)
        self.least = np.abs(self.entries) - _entries(scaled.radius, rows, columns)
        self._residual = _Residual(self._A, around)

    def nearest(self, y: Array, b: Array) -> Array:
        """The point with these columns as the rows want them, as far as rounding lets it."""
        moved = y.copy()
        for _ in range(_REFINEMENTS if self.rows.size else 0):
            missed = b[self.rows] - self._A @ moved
            moved[self.columns] += missed / self.entries
        return moved

    def distance(self, y: Array, b: Array, radius: Array) -> Array:
        """How far a solution of all rows is, where the others have one as far as the radius.

        With a the entry of a row in its own column j, and h the other entries' distance, the exact
        entry is :math:`y_j + (b - A y - A_{other} h) / a`, for every a within its radius.
        """
        if not self.rows.size:
            return radius
        found = radius.copy()
        missed = self._residual.bound(b[self.rows], y)
        found[self.columns] = 1.01 * (missed + self._reach @ radius) / self.least
        return found


def _entries(A: sp.csr_array, rows: Index, columns: Index) -> Array:
    # SciPy answers an empty choice with a sparse array.
    return np.asarray(A[rows, columns]).ravel() if rows.size else np.zeros(0)


class _Residual:
    """Bounds on the size of b - A y for every A within its radius."""

    def __init__(self, A: sp.csr_array, radius: sp.csr_array) -> None:
        self._A, self._terms = A, gamma(np.diff(A.indptr) + 2)
        self._sizes = sp.diags_array(self._terms) @ abs(A) + radius

    def bound(self, b: Array, y: Array) -> Array:
        """One for each row."""
        rounding = self._sizes @ np.abs(y) + self._terms * np.abs(b)
        return np.asarray(np.abs(b - self._A @ y) + 1.01 * rounding)


def independent_rows(A: sp.csr_array) -> Index:
    """Rows that span all others, to within rounding, by a pivoted Cholesky factorization."""
    if A.shape[0] == 0:
        return np.zeros(0, dtype=np.int64)
    if A.shape[0] > 2 * LARGEST:
        raise EffortSpentError(f"{A.shape[0]} rows are too many to be told apart")
    norms = spl.norm(A, axis=1)
    unit = sp.diags_array(1.0 / np.where(norms > 0.0, norms, 1.0)) @ A
    _, pivots, rank, _ = sl.lapack.dpstrf((unit @ unit.T).toarray(), tol=_DEPENDENT, lower=1)
    return np.sort(pivots[:rank].astype(np.int64) - 1)
