r"""Points shrunk until all upper limits hold, and points that hold as they are.

*Shrunk.* Where all rows are upper limits, or have slack, and homogeneous equations state the face,
the feasible set holds with every point all the points between it and zero. A matrix on its face is
divided by the largest ratio of a row to its limit; slack takes what is left
(`sdpdr.program.boxes`).

*Held.* Where the only equations state faces, a point on them that satisfies every inequality by
more than its rounding, those of matrices too, is feasible as it is.

With all rounding accounted for, the point is :math:`K = T R R^T T^T / s` with T exact: lengths of
edges do not change when all points are moved by one vector, so that
:math:`T = I - \mathbf 1 u^T / u^T \mathbf 1` brings the factor R onto the face K u = 0 and leaves
them as they are.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from sdpdr.base.arrays import Array
from sdpdr.linalg import LinearMap, lengths_of
from sdpdr.linalg.magnitudes import row_terms
from sdpdr.linalg.rounding import UNIT, gamma
from sdpdr.linalg.svec import smat
from sdpdr.program.attain.rounding import (
    ROUNDINGS,
    magnitudes,
    objective_at,
    rounding_of,
    total_size,
)
from sdpdr.program.boxes import SlackColumn, fill_slack, shrink, slack_columns
from sdpdr.program.certificate.arithmetic import noticed_rounding
from sdpdr.program.face import null_vectors, onto_face, visible_rows
from sdpdr.program.point import Factor, Value
from sdpdr.program.rows import Lmi, Rows
from sdpdr.program.sdp import SDP

Values = Mapping[str, Value]
# Value (of the minimisation), point, and words.
Found = tuple[float, Values, str]

# A factor is shrunk by this more, relatively, which covers a few thousand roundings.
_INWARDS = 1e-12
# Rounding, relative to limits, beyond which nothing is shrunk to them.
_CLEARLY = 1e-9
_SHRUNK = "shrunk until all upper limits hold"
_HELD = "every inequality holds by more than its rounding"


def as_given(values: Values, point: Values) -> Values:
    """The point with dense matrices where the values have dense ones."""
    return {
        name: x.dense() if isinstance(x, Factor) and not isinstance(values[name], Factor) else x
        for name, x in point.items()
    }


def shrunk(sdp: SDP, values: Values, factors: Mapping[str, Factor]) -> Found | None:
    """The point of one matrix shrunk until it is feasible; None where that is no proof."""
    columns = slack_columns(sdp)
    if columns is None or not _is_shrinkable(sdp, columns):
        return None
    name, slacked = sdp.psd_variables[0].name, {c.label for c in columns}
    point = {**values, name: Factor(onto_face(sdp, name, factors[name].factor))}
    point = dict(shrink(sdp, point, slacked))
    blur = _blur_of_limits(sdp, name, point, slacked)
    if blur > _CLEARLY:
        return None
    point[name] = point[name] / (1.0 + blur)
    point.update(fill_slack(sdp, point, columns))
    if not holds_with_slack(sdp, name, point, slacked):
        return None
    return _value_above(sdp, point), as_given(values, point), _SHRUNK


def _value_above(sdp: SDP, point: Values) -> float:
    """The objective, and what rounding may be of it where much cancels."""
    value = sdp.primal_value(point)
    size = abs(sdp.constant)
    for v in sdp.vector_variables:
        x = np.abs(np.asarray(point[v.name]))
        size += float(np.abs(np.asarray(sdp.cost(v.name))) @ x)
        size += 0.5 * float(v.curvature @ np.square(x)) if v.curvature is not None else 0.0
    return value + noticed_rounding(sdp, value, size)


def _is_shrinkable(sdp: SDP, columns: list[SlackColumn]) -> bool:
    """Whether all rows are upper limits, state the face, or have slack that zero leaves them."""
    slacked = {c.label for c in columns}
    return all(
        np.all(_is_held_at_zero(r, columns))
        if r.label in slacked
        else r.relation == "<=" and np.all(r.rhs > 0.0)
        for r in visible_rows(sdp)
    )


def _is_held_at_zero(rows: Rows, columns: list[SlackColumn]) -> NDArray[np.bool_]:
    """For every row of a group whether it has slack with which it holds where the matrix is zero.

    Slack that demands something of the matrix, as of a lower limit, is not made up for by
    shrinking, and a row of the group that has none is an equation.
    """
    known = np.zeros(rows.m, dtype=bool)
    for column in columns:
        if column.label != rows.label:
            continue
        left = rows.rhs[column.row]
        if column.curvature is not None:
            known[column.row] = True
        elif rows.relation == "==":
            known[column.row] |= left * np.sign(column.coefficient) >= 0.0
        else:
            known[column.row] |= (left >= 0.0) | (column.coefficient < 0.0)
    return known


def held(sdp: SDP, values: Values, factors: Mapping[str, Factor]) -> Found | None:
    """The point moved onto the faces, where all rows are inequalities and hold.

    Positive limits that are missed by a little are met by shrinking everything, which homogeneous
    rows do not notice.
    """
    visible = visible_rows(sdp)
    if any(r.relation == "==" for r in visible):
        return None
    onto = {k: Factor(onto_face(sdp, k, x.factor)) for k, x in factors.items()}
    if not sdp.vector_variables:
        onto = _within_positive_limits(visible, onto)
    point: dict[str, Value] = {**values, **onto}
    for v in sdp.vector_variables:
        given = np.asarray(values[v.name], dtype=float)
        point[v.name] = np.maximum(given, 0.0) if v.nonnegative else given
    if any(np.any(sdp.slack(r, point) < rounding_of(r, point)) for r in visible):
        return None
    if not all(_is_inside(sdp, lmi, point) for lmi in sdp.lmis):
        return None
    return _value_above(sdp, point), as_given(values, point), _HELD


def _is_inside(sdp: SDP, lmi: Lmi, point: Values) -> bool:
    """Whether a matrix inequality holds by more than rounding could make up."""
    size = lmi.constant.size
    matrix = smat(lmi.constant + sdp.evaluate(lmi.lhs, point, size))
    blur = rounding_of(Rows(lmi.label, "<=", lmi.lhs, lmi.constant), point)
    spectrum = np.linalg.eigvalsh(matrix)
    rounding = float(gamma(8 * lmi.order)) * float(np.max(np.abs(spectrum)))
    return bool(spectrum[0] > 2.0 * float(np.linalg.norm(blur)) + rounding)


def _within_positive_limits(groups: list[Rows], factors: dict[str, Factor]) -> dict[str, Factor]:
    """All factors divided by what positive limits, less their rounding, are missed by."""
    excess = 1.0
    for rows in groups:
        left = 2.0 * rounding_of(rows, factors)
        for key, linear_map in rows.lhs.items():
            if isinstance(linear_map, LinearMap):
                left = left + linear_map.apply_factor(factors[key].factor)
        above = rows.rhs > 0.0
        ratio = left[above] / rows.rhs[above]
        excess = max(excess, float(np.max(ratio, initial=0.0)))
    if excess <= 1.0:
        return factors
    return {key: Factor(f.factor / np.sqrt(excess)) for key, f in factors.items()}


def _blur_of_limits(sdp: SDP, name: str, point: Values, slacked: set[str]) -> float:
    """Rounding of rows without slack, relative to their limits, where terms cancel."""
    factor, blur = point[name], 0.0
    assert isinstance(factor, Factor)
    for rows in visible_rows(sdp):
        linear_map = rows.lhs.get(name)
        if rows.label in slacked or not isinstance(linear_map, LinearMap):
            continue
        if lengths_of(linear_map) is None:  # differences come first, and squares do not cancel
            terms = factor.factor.shape[1] + row_terms(linear_map) + 8
            sizes = float(gamma(terms)) * magnitudes(linear_map, factor.factor)
            blur = max(blur, float(np.max(sizes / rows.rhs, initial=0.0)))
    return blur


def holds_with_slack(sdp: SDP, name: str, point: Values, slacked: set[str]) -> bool:
    """Whether every row with slack holds to rounding; the others were shrunk until they hold."""
    factor = point[name]
    assert isinstance(factor, Factor)
    for rows in sdp.rows:
        if rows.label not in slacked:
            continue
        # What rounding may amount to, and what it may be without saying anything else of the row.
        size, scale = np.abs(rows.rhs), np.abs(rows.rhs)
        for key, linear_map in rows.lhs.items():
            if isinstance(linear_map, LinearMap):
                size = size + magnitudes(linear_map, factor.factor)
            else:
                scale = scale + abs(linear_map.matrix()) @ np.abs(np.asarray(point[key]))
        rounding = ROUNDINGS * float(gamma(factor.factor.shape[1] + 8)) * (size + scale)
        if np.any(sdp.missed(rows, point) > np.minimum(rounding, _CLEARLY * scale)):
            return False
    return True


def shrunk_exactly(sdp: SDP, values: Values, factors: Mapping[str, Factor]) -> Found | None:
    """As `shrunk`, for edges alone, without slack, with all rounding accounted for."""
    name = sdp.psd_variables[0].name
    if sdp.vector_variables or not _is_shrinkable(sdp, []):
        return None
    null = null_vectors(sdp, name)
    if null.shape[1] > 1 or np.any(null.toarray() <= 0.0):
        return None
    visible = [r for r in visible_rows(sdp) if name in r.lhs]
    if any(lengths_of(r.lhs[name]) is None for r in visible):
        return None
    factor = onto_face(sdp, name, factors[name].factor)
    excess = 1.0
    for rows in visible:
        linear_map = rows.lhs[name]
        assert isinstance(linear_map, LinearMap)
        lengths = linear_map.apply_factor(factor)
        # Differences of stored points, their squares and sums: relative errors of a few units.
        highest = lengths * (1.0 + float(gamma(factor.shape[1] + 16)))
        excess = max(excess, float(np.max(highest / rows.rhs, initial=0.0)) * (1.0 + 4.0 * UNIT))
    value, error = objective_at(sdp, name, factor)
    if null.shape[1]:
        error += _moved(sdp, name, factor, null.toarray().ravel())
    excess *= 1.0 + _INWARDS
    highest_value = float(np.nextafter(value + 1.01 * error, np.inf))
    # Of a reward (negative), what is left after the division; of a price, no more than before.
    total = highest_value / excess if highest_value < 0.0 else highest_value
    total = float(np.nextafter(np.nextafter(total, np.inf) + sdp.constant, np.inf))
    point = {**values, name: Factor(factor / np.sqrt(excess))}
    return total, as_given(values, point), _SHRUNK


def _moved(sdp: SDP, name: str, factor: Array, u: Array) -> float:
    """How much the objective may change when the factor is moved onto the face exactly."""
    if name not in sdp.objective:
        return 0.0
    linear_map = sdp.objective[name]
    assert isinstance(linear_map, LinearMap)
    if lengths_of(linear_map) is not None:
        return 0.0
    weighted = np.abs(u @ factor) + float(gamma(u.size + 4)) * (u @ np.abs(factor))
    distance = 1.01 * float(np.linalg.norm(weighted)) / float(u.sum())
    norms = np.sqrt(np.sum(np.square(factor), axis=1))
    both = np.column_stack([norms + distance])
    return (
        total_size(linear_map, both)
        - total_size(linear_map, norms[:, None])
        + 2.0 * float(gamma(linear_map.n**2 + 16)) * total_size(linear_map, both)
    )
