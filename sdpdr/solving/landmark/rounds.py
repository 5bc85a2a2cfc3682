"""Rows added as they are broken: a small program solved again and again, then made feasible."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sdpdr.base.arrays import Array, Index
from sdpdr.linalg import LinearMap, SquaredEdgeLengths
from sdpdr.program.face import exposing_rows
from sdpdr.program.point import Point, Value
from sdpdr.program.rows import Rows
from sdpdr.program.sdp import SDP
from sdpdr.reduce.landmark import Landmark
from sdpdr.solvers.lowrank.edge.form import EdgeForm

# Rounds at most, and the number of rows of a group that are all in force from the start.
_ROUNDS, _FEW = 60, 200
# Rows of each cell that join in a round; of a group without cells, one of so many.
_JOINING, _SHARE = 2, 50
# Relative change from one round to the next from which a feasible point deserves an effort.
_CLOSE = 0.1
# In `settle`: the number of sweeps at most, the overshoot of a step (between one and two, as in
# successive over-relaxation), and the margin below the limits at which edges end.
_SWEEPS, _RELAXATION, _MARGIN = 300, 1.5, 2e-4

Values = Mapping[str, Value]


@dataclass(frozen=True, eq=False)
class Rounds:
    """What the rounds came to.

    Attributes
    ----------
    point : Point
        A feasible point of the whole program.
    value : float
        Objective of the minimisation at ``point``.
    history : tuple of mappings
        ``iteration``, ``rows`` in force, their optimum ``relaxed``, the ``value`` of the feasible
        point and the largest ``violation`` of a row in each round, in the user's sense.
    complete : bool
        Whether the two values met, or no row is broken.
    """

    point: Point
    value: float
    history: tuple[Mapping[str, float], ...]
    complete: bool


def solve_in_rounds(
    sdp: SDP,
    basis: Array,
    cells: Mapping[str, Index],
    solve: Callable[[SDP], Point],
    *,
    tol: float,
    make_feasible: Callable[[Values, bool], Values],
    proceed: Callable[[Mapping[str, float]], bool],
) -> Rounds:
    """Optimise over K = Q L Q^T with rows added as they are broken.

    Parameters
    ----------
    sdp : SDP
        Zero must satisfy its rows, or they must have slack.
    basis : array of shape (n, m)
        Orthonormal and on the face.
    cells : mapping from label to array of int
        A group of rows may be split into cells; the worst rows of every cell join, so that no
        corner waits for another.
    solve : callable
        Takes the small program to a point of it.
    tol : float
        Relative difference between the value with rows missing and a feasible one.
    make_feasible : callable
        Takes values to a point that satisfies all rows, `repair` for instance. The second argument
        says whether the rounds have settled enough for an effort.
    proceed : callable
        Called after every round with its entry of the history; rounds end when it returns False.
    """
    lazy = [r for r in sdp.rows if _is_lazy(sdp, r)]
    of = {r.label: cells.get(r.label, np.zeros(r.m, dtype=np.intp)) for r in lazy}
    force = {r.label: _worst(_stretch(sdp, r, basis), of[r.label]) for r in lazy}
    history, relaxed = list[Mapping[str, float]](), -np.inf
    best, value, complete = Point(), np.inf, False
    while len(history) < _ROUNDS and not complete:
        chosen = {label: np.flatnonzero(mask) for label, mask in force.items()}
        reduced = Landmark(basis, chosen).apply(sdp)
        small = solve(reduced.sdp)
        if not small.values:
            break
        before, relaxed = relaxed, reduced.sdp.primal_value(small.values)
        last = reduced.lift(small)
        values = make_feasible(last.values, relaxed - before <= _CLOSE * abs(relaxed))
        here = sdp.primal_value(values)
        if here < value or not best.values:
            best, value = Point(values, last.duals), here
        broken = {r.label: _violation(sdp, r, last) for r in lazy}
        history.append(
            {
                "iteration": len(history) + 1,
                "rows": float(sum(r.m for r in reduced.sdp.rows)),
                "relaxed": sdp.report(relaxed),
                "value": sdp.report(here),
                "violation": max((float(np.max(v)) for v in broken.values()), default=0.0),
            }
        )
        joining = {
            label: _worst(np.where(force[label], 0.0, far), of[label]) & (far > tol)
            for label, far in broken.items()
        }
        complete = value - relaxed <= tol * abs(value) or not any(map(np.any, joining.values()))
        force = {label: force[label] | joining[label] for label in force}
        if not proceed(history[-1]):
            break
    return Rounds(best, value, tuple(history), complete)


def _is_lazy(sdp: SDP, rows: Rows) -> bool:
    """Whether rows are so many that they join as they are broken."""
    name = sdp.psd_variables[0].name
    exposing = {r.label for r in exposing_rows(sdp, name)}
    return rows.label not in exposing and name in rows.lhs and rows.m > _FEW


def _stretch(sdp: SDP, rows: Rows, basis: Array) -> Array:
    """By how much a basis breaks each row."""
    linear_map = rows.lhs[sdp.psd_variables[0].name]
    assert isinstance(linear_map, LinearMap)
    return np.abs(linear_map.apply_factor(basis)) / np.maximum(np.abs(rows.rhs), 1e-300)


def _worst(sizes: Array, cells: Index) -> NDArray[np.bool_]:
    """Which rows are among the worst of their cell."""
    order = np.lexsort((-sizes, cells))
    first = np.flatnonzero(np.append(True, np.diff(cells[order]) != 0))
    place = np.arange(order.size) - np.repeat(first, np.diff(np.append(first, order.size)))
    found = np.zeros(sizes.size, dtype=bool)
    found[order] = place < (_JOINING if first.size > 1 else max(_JOINING, order.size // _SHARE))
    return found


def _violation(sdp: SDP, rows: Rows, point: Point) -> Array:
    """How far each row is from holding, relative to its right side."""
    slack, size = sdp.slack(rows, point.values), np.abs(rows.rhs)
    size = np.where(size > 0.0, size, np.median(size) or 1.0)
    return np.asarray((np.abs(slack) if rows.relation == "==" else np.maximum(-slack, 0.0)) / size)


def are_limits_alone(form: EdgeForm | None) -> bool:
    """Whether upper limits on the lengths of edges, none of them penalized, are all there is."""
    if form is None:
        return False
    program = form.program
    penalized = np.isfinite(program.penalty).any() or np.isfinite(program.stiffness).any()
    return not penalized and not program.has_lower_limits


def settle(form: EdgeForm, factor: Array) -> Array:
    r"""Move points until every edge keeps its upper limit, or nearly.

    Where few edges are too long, shrinking the whole for the worst of them wastes what all
    others gained. Each sweep projects every edge that is too long on its limit, along itself,
    and every point takes the mean of the moves of its edges.

    Parameters
    ----------
    form : EdgeForm
    factor : array of shape (n, r)

    Returns
    -------
    array of shape (n, r)
        Centred for the masses of the program.

    References
    ----------
    Cimmino's simultaneous projections, in Censor and Zenios, "Parallel Optimization", 1997,
    section 5; Jakobsen, "Advanced character physics", 2001, for the same sweeps on lengths.

    Examples
    --------
    >>> from sdpdr import graphs, methods
    >>> from sdpdr.solvers.lowrank.edge.form import edge_form
    >>> form = edge_form(methods.mvu(graphs.path([1.0, 1.0])).to_sdp())
    >>> settle(form, np.array([[-1.1], [0.0], [0.9]])).round(2).ravel().tolist()
    [-0.96, -0.01, 0.97]
    """
    program = form.program
    incidence = SquaredEdgeLengths(program.n, program.edges).vectors
    to_nodes = incidence.T.tocsr()
    touching, moved = abs(to_nodes), factor.copy()
    for _ in range(_SWEEPS):
        steps = incidence @ moved
        lengths = np.einsum("ek,ek->e", steps, steps)
        long = lengths > program.upper
        if not long.any():
            break
        share = np.sqrt((1.0 - _MARGIN) * program.upper / np.maximum(lengths, 1e-300))
        wanted = np.where(long, 0.5 * (1.0 - share), 0.0)
        count = np.maximum(touching @ long.astype(float), 1.0)
        moved -= (_RELAXATION / count)[:, None] * (to_nodes @ (wanted[:, None] * steps))
    return np.asarray(moved - program.mass @ moved / program.mass.sum())
