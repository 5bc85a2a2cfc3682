r"""Points that are feasible by an argument special to the program, at any size.

*Normalised.* Where all rows on a matrix fix diagonal entries, the rows of a factor are normalised;
where one number alone is fixed, the matrix is scaled to it (`sdpdr.program.rescale`). The point
meant is the one scaled exactly.

*Shrunk.* Where all rows are upper limits, or have slack, and homogeneous equations state the face,
the feasible set holds with every point all the points between it and zero. A matrix on its face is
divided by the largest ratio of a row to its limit; slack takes what is left
(`sdpdr.program.boxes`).

*Framed.* Where the only equations without slack fix a principal block, a factor is moved to it
(`sdpdr.program.attain.framed`).

*Corrected.* Where rows read single entries beside the diagonal, these are corrected, and the
diagonal is raised until the correction is positive semidefinite (`corrected`).

*Held.* Where the only equations state faces, a point on them that satisfies every inequality by
more than its rounding is feasible as it is.

With all rounding accounted for, the point is :math:`K = T R R^T T^T / s` with T exact: lengths of
edges do not change when all points are moved by one vector, so that
:math:`T = I - \mathbf 1 u^T / u^T \mathbf 1` brings the factor R onto the face K u = 0 and leaves
them as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from sdpdr.base.arrays import Array, Matrix
from sdpdr.linalg import Combined, LinearMap, SquaredEdgeLengths
from sdpdr.linalg.combine import Summed
from sdpdr.linalg.magnitudes import row_magnitudes, row_terms
from sdpdr.linalg.outer import Outer
from sdpdr.linalg.products import InnerProduct
from sdpdr.linalg.rounding import UNIT, gamma
from sdpdr.linalg.spectral import project_psd
from sdpdr.linalg.svec import SQRT2, svec_pairs
from sdpdr.program.attain.corrected import corrected
from sdpdr.program.attain.framed import clarity, fixed_block, framed
from sdpdr.program.boxes import SlackColumn, fill_slack, shrink, slack_columns
from sdpdr.program.face import exposing_rows, null_vectors
from sdpdr.program.limits import edge_lengths
from sdpdr.program.point import Factor, Value
from sdpdr.program.rescale import rescaled_by
from sdpdr.program.sdp import SDP, Rows

Values = Mapping[str, Value]
Found = tuple[float, Values, str]

# How many times the bound on its rounding a row may miss its limit by, before it is shrunk.
_ROUNDINGS = 16.0
# A factor is shrunk by this more, relatively, which covers a few thousand roundings.
_INWARDS = 1e-12
# Rounding of the one number fixed, relative to it, beyond which nothing is scaled to it.
_CLEARLY = 1e-9
_NORMALISED = "the rows of a factor normalised, or scaled to the one number that is fixed"
_SHRUNK = "shrunk until all upper limits hold"
_FRAMED = "moved to the entries that are fixed"
_HELD = "every inequality holds by more than its rounding"


def closed_form(sdp: SDP, values: Values, rigorous: bool) -> Found | None:
    """Value (of the minimisation), point and words; None where no such argument applies."""
    if sdp.lmis or not sdp.psd_variables:
        return None
    factors = {v.name: as_factor(values[v.name]) for v in sdp.psd_variables}
    if not sdp.vector_variables:
        found = _normalised(sdp, values, factors, rigorous)
        if found is None and not rigorous:
            found = corrected(sdp, values, factors)
        if found is not None:
            return found
    if len(sdp.psd_variables) > 1:
        return None if rigorous else _held(sdp, values, factors)
    if rigorous:
        return _shrunk_exactly(sdp, values, factors)
    for argument in (_shrunk, _held, _framed):
        found = argument(sdp, values, factors)
        if found is not None:
            return found
    return None


def made_psd(sdp: SDP, values: Values) -> Values:
    """The values with negative eigenvalues of matrices taken as zero."""
    found = dict(values)
    for v in sdp.psd_variables:
        value = values.get(v.name)
        if value is None or isinstance(value, Factor) or not np.isfinite(value).all():
            continue
        symmetric = (np.asarray(value) + np.asarray(value).T) / 2.0
        try:
            np.linalg.cholesky(symmetric)
        except np.linalg.LinAlgError:
            symmetric = project_psd(symmetric)
        found[v.name] = symmetric
    return found


def as_factor(value: Value) -> Factor:
    """A factor of the positive semidefinite part of a matrix."""
    if isinstance(value, Factor):
        return value
    gram = np.asarray(value)
    eigenvalues, vectors = np.linalg.eigh((gram + gram.T) / 2.0)
    return Factor(vectors * np.sqrt(np.maximum(eigenvalues, 0.0)))


def _returned(values: Values, factors: Mapping[str, Factor]) -> dict[str, Value]:
    """The factors, as dense matrices where dense ones were given."""
    return {
        name: f if isinstance(values[name], Factor) else f.dense() for name, f in factors.items()
    }


# -- normalised -------------------------------------------------------------------------------


def _normalised(
    sdp: SDP, values: Values, factors: Mapping[str, Factor], rigorous: bool
) -> Found | None:
    total, scaled = sdp.constant, dict(factors)
    for v in sdp.psd_variables:
        groups = [r for r in sdp.rows if v.name in r.lhs]
        found = rescaled_by(groups, v.name, v.n, factors)
        if found is None:
            return None
        factors_of_rows, kind = found
        exposing = {r.label for r in exposing_rows(sdp, v.name)}
        if kind == "single":
            others = [r for r in groups if r.label not in exposing and not np.any(r.rhs)]
            # A group of more rows than the one with a right side has others that must hold.
            if others or exposing or any(r.m > 1 for r in groups):
                return None
            if not _is_clearly_reached(_fixed_row(groups), v.name, factors[v.name].factor):
                return None
        scaled[v.name] = Factor(factors[v.name].factor * factors_of_rows[:, None])
        value, error = _objective(sdp, v.name, scaled[v.name].factor)
        # Of the exact scaling, the rounded one keeps all but a few units in each entry.
        if rigorous:
            error += _scaling_error(sdp, v.name, scaled[v.name].factor, groups, kind)
            total = float(np.nextafter(total + value + 1.01 * error, np.inf))
        else:
            total += value
    return total, _returned(values, scaled), _NORMALISED


def _scaling_error(sdp: SDP, name: str, factor: Array, groups: list[Rows], kind: str) -> float:
    """How far the objective of the point scaled exactly may be from that of the rounded one."""
    # Sums of a diagonal may have as many terms as there are rows.
    terms = 2 * factor.shape[1] + factor.shape[0] + 16
    maps = [a for r in groups if isinstance(a := r.lhs[name], LinearMap)]
    terms += max(map(row_terms, maps), default=0)
    if kind == "diagonal":
        return float(gamma(2 * terms)) * _size(sdp.objective.get(name), factor)
    rows = _fixed_row(groups)
    relative, reached = _blur(rows, name, factor)
    relative += abs(float(rows.rhs[0]) / reached - 1.0) + 4.0 * UNIT
    return 1.01 * relative * _size(sdp.objective.get(name), factor)


def _fixed_row(groups: list[Rows]) -> Rows:
    return next(r for r in groups if np.any(r.rhs))


def _is_clearly_reached(rows: Rows, name: str, factor: Array) -> bool:
    """Whether the number to be scaled is not what rounding leaves of terms that cancel."""
    return _blur(rows, name, factor)[0] <= _CLEARLY


def _blur(rows: Rows, name: str, factor: Array) -> tuple[float, float]:
    """The relative rounding error of the number that the row reaches, and that number."""
    linear_map = rows.lhs[name]
    assert isinstance(linear_map, LinearMap)
    reached = float(linear_map.apply_factor(factor)[0])
    terms = factor.size + row_terms(linear_map) + 16
    relative = float(gamma(terms)) * _size(linear_map, factor) / abs(reached) if reached else np.inf
    return relative, reached


def _objective(sdp: SDP, name: str, factor: Array) -> tuple[float, float]:
    """The part of the objective on a factor, and a bound on its rounding error."""
    if name not in sdp.objective:
        return 0.0, 0.0
    linear_map = sdp.objective[name]
    assert isinstance(linear_map, LinearMap)
    value = float(linear_map.apply_factor(factor)[0])
    terms = factor.size + linear_map.n + row_terms(linear_map) + 16
    return value, float(gamma(terms)) * _size(linear_map, factor)


def _size(linear_map: object, factor: Array) -> float:
    """The sum of all ``|C_ij| |r_i| |r_j|`` of a map with one row."""
    if linear_map is None:
        return 0.0
    assert isinstance(linear_map, LinearMap)
    return float(magnitudes(linear_map, factor)[0])


def magnitudes(linear_map: LinearMap, factor: Array) -> Array:
    """For every row the sum of ``|A_ij| |r_i| |r_j|``, shape (m,)."""
    norms = np.sqrt(np.sum(np.square(factor), axis=1)) * (1.0 + 1e-12)
    lengths = edge_lengths(linear_map)
    if lengths is not None:
        edges, scale = lengths
        return np.asarray(np.abs(scale) * np.square(norms[edges[:, 0]] + norms[edges[:, 1]]))
    if isinstance(linear_map, InnerProduct):
        return np.array([_inner_magnitude(linear_map.coefficients, norms)])
    entries = row_magnitudes(linear_map).tocoo()
    i, j = svec_pairs(entries.col)
    terms = entries.data * norms[i] * norms[j] * np.where(i == j, 1.0, SQRT2)
    return np.bincount(entries.row, terms, minlength=linear_map.m).astype(float)


def _inner_magnitude(coefficients: Matrix, norms: Array) -> float:
    if isinstance(coefficients, Outer):
        # Of an outer product, the factors' sizes: its entries are too many to be written down.
        sizes = np.square(np.abs(coefficients.columns).T @ norms) @ np.abs(coefficients.weights)
        return float(sizes) + float(norms @ (abs(coefficients.sparse) @ norms))
    return float(norms @ (abs(coefficients) @ norms))


# -- shrunk -----------------------------------------------------------------------------------


def _shrinkable(sdp: SDP, columns: list[SlackColumn]) -> bool:
    """Whether all rows are upper limits, state the face, or have slack that zero leaves them."""
    name = sdp.psd_variables[0].name
    hidden = {r.label for r in exposing_rows(sdp, name)}
    slacked = {c.label for c in columns}
    return all(
        r.label in hidden
        or (r.label in slacked and np.all(_is_held_at_zero(r, columns)))
        or (r.relation == "<=" and r.label not in slacked and np.all(r.rhs > 0.0))
        for r in sdp.rows
    )


def _is_held_at_zero(rows: Rows, columns: list[SlackColumn]) -> NDArray[np.bool_]:
    """For every row of a group whether it has slack with which it holds where the matrix is zero.

    Slack that demands something of the matrix, as of a lower limit, is not made up for by
    shrinking, and a row of the group that has none is an equation.
    """
    held = np.zeros(rows.m, dtype=bool)
    for column in columns:
        if column.label != rows.label:
            continue
        left = rows.rhs[column.row]
        if column.curvature is not None:
            held[column.row] = True
        elif rows.relation == "==":
            held[column.row] |= left * np.sign(column.coefficient) >= 0.0
        else:
            held[column.row] |= (left >= 0.0) | (column.coefficient < 0.0)
    return held


def _shrunk(sdp: SDP, values: Values, factors: Mapping[str, Factor]) -> Found | None:
    columns = slack_columns(sdp)
    if columns is None or not _shrinkable(sdp, columns):
        return None
    name = sdp.psd_variables[0].name
    on_face = Factor(_onto_face(factors[name].factor, null_vectors(sdp, name)))
    point: dict[str, Value] = {**values, name: on_face}
    point = dict(shrink(sdp, point, {c.label for c in columns}))
    blur = _blur_of_limits(sdp, name, point, {c.label for c in columns})
    if blur > _CLEARLY:
        return None
    point[name] = _divided(point[name], 1.0 + blur)
    point.update(fill_slack(sdp, point, columns))
    if not _holds(sdp, name, point, {c.label for c in columns}):
        return None
    value = sdp.primal_value(point)
    factor = point[name]
    assert isinstance(factor, Factor)
    return value, {**point, **_returned(values, {name: factor})}, _SHRUNK


def _held(sdp: SDP, values: Values, factors: Mapping[str, Factor]) -> Found | None:
    """The point moved onto the faces, where all rows are inequalities and hold.

    Positive limits that are missed by a little are met by shrinking everything, which homogeneous
    rows do not notice.
    """
    hidden = {r.label for v in sdp.psd_variables for r in exposing_rows(sdp, v.name)}
    visible = [r for r in sdp.rows if r.label not in hidden]
    if any(r.relation == "==" for r in visible):
        return None
    onto = {
        v.name: Factor(_onto_face(factors[v.name].factor, null_vectors(sdp, v.name)))
        for v in sdp.psd_variables
    }
    if not sdp.vector_variables:
        onto = _within_positive_limits(visible, onto)
    point: dict[str, Value] = {**values, **onto}
    for v in sdp.vector_variables:
        given = np.asarray(values[v.name], dtype=float)
        point[v.name] = np.maximum(given, 0.0) if v.nonnegative else given
    if any(np.any(sdp.slack(r, point) < _rounding(r, point)) for r in visible):
        return None
    return sdp.primal_value(point), {**point, **_returned(values, onto)}, _HELD


def _framed(sdp: SDP, values: Values, factors: Mapping[str, Factor]) -> Found | None:
    """The point moved to a block that is fixed, where slack takes the rest or all holds."""
    columns, block, moved = slack_columns(sdp), fixed_block(sdp), framed(sdp, factors)
    if moved is None or columns is None or block is None:
        return None
    name, slacked = sdp.psd_variables[0].name, {c.label for c in columns}
    alone: dict[str, Value] = {v.name: np.zeros(v.size) for v in sdp.vector_variables}
    alone[name] = moved
    point: dict[str, Value] = {**values, name: moved}
    point.update(fill_slack(sdp, point, columns))
    if not _holds(sdp, name, point, slacked):
        return None
    for rows in sdp.rows:
        if rows.relation == "==" and rows.label not in slacked:
            if np.any(abs(sdp.slack(rows, point)) > _rounding(rows, point)):
                return None
        elif not _is_left_room(sdp, rows, alone, columns, clarity(block[1])):
            return None
    return sdp.primal_value(point), {**point, **_returned(values, {name: moved})}, _FRAMED


def _is_left_room(
    sdp: SDP, rows: Rows, alone: Values, columns: list[SlackColumn], share: float
) -> bool:
    """Whether every row can be met by its slack, or holds by more than rounding without any.

    Rounding counts over ``share``, and beside the points themselves: the block moves some of them.
    """
    left, rounding = sdp.slack(rows, alone), _rounding(rows, alone, magnitudes) / share
    lowered, raised = np.zeros(rows.m, dtype=bool), np.full(rows.m, rows.relation == "<=")
    for column in columns:
        if column.label == rows.label:
            curved = column.curvature is not None
            lowered[column.row[curved | (column.coefficient < 0.0)]] = True
            raised[column.row[curved | (column.coefficient > 0.0)]] = True
    return bool(np.all((lowered | (left >= rounding)) & (raised | (left <= -rounding))))


def _rounding(
    rows: Rows, point: Values, sizes: Callable[[LinearMap, Array], Array] | None = None
) -> Array:
    """What rounding may amount to in the rows of a group, amply."""
    size = np.abs(rows.rhs)
    for key, linear_map in rows.lhs.items():
        value = point[key]
        if isinstance(linear_map, LinearMap):
            assert isinstance(value, Factor)
            terms = row_terms(linear_map) + value.factor.shape[1] + 8
            size = size + terms * (sizes or _added)(linear_map, value.factor)
        else:
            size = size + abs(linear_map.matrix()) @ np.abs(np.asarray(value))
    return np.asarray(_ROUNDINGS * UNIT * size)


def _added(linear_map: LinearMap, factor: Array) -> Array:
    """For every row the sum of the sizes of what is added up.

    Of lengths differences come first, and their squares do not cancel.
    """
    if isinstance(linear_map, SquaredEdgeLengths):
        return linear_map.apply_factor(factor)
    if isinstance(linear_map, Combined):
        return np.asarray(abs(linear_map.weights) @ _added(linear_map.inner, factor))
    if isinstance(linear_map, Summed):
        return np.asarray(sum(_added(part, factor) for part in linear_map.maps))
    return magnitudes(linear_map, factor)


def _within_positive_limits(groups: list[Rows], factors: dict[str, Factor]) -> dict[str, Factor]:
    """All factors divided by what positive limits, less their rounding, are missed by."""
    excess = 1.0
    for rows in groups:
        left = 2.0 * _rounding(rows, factors)
        for key, linear_map in rows.lhs.items():
            if isinstance(linear_map, LinearMap):
                left = left + linear_map.apply_factor(factors[key].factor)
        above = rows.rhs > 0.0
        ratio = left[above] / rows.rhs[above]
        excess = max(excess, float(np.max(ratio, initial=0.0)))
    return {key: _divided(f, excess) for key, f in factors.items()} if excess > 1.0 else factors


def _blur_of_limits(sdp: SDP, name: str, point: Values, slacked: set[str]) -> float:
    """Rounding of rows without slack, relative to their limits, where terms cancel."""
    factor, blur = point[name], 0.0
    assert isinstance(factor, Factor)
    hidden = {r.label for r in exposing_rows(sdp, name)}
    for rows in sdp.rows:
        linear_map = rows.lhs.get(name)
        if rows.label in slacked | hidden or not isinstance(linear_map, LinearMap):
            continue
        if edge_lengths(linear_map) is None:  # differences come first, and squares do not cancel
            terms = factor.factor.shape[1] + row_terms(linear_map) + 8
            sizes = float(gamma(terms)) * magnitudes(linear_map, factor.factor)
            blur = max(blur, float(np.max(sizes / rows.rhs, initial=0.0)))
    return blur


def _divided(value: Value, by: float) -> Factor:
    assert isinstance(value, Factor)
    return Factor(value.factor / np.sqrt(by))


def _onto_face(factor: Array, null: sp.csr_array) -> Array:
    if null.shape[1] == 0:
        return factor
    dense = null.toarray()
    if dense.shape[1] == 1 and np.all(dense > 0.0):
        # All points moved by one vector: lengths of edges stay as they are.
        return np.asarray(factor - (dense.T @ factor) / float(dense.sum()))
    q = np.linalg.qr(dense)[0]
    return np.asarray(factor - q @ (q.T @ factor))


def _holds(sdp: SDP, name: str, point: Values, slacked: set[str]) -> bool:
    """Whether every row with slack holds to rounding; the others were shrunk until they hold."""
    factor = point[name]
    assert isinstance(factor, Factor)
    for rows in sdp.rows:
        if rows.label not in slacked:
            continue
        left = sdp.slack(rows, point)
        # What rounding may amount to, and what it may be without saying anything else of the row.
        size, scale = np.abs(rows.rhs), np.abs(rows.rhs)
        for key, linear_map in rows.lhs.items():
            if isinstance(linear_map, LinearMap):
                size = size + magnitudes(linear_map, factor.factor)
            else:
                scale = scale + abs(linear_map.matrix()) @ np.abs(np.asarray(point[key]))
        rounding = _ROUNDINGS * float(gamma(factor.factor.shape[1] + 8)) * (size + scale)
        missed = np.abs(left) if rows.relation == "==" else -left
        if np.any(missed > np.minimum(rounding, _CLEARLY * scale)):
            return False
    return True


def _shrunk_exactly(sdp: SDP, values: Values, factors: Mapping[str, Factor]) -> Found | None:
    """The same for edges alone, without slack, with all rounding accounted for."""
    name = sdp.psd_variables[0].name
    if sdp.vector_variables or not _shrinkable(sdp, []):
        return None
    null = null_vectors(sdp, name)
    if null.shape[1] > 1 or (null.shape[1] and np.any(null.toarray() <= 0.0)):
        return None
    hidden = {r.label for r in exposing_rows(sdp, name)}
    visible = [r for r in sdp.rows if r.label not in hidden and name in r.lhs]
    if any(edge_lengths(r.lhs[name]) is None for r in visible):
        return None
    factor = _onto_face(factors[name].factor, null)
    excess = 1.0
    for rows in visible:
        linear_map = rows.lhs[name]
        assert isinstance(linear_map, LinearMap)
        lengths = linear_map.apply_factor(factor)
        # Differences of stored points, their squares and sums: relative errors of a few units.
        highest = lengths * (1.0 + float(gamma(factor.shape[1] + 16)))
        excess = max(excess, float(np.max(highest / rows.rhs, initial=0.0)) * (1.0 + 4.0 * UNIT))
    value, error = _objective(sdp, name, factor)
    if null.shape[1]:
        error += _moved(sdp, name, factor, null.toarray().ravel())
    excess *= 1.0 + _INWARDS
    highest_value = float(np.nextafter(value + 1.01 * error, np.inf))
    # Of a reward (negative), what is left after the division; of a price, no more than before.
    total = highest_value / excess if highest_value < 0.0 else highest_value
    total = float(np.nextafter(np.nextafter(total, np.inf) + sdp.constant, np.inf))
    shrunk = Factor(factor / np.sqrt(excess))
    return total, {**values, **_returned(values, {name: shrunk})}, _SHRUNK


def _moved(sdp: SDP, name: str, factor: Array, u: Array) -> float:
    """How much the objective may change when the factor is moved onto the face exactly."""
    if name not in sdp.objective:
        return 0.0
    linear_map = sdp.objective[name]
    assert isinstance(linear_map, LinearMap)
    if edge_lengths(linear_map) is not None:
        return 0.0
    weighted = np.abs(u @ factor) + float(gamma(u.size + 4)) * (u @ np.abs(factor))
    distance = 1.01 * float(np.linalg.norm(weighted)) / float(u.sum())
    norms = np.sqrt(np.sum(np.square(factor), axis=1))
    both = np.column_stack([norms + distance])
    return (
        _size(linear_map, both)
        - _size(linear_map, norms[:, None])
        + 2.0 * float(gamma(linear_map.n**2 + 16)) * _size(linear_map, both)
    )
