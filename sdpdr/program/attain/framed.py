r"""Points whose fixed principal block is met exactly, and whose other rows give way or hold.

A matrix :math:`Z = \begin{pmatrix} B & X^T \\ X & Y \end{pmatrix}` with B given (coordinates of
points among known ones, for instance) has a factor :math:`(P; Q)` with :math:`P P^T = B`. For any
factor with :math:`G = P P^T` positive definite,

.. math::  P \leftarrow L_B L_G^{-1} P, \qquad B = L_B L_B^T, \quad G = L_G L_G^T

meets the block, moves P by no more than what it missed, and leaves Z semidefinite. The point meant
is the one for which this is done exactly. Rows with slack of either sign take what they miss then,
and the other inequalities have to hold by more than their rounding, which the inverse of L_G
magnifies. A block that is nearly singular, and may be indefinite but for rounding, is left alone.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from sdpdr.base.arrays import Array, Index
from sdpdr.linalg import LinearMap
from sdpdr.linalg.magnitudes import is_written_exactly
from sdpdr.linalg.svec import svec_pairs
from sdpdr.program.attain.rounding import magnitudes, rounding_of
from sdpdr.program.attain.shrunk import Found, Values, as_given, holds_with_slack
from sdpdr.program.boxes import SlackColumn, fill_slack, slack_columns
from sdpdr.program.face import exposing_rows
from sdpdr.program.point import Factor
from sdpdr.program.rows import Rows
from sdpdr.program.sdp import SDP

_WORDS = "moved to the entries that are fixed"
# Largest block that is inverted, and how far from the block a point may be that is moved to it.
_LARGEST, _NEAR = 200, 1e-3
# Least eigenvalue of a block with a unit diagonal that rounding leaves what it is.
_CLEARLY = 1e-6


def framed(sdp: SDP, factors: Mapping[str, Factor]) -> Factor | None:
    """The factor of the one matrix moved to its fixed block; None where there is no such block.

    Parameters
    ----------
    sdp : SDP
    factors : mapping from variable name to Factor

    Examples
    --------
    >>> from sdpdr.linalg import Entries, InnerProduct
    >>> from sdpdr.program.point import PsdVariable
    >>> fixed = Rows("fixed", "==", {"Z": Entries(2, [[0, 0]])}, np.array([4.0]))
    >>> sdp = SDP((PsdVariable("Z", 2),), {"Z": InnerProduct(np.eye(2))}, (fixed,))
    >>> framed(sdp, {"Z": Factor(np.array([[2.0001], [1.0]]))}).factor.tolist()
    [[2.0], [1.0]]
    """
    block = fixed_block(sdp)
    if block is None:
        return None
    (points, fixed), name = block, sdp.psd_variables[0].name
    given = factors[name].factor
    try:
        here, there = np.linalg.cholesky(_gram(given[points])), np.linalg.cholesky(fixed)
    except np.linalg.LinAlgError:
        return None
    if np.abs(_gram(given[points]) - fixed).max() > _NEAR * np.abs(fixed).max():
        return None
    moved = given.copy()
    moved[points] = there @ np.linalg.solve(here, given[points])
    return Factor(moved)


def moved_to_block(sdp: SDP, values: Values, factors: Mapping[str, Factor]) -> Found | None:
    """The point moved to a block that is fixed, where slack takes the rest or all holds."""
    block, moved = fixed_block(sdp), framed(sdp, factors)
    if moved is None or block is None:
        return None
    point = beside_slack(sdp, values, moved, clarity(block[1]))
    return None if point is None else (sdp.primal_value(point), as_given(values, point), _WORDS)


def beside_slack(sdp: SDP, values: Values, moved: Factor, share: float = 1.0) -> Values | None:
    """The point of a factor that meets the equations without slack; None if other rows may fail.

    Parameters
    ----------
    sdp : SDP
        Of one matrix.
    values : mapping from variable name to array or Factor
    moved : Factor
        Of the matrix, which meets the equations when moved by no more than rounding.
    share : float, default 1
        What rounding counts over.
    """
    columns, name = slack_columns(sdp), sdp.psd_variables[0].name
    if columns is None:
        return None
    slacked = {c.label for c in columns}
    alone: Values = {**{v.name: np.zeros(v.size) for v in sdp.vector_variables}, name: moved}
    point = {**values, name: moved}
    point.update(fill_slack(sdp, point, columns))
    if not holds_with_slack(sdp, name, point, slacked):
        return None
    for rows in sdp.rows:
        if rows.relation == "==" and rows.label not in slacked:
            if np.any(abs(sdp.slack(rows, point)) > rounding_of(rows, point)):
                return None
        elif not _is_left_room(sdp, rows, alone, columns, share):
            return None
    return point


def _is_left_room(
    sdp: SDP, rows: Rows, alone: Values, columns: list[SlackColumn], share: float
) -> bool:
    """Whether every row can be met by its slack, or holds by more than rounding without any.

    Rounding counts over ``share``, and beside the points themselves: the block moves some of them.
    """
    left, rounding = sdp.slack(rows, alone), rounding_of(rows, alone, magnitudes) / share
    lowered, raised = np.zeros(rows.m, dtype=bool), np.full(rows.m, rows.relation == "<=")
    for column in columns:
        if column.label == rows.label:
            curved = column.curvature is not None
            lowered[column.row[curved | (column.coefficient < 0.0)]] = True
            raised[column.row[curved | (column.coefficient > 0.0)]] = True
    return bool(np.all((lowered | (left >= rounding)) & (raised | (left <= -rounding))))


def _gram(points: Array) -> Array:
    return np.asarray(points @ points.T)


def fixed_block(sdp: SDP) -> tuple[Index, Array] | None:
    """Points all of whose products are fixed by the equations without slack, and these products.

    Returns
    -------
    (points, block), arrays of shapes (p,) and (p, p), or None
        None where there are several matrices, or other equations without slack, or where the block
        is not clearly positive definite.
    """
    if sdp.lmis or len(sdp.psd_variables) != 1:
        return None
    name, columns = sdp.psd_variables[0].name, slack_columns(sdp)
    if columns is None or exposing_rows(sdp, name):
        return None
    slacked = {column.label for column in columns}
    exact = [r for r in sdp.rows if r.relation == "==" and r.label not in slacked]
    return _block_of(exact, name)


def _block_of(exact: list[Rows], name: str) -> tuple[Index, Array] | None:
    first, second, values = [], [], []
    for rows in exact:
        linear_map = rows.lhs.get(name)
        if not isinstance(linear_map, LinearMap) or not is_written_exactly(linear_map):
            return None
        matrix = linear_map.matrix()
        if set(rows.lhs) != {name} or np.any(np.diff(matrix.indptr) != 1):
            return None
        if not matrix.data.all():  # as of a point's distance from itself, which fixes nothing
            return None
        i, j = svec_pairs(matrix.indices)
        scale = np.where(i == j, 1.0, np.sqrt(2.0)) * matrix.data
        first.append(i)
        second.append(j)
        values.append(rows.rhs / scale)
    if not first:
        return None
    i, j, value = map(np.concatenate, (first, second, values))
    points = np.unique(np.append(i, j))
    if points.size > _LARGEST or i.size != points.size * (points.size + 1) // 2:
        return None
    block = np.full((points.size, points.size), np.nan)
    a, b = np.searchsorted(points, i), np.searchsorted(points, j)
    block[a, b] = block[b, a] = value
    return (points, block) if clarity(block) > _CLEARLY else None


def clarity(block: Array) -> float:
    """The least eigenvalue of a block in units of its diagonal; 0 where it is not positive.

    Examples
    --------
    >>> clarity(np.array([[4.0, 1.0], [1.0, 1.0]])), clarity(np.zeros((1, 1)))
    (0.5, 0.0)
    """
    diagonal = np.diagonal(block)
    if not block.size or not np.isfinite(block).all() or not np.all(diagonal > 0.0):
        return 0.0
    units = np.sqrt(diagonal)
    scaled = block / units[:, None] / units
    return max(0.0, float(np.linalg.eigvalsh(scaled)[0])) if np.isfinite(scaled).all() else 0.0
