r"""Points that are feasible by an argument special to the program, at any size.

*Normalised.* Where all rows on a matrix fix diagonal entries, the rows of a factor are normalised;
where one number alone is fixed, the matrix is scaled to it (`sdpdr.program.rescale`). The point
meant is the one scaled exactly. Rows with slack of either sign take what they miss then (the
correlation matrix nearest to another one), and other inequalities have to hold.

*Shrunk* or *held*. Where all rows but those that state faces are inequalities, or have slack, the
point is shrunk until they hold, or holds as it is (`sdpdr.program.attain.shrunk`).

*Framed.* Where the only equations without slack fix a principal block, a factor is moved to it
(`sdpdr.program.attain.framed`).

*Mixed.* Where all equations fix diagonals, a point X with its rows normalised meets them, and so
does its diagonal D. Cuts are such programs, and inequalities over triples of their nodes leave D
room. What X misses these by is made up for by :math:`(1 - \theta) X + \theta D`, positive
semidefinite since both are.

*Rounded.* A gap relative to an optimum of zero is zero or infinite, so that no point nearby will
do. Scalars rounded to few digits may have that value, and satisfy all rows, exactly.

*Corrected.* Where rows read single entries beside the diagonal, these are corrected, and the
diagonal is raised until the correction is positive semidefinite. *Evened.* Where equations make
lengths alike, these are averaged, and a regular simplex is added (both `corrected`).
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

import numpy as np

from sdpdr.base.arrays import Array
from sdpdr.linalg import LinearMap, VectorMap
from sdpdr.linalg.exact import vector_row
from sdpdr.linalg.magnitudes import row_terms
from sdpdr.linalg.rounding import UNIT, gamma
from sdpdr.linalg.spectral import project_psd
from sdpdr.program.attain.corrected import corrected, evened
from sdpdr.program.attain.framed import beside_slack, moved_to_block
from sdpdr.program.attain.rounding import objective_at, rounding_of, total_size
from sdpdr.program.attain.shrunk import Found, Values, as_given, held, shrunk, shrunk_exactly
from sdpdr.program.boxes import slack_columns
from sdpdr.program.face import exposing_rows
from sdpdr.program.point import Factor
from sdpdr.program.rescale import rescaled_by
from sdpdr.program.rows import Expression, Rows
from sdpdr.program.sdp import SDP

# Rounding of the one number fixed, relative to it, beyond which nothing is scaled to it.
_CLEARLY = 1e-9
_NORMALISED = "the rows of a factor normalised, or scaled to the one number that is fixed"
_ORIGIN = "the origin, which all rows hold at"
_ROUNDED = "scalars rounded to few digits, at which all rows hold and the value is zero exactly"
_SLACKED = "the rows of a factor normalised, and slack fitted to it"
_MIXED = "the rows of a factor normalised, and mixed with their diagonal until all limits hold"
# By how much scalars may move for a point to be near, relative to the largest of their vector.
_NEAR = 1e-4
# What may be mixed in, and orders up to which a factor may have a column for every node.
_LITTLE, _LARGEST = 1e-4, 2000
# Digits of scalars that are rounded, and terms of rows that are summed exactly.
_DIGITS, _MOST_TERMS = 9, 10_000


def closed_form(sdp: SDP, values: Values, rigorous: bool, *, near: bool = False) -> Found | None:
    """Value (of the minimisation), point and words; None where no such argument applies.

    Who asks for a point near the values is not given the origin, nor other scalars.
    """
    origin = None if near else _at_origin(sdp, values)
    if origin is not None:
        return origin
    if not sdp.psd_variables:
        return None if sdp.lmis else rounded_to_zero(sdp, values)
    if sdp.lmis:
        return None if rigorous else _held_inside(sdp, values)
    factors = {v.name: Factor.of(values[v.name], 0.0) for v in sdp.psd_variables}
    if not sdp.vector_variables:
        found = _normalised(sdp, values, factors, rigorous)
        if found is None and not rigorous:
            found = corrected(sdp, values, factors)
        if found is None and not rigorous and len(factors) == 1:
            found = mixed_with_diagonal(sdp, values, factors)
        found = evened(sdp, values, factors) if found is None else found
        if found is not None:
            return found
    if len(sdp.psd_variables) > 1:
        return None if rigorous else held(sdp, values, factors)
    if rigorous:
        return shrunk_exactly(sdp, values, factors)
    for argument in (shrunk, held, moved_to_block, normalised_beside_slack):
        found = argument(sdp, values, factors)
        if found is not None and (not near or _are_scalars_near(sdp, found[1], values)):
            return found
    return None


def _held_inside(sdp: SDP, values: Values) -> Found | None:
    """The point as it is, where it is one of factors and inside of all matrix inequalities."""
    given = {v.name: values[v.name] for v in sdp.psd_variables}
    factors = {name: value for name, value in given.items() if isinstance(value, Factor)}
    return held(sdp, values, factors) if len(factors) == len(given) else None


def _are_scalars_near(sdp: SDP, point: Values, values: Values) -> bool:
    """Whether no scalar was moved far, as to the cheapest value that its row allows."""
    for v in sdp.vector_variables:
        given = np.asarray(values[v.name])
        moved = np.max(np.abs(np.asarray(point[v.name]) - given), initial=0.0)
        if moved > _NEAR * max(1.0, np.max(np.abs(given), initial=0.0)):
            return False
    return True


def _at_origin(sdp: SDP, values: Values) -> Found | None:
    """The origin, where no limit is below zero; None where the point is better."""
    limits = [-r.rhs if r.relation == "<=" else np.abs(r.rhs) for r in sdp.rows]
    if any(np.any(limit > 0.0) for limit in limits) or any(np.any(a.constant) for a in sdp.lmis):
        return None
    if not sdp.primal_value(values) >= sdp.constant:
        return None
    zeros = {
        name: Factor(np.zeros((value.shape[0], 1)))
        if isinstance(value, Factor)
        else np.zeros_like(value)
        for name, value in values.items()
    }
    return sdp.constant, zeros, _ORIGIN


def rounded_to_zero(sdp: SDP, values: Values) -> Found | None:
    """Scalars of few digits that have the value zero exactly; None where these are no solution."""
    sizes = (np.max(np.abs(values[v.name]), initial=0.0) for v in sdp.vector_variables)
    digits = _DIGITS - int(np.ceil(np.log10(max(sizes, default=0.0) or 1.0)))
    found: dict[str, Array] = {}
    for v in sdp.vector_variables:
        rounded = np.round(np.asarray(values[v.name], dtype=float), digits) + 0.0
        found[v.name] = np.where(v.nonnegative & (rounded < 0.0), 0.0, rounded)
    terms = sum(a.matrix().nnz for r in sdp.rows for a in r.lhs.values())
    if sdp.primal_value(found) != 0.0 or terms > _MOST_TERMS:
        return None
    exact = {name: [Fraction(x) for x in numbers.tolist()] for name, numbers in found.items()}
    value = Fraction(sdp.constant) + _exactly(sdp.objective, 0, exact)
    for v in sdp.vector_variables:
        if v.curvature is not None:
            costs = zip(v.curvature.tolist(), exact[v.name], strict=True)
            value += sum((Fraction(q) * x * x / 2 for q, x in costs), Fraction(0))
    if value != 0 or not all(_holds(r, e, exact) for r in sdp.rows for e in range(r.m)):
        return None
    return 0.0, found, _ROUNDED


def _exactly(expression: Expression, e: int, values: Mapping[str, list[Fraction]]) -> Fraction:
    """Row e of an expression in scalars, at numbers."""
    total = Fraction(0)
    for name, linear_map in expression.items():
        assert isinstance(linear_map, VectorMap)
        for k, weight in vector_row(linear_map, e).items():
            total += weight * values[name][k]
    return total


def _holds(rows: Rows, e: int, values: Mapping[str, list[Fraction]]) -> bool:
    left, right = _exactly(rows.lhs, e, values), Fraction(float(rows.rhs[e]))
    return left == right if rows.relation == "==" else left <= right


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
        factor = factors[v.name].factor
        if kind == "single":
            # A group of more rows than the one with a right side has others that must hold.
            others = any(r.m > 1 or not np.any(r.rhs) for r in groups)
            if others or exposing_rows(sdp, v.name):
                return None
            # The number to be scaled may be what rounding leaves of terms that cancel.
            if not _blur(groups[0], v.name, factor)[0] <= _CLEARLY:
                return None
        scaled[v.name] = Factor(factor * factors_of_rows[:, None])
        factor = scaled[v.name].factor
        value, error = objective_at(sdp, v.name, factor)
        # Of the exact scaling, the rounded one keeps all but a few units in each entry.
        if rigorous:
            error += _scaling_error(sdp, v.name, factor, groups, kind)
            total = float(np.nextafter(total + value + 1.01 * error, np.inf))
        else:
            total += value
    return total, as_given(values, scaled), _NORMALISED


def _scaling_error(sdp: SDP, name: str, factor: Array, groups: list[Rows], kind: str) -> float:
    """How far the objective of the point scaled exactly may be from that of the rounded one."""
    # Sums of a diagonal may have as many terms as there are rows.
    terms = 2 * factor.shape[1] + factor.shape[0] + 16
    maps = [a for r in groups if isinstance(a := r.lhs[name], LinearMap)]
    terms += max(map(row_terms, maps), default=0)
    if kind == "diagonal":
        return float(gamma(2 * terms)) * total_size(sdp.objective.get(name), factor)
    relative, reached = _blur(groups[0], name, factor)
    relative += abs(float(groups[0].rhs[0]) / reached - 1.0) + 4.0 * UNIT
    return 1.01 * relative * total_size(sdp.objective.get(name), factor)


def _blur(rows: Rows, name: str, factor: Array) -> tuple[float, float]:
    """The relative rounding error of the number that a single row reaches, and that number."""
    linear_map = rows.lhs[name]
    assert isinstance(linear_map, LinearMap)
    reached = float(linear_map.apply_factor(factor)[0])
    terms = factor.size + row_terms(linear_map) + 16
    error = float(gamma(terms)) * total_size(linear_map, factor)
    return error / abs(reached) if reached else np.inf, reached


def normalised_beside_slack(
    sdp: SDP, values: Values, factors: Mapping[str, Factor]
) -> Found | None:
    """The rows of the one factor normalised, where other rows have slack, or hold.

    Examples
    --------
    >>> from sdpdr import minimize, psd, sum_squares
    >>> X = psd("X", 2)
    >>> nearest = minimize(sum_squares(X - np.full((2, 2), 0.5))) + (X.diagonal() == 1.0)
    >>> near = {"X": Factor(np.array([[1.01], [0.5]])), "objective.0.slack": np.zeros(3)}
    >>> value, point, _ = normalised_beside_slack(nearest.to_sdp(), near, near)
    >>> round(value, 12), point["X"].dense().tolist()
    (1.0, [[1.0, 1.0], [1.0, 1.0]])
    """
    variable, columns = sdp.psd_variables[0], slack_columns(sdp)
    if columns is None or exposing_rows(sdp, variable.name):
        return None
    slacked = {column.label for column in columns}
    exact = [r for r in sdp.rows if r.relation == "==" and r.label not in slacked]
    scaling = rescaled_by(exact, variable.name, variable.n, factors)
    if scaling is None or scaling[1] != "diagonal":
        return None
    scaled = Factor(factors[variable.name].factor * scaling[0][:, None])
    point = beside_slack(sdp, values, scaled)
    return None if point is None else (sdp.primal_value(point), as_given(values, point), _SLACKED)


def mixed_with_diagonal(sdp: SDP, values: Values, factors: Mapping[str, Factor]) -> Found | None:
    """Value of the minimisation, the point, and words, of a program of one matrix; else None.

    Examples
    --------
    >>> from sdpdr.linalg import Diagonal, Entries
    >>> from sdpdr.program.point import PsdVariable
    >>> from sdpdr.program.rows import Rows
    >>> entry = Entries(2, [[0, 1]])
    >>> ones = Rows("ones", "==", {"X": Diagonal(2)}, np.ones(2))
    >>> limit = Rows("limit", "<=", {"X": -1.0 * entry}, np.array([0.5]))
    >>> sdp = SDP((PsdVariable("X", 2),), {"X": entry}, (ones, limit))
    >>> low = np.sqrt(0.75)
    >>> near = {"X": Factor(np.array([[1.0, 0.0], [-0.5 - 1e-8, low]]))}
    >>> value, point, _ = mixed_with_diagonal(sdp, near, near)
    >>> bool(-0.5 <= value < -0.5 + 1e-7)
    True
    """
    variable = sdp.psd_variables[0]
    name = variable.name
    limits = [r for r in sdp.rows if r.relation == "<="]
    if not limits or variable.n > _LARGEST or exposing_rows(sdp, name):
        return None
    fixed = [r for r in sdp.rows if r.relation == "=="]
    scaling = rescaled_by(fixed, name, variable.n, factors)
    if scaling is None or scaling[1] != "diagonal":
        return None
    inner = factors[name].factor * scaling[0][:, None]
    theta = max(_share(sdp, r, {name: Factor(inner)}, {name: _own_diagonal(inner)}) for r in limits)
    if not theta <= _LITTLE:
        return None
    point = {name: _mixed(inner, theta)}
    if any(np.any(sdp.slack(r, point) < rounding_of(r, point)) for r in limits):
        return None
    return sdp.primal_value(point), as_given(values, point), _MIXED


def _own_diagonal(inner: Array) -> Factor:
    """A factor of the diagonal of a matrix, of which a factor is given."""
    return Factor(np.diag(np.sqrt(np.sum(np.square(inner), axis=1))))


def _mixed(inner: Array, theta: float) -> Factor:
    diagonal = _own_diagonal(inner).factor
    return Factor(np.hstack([np.sqrt(1.0 - theta) * inner, np.sqrt(theta) * diagonal]))


def _share(sdp: SDP, rows: Rows, point: Values, diagonal: Values) -> float:
    """How much of the diagonal brings a group to twice its rounding; infinite where none does."""
    wanted = 2.0 * (rounding_of(rows, point) + rounding_of(rows, diagonal))
    here, there = sdp.slack(rows, point), sdp.slack(rows, diagonal)
    short = here < wanted
    if np.any(there[short] <= wanted[short]):
        return np.inf
    return float(np.max((wanted - here)[short] / (there - here)[short], initial=0.0))
