r"""What a proof yields, and multipliers that satisfy the dual equations of free scalars.

In floating point :math:`B^T y + c = 0` holds up to rounding at best, and a free scalar without
limits forgives nothing. But exact multipliers lie close by: move only the multipliers of as many
rows P as there are free scalars, by :math:`\Delta` with :math:`M \Delta = -r`,
:math:`M = B_P^T`, r the residual. For any matrix R with
:math:`\|I - R M\|_\infty \le \alpha < 1`, M is regular and

.. math::  \|\Delta\|_\infty \le \|R\, r\|_\infty / (1 - \alpha).

(Rump, "Verification methods", Acta Numerica 19, 2010, section 10.) Whatever is then proved for
all multipliers within the radius holds for those.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import islice

import numpy as np
import scipy.linalg as sl
import scipy.sparse as sp
import scipy.sparse.linalg as spl

from sdpdr.base.arrays import Array, Index, Matrix, placed
from sdpdr.linalg import LinearMap, VectorMap
from sdpdr.linalg.exact import exact_terms
from sdpdr.linalg.outer import Outer
from sdpdr.linalg.rounding import dot_enclosure, gamma
from sdpdr.program.face import visible_rows
from sdpdr.program.point import Variable, side_by_side
from sdpdr.program.rows import Rows
from sdpdr.program.sdp import SDP

Duals = Mapping[str, Array]
# Terms of an objective beyond which nobody looks whether they cancel exactly.
_LARGEST = 200_000


@dataclass(frozen=True)
class Certificate:
    """A proven bound on the optimal value, or the reason why there is none.

    Attributes
    ----------
    bound : float or None
        In the sense the person wrote: an upper bound of a maximum, a lower bound of a minimum.
    argument : str
        In words, which argument proves it, or why none does.
    rigorous : bool
        Whether all rounding is accounted for, so that the bound is a theorem about the numbers
        stored in the program.
    duals : mapping from label to array
        Multipliers that prove it, where these are not the ones given; else empty. What they lack is
        paid for by limits where the argument says so.
    """

    bound: float | None
    argument: str
    rigorous: bool = False
    duals: Duals = field(default_factory=dict, repr=False, compare=False)


def has_no_objective(sdp: SDP) -> bool:
    """Whether every feasible point has the same value, for certain."""
    curved = any(v.curvature is not None for v in sdp.vector_variables)
    if curved or any(_has_entries(sdp.cost(name)) for name in sdp.objective):
        return False
    return all(map(_is_zero, sdp.objective.values()))


def _has_entries(cost: Matrix) -> bool:
    if isinstance(cost, Outer):
        # Products with weights of both signs may cancel on the diagonal, and not beside it.
        outer = np.any(cost.columns != 0.0, axis=0) & (cost.weights != 0.0)
        return bool(np.any(outer) or np.any(cost.sparse.data))
    return bool(np.any(cost.data if sp.issparse(cost) else cost))


def _is_zero(cost: LinearMap | VectorMap) -> bool:
    """Whether the numbers stored add up to zero exactly; False where they are too many."""
    terms = list(islice(exact_terms(cost), _LARGEST + 1))
    sums: dict[tuple[int, int], tuple[Fraction, Fraction]] = {}
    for _, i, j, (p, q) in terms:
        before = sums.get((i, j), (Fraction(0), Fraction(0)))
        sums[i, j] = (before[0] + p, before[1] + q)
    return len(terms) <= _LARGEST and not any(any(number) for number in sums.values())


_PASSES = 8
_CANCELLED = 1e-14


def stack(rows: Sequence[Rows], y: Duals) -> Array:
    """Multipliers of several groups as one vector."""
    return np.concatenate([np.zeros(0), *(y[r.label] for r in rows)])


def unstack(rows: Sequence[Rows], y: Array) -> dict[str, Array]:
    """The inverse of `stack`."""
    parts = np.split(y, np.cumsum([r.m for r in rows])[:-1]) if rows else []
    return {r.label: part for r, part in zip(rows, parts, strict=True)}


def free_columns(sdp: SDP, rows: list[Rows]) -> tuple[sp.csr_array, Array]:
    """Matrix B (rows x free scalars) and cost c of the dual equations B^T y + c = 0."""
    free = [v for v in sdp.vector_variables if v.is_free]
    cost = np.concatenate([np.zeros(0), *(sdp.cost(v.name) for v in free)])
    return columns_of(rows, free), cost


def columns_of(rows: Sequence[Rows], variables: Sequence[Variable]) -> sp.csr_array:
    """The rows at the entries of some variables, matrices as ``svec``, one variable after another.

    Returns
    -------
    sparse array of shape (m, entries)
    """
    places = side_by_side(variables)
    starts = np.cumsum([0, *(r.m for r in rows)]).tolist()
    blocks = (
        (start, places[name].start, linear_map.matrix())
        for start, r in zip(starts, rows, strict=False)
        for name, linear_map in r.lhs.items()
        if name in places
    )
    return placed(blocks, (starts[-1], sum(v.size for v in variables)))


def project(columns: sp.csr_array, right: Array, y: Array) -> Array:
    """The nearest y with ``columns^T y = right``, by least squares and refinement.

    Rounding leaves every equation a residual as large as the rounding of its own terms; where the
    equations contradict each other, a residual of theirs.

    Parameters
    ----------
    columns : sparse array of shape (m, q)
    right : array of shape (q,)
    y : array of shape (m,)

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> project(sp.csr_array(np.ones((2, 1))), np.array([4.0]), np.zeros(2)).round(12).tolist()
    [2.0, 2.0]
    """
    if columns.shape[1] == 0:
        return y
    rounding = gamma(2 + np.diff(columns.tocsc().indptr))
    for _ in range(_PASSES):
        residual = right - columns.T @ y
        # An equation between multipliers of 1e-22 must be met to 1e-38, which least squares do not
        # see beside the rounding of equations between larger ones.
        residual[np.abs(residual) <= rounding * (np.abs(right) + abs(columns).T @ np.abs(y))] = 0.0
        if not np.any(residual):
            break
        step = spl.lsqr(columns.T, residual, atol=1e-15, btol=1e-15)[0]
        # What opposite numbers leave of each other is rounding: such a multiplier must be zero.
        y = np.where(np.abs(y + step) <= _CANCELLED * np.abs(y), 0.0, y + step)
    return y


def on_equations(sdp: SDP, y: Duals) -> dict[str, Array]:
    """The nearest multipliers of the visible rows that satisfy the equations of free scalars."""
    rows = visible_rows(sdp)
    columns, cost = free_columns(sdp, rows)
    return unstack(rows, project(columns, -cost, stack(rows, y)))


# Equations are solved with a dense matrix, which more scalars would make too slow.
_MOST = 2000


def radius_of_exact(sdp: SDP, y: Duals) -> dict[str, Array]:
    """How far multipliers that satisfy the equations exactly may lie from those given.

    Returns
    -------
    dict from row label to array
        Empty where there are no free scalars, where the equations hold exactly as they are, or
        where no exact multipliers could be enclosed.
    """
    rows = [r for r in visible_rows(sdp) if r.label in y]
    columns, cost = free_columns(sdp, rows)
    m, q = columns.shape
    if q == 0 or q > min(_MOST, m):
        return {}
    multipliers, by_column = stack(rows, y), columns.tocsc()
    residual = np.zeros(q)
    for j in range(q):
        part = slice(by_column.indptr[j], by_column.indptr[j + 1])
        low, high = dot_enclosure(
            by_column.data[part], multipliers[by_column.indices[part]], float(cost[j])
        )
        residual[j] = max(abs(low), abs(high))
    if not residual.any():
        return {}
    radius = np.zeros(m)
    chosen = _independent_rows(columns.toarray())
    radius[chosen] = _distance(columns[chosen].toarray().T, residual)
    return unstack(rows, radius) if np.isfinite(radius).all() else {}


def _independent_rows(columns: Array) -> Index:
    order = sl.qr(columns.T, mode="r", pivoting=True)[1]
    return np.asarray(order[: columns.shape[1]])


def _distance(matrix: Array, residual: Array) -> float:
    q = residual.size
    try:
        inverse = np.linalg.inv(matrix)
    except np.linalg.LinAlgError:
        return float("inf")
    size = np.abs(inverse) @ np.abs(matrix)
    off = np.abs(np.eye(q) - inverse @ matrix) + gamma(q + 2) * (size + np.eye(q))
    alpha = 1.01 * float(np.max(off.sum(axis=1)))
    if not alpha < 1.0:
        return float("inf")
    return 1.01 * float(np.max(np.abs(inverse) @ residual)) / (1.0 - alpha)
