"""Rows added as they are broken: a small program solved again and again, then made feasible."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from sdpdr.base.arrays import Array, Index
from sdpdr.linalg import LinearMap, SquaredEdgeLengths
from sdpdr.program.face import exposing_rows
from sdpdr.program.point import Point, Value
from sdpdr.program.rows import Rows
from sdpdr.program.sdp import SDP
from sdpdr.reduce.landmark import Landmark
from sdpdr.solvers.lowrank.edge.form import EdgeForm

# Overshoot of a step; between one and two, as in successive over-relaxation.
_RELAXATION = 1.5
# Edges are drawn a little below their limit, so that finitely many sweeps get there.
_MARGIN = 2e-4
_SWEEPS = 300
# Squared lengths below this share of the mean around count as short, in graphs of many edges.
_SHORT = 0.25
_MANY = 20_000


def is_settleable(form: EdgeForm | None) -> bool:
    """Whether upper limits on the lengths of edges, none of them priced, are all there is."""
    if form is None:
        return False
    program = form.program
    priced = np.isfinite(program.price).any() or np.isfinite(program.stiffness).any()
    return not priced and not program.has_lower_limits


def short_edges(form: EdgeForm) -> dict[str, np.ndarray]:
    """For every group of rows, those on edges much shorter than the edges around.

    A smooth map stretches some of the shortest edges many times over. To hold the whole map down
    for them loses much, to move two points a little loses nothing. None in small graphs.
    """
    program = form.program
    if program.m < _MANY:
        return {}
    ends, limits = program.edges.ravel(), np.repeat(program.upper, 2)
    mean = np.bincount(ends, limits, program.n) / np.maximum(np.bincount(ends), 1)
    short = program.upper < _SHORT * mean[program.edges].max(axis=1)
    return {label: short[edge] for label, edge in form.edge_of.items()}


def settle(form: EdgeForm, factor: Array) -> Array:
    r"""Move points until every edge keeps its upper limit, or nearly.

    Where few edges are too long, shrinking the whole for the worst of them wastes what all
    others gained. Each sweep projects every edge that is too long on its limit, along itself,
    and every point takes the mean of the moves that its edges ask for.

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
    touching = abs(to_nodes)
    moved = factor.copy()
    for _ in range(_SWEEPS):
        steps = incidence @ moved
        lengths = np.einsum("ek,ek->e", steps, steps)
        long = lengths > program.upper
        if not long.any():
            break
        wanted = np.where(
            long,
            0.5 * (1.0 - np.sqrt((1.0 - _MARGIN) * program.upper / np.maximum(lengths, 1e-300))),
            0.0,
        )
        asked = np.maximum(touching @ long.astype(float), 1.0)
        moved -= (_RELAXATION / asked)[:, None] * (to_nodes @ (wanted[:, None] * steps))
    return np.asarray(moved - program.mass @ moved / program.mass.sum())


# Of a group this small all rows are in force from the start.
_FEW = 200
# Rounds at most.
_ROUNDS = 60
# Rows of each cell that join in a round.
_JOINING = 2
# Relative change from one round to the next from which a feasible point deserves an effort.
_CLOSE = 0.1
# Rows leave when they are slack by more than this share of their right side.
_LEAVING = 0.1

SolveSmall = Callable[[SDP], Point]
Values = Mapping[str, Value]


@dataclass(frozen=True, eq=False)
class Lazy:
    """What the rounds came to.

    Attributes
    ----------
    point : Point
        Of the whole program, made feasible.
    value : float
        Of the minimisation at ``point``.
    relaxed : float
        Optimal value with the rows in force alone: no K = Q L Q^T has a smaller one, as far as
        the solver was accurate.
    rounds : tuple of mappings
        ``iteration``, ``rows`` in force, ``relaxed``, ``value`` and ``violation`` of each, in
        the person's sense.
    complete : bool
        Whether the two values met, or all rows were in force.
    """

    point: Point
    value: float
    relaxed: float
    rounds: tuple[Mapping[str, float], ...]
    complete: bool


def solve_lazily(
    sdp: SDP,
    basis: Array,
    cells: Mapping[str, Index],
    solve: SolveSmall,
    *,
    tol: float,
    spared: Mapping[str, np.ndarray],
    make_feasible: Callable[[Values, bool], Values],
    proceed: Callable[[Mapping[str, float]], bool],
) -> Lazy:
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
    spared : mapping from label to array of bool
        Rows that never join, being left to ``make_feasible``.
    make_feasible : callable
        Takes values to a point that satisfies all rows, `repair` for instance. Also told
        whether the rounds have settled enough for an effort.
    proceed : callable
        Told of every round; rounds end when it says no.
    """
    lazy = [r for r in sdp.rows if _is_lazy(sdp, r)]
    force = {
        r.label: _longest(r, cells.get(r.label), sdp, basis, spared.get(r.label)) for r in lazy
    }
    rounds: list[Mapping[str, float]] = []
    best, best_value, relaxed, complete = Point(), np.inf, -np.inf, False
    while len(rounds) < _ROUNDS:
        chosen = {label: np.flatnonzero(mask) for label, mask in force.items()}
        reduced = Landmark(basis, chosen).apply(sdp)
        small = solve(reduced.sdp)
        if not small.values:
            break
        before, relaxed = relaxed, reduced.sdp.primal_value(small.values)
        last = reduced.lift(small)
        broken = {r.label: _violation(sdp, r, last) for r in lazy}
        values = make_feasible(last.values, relaxed - before <= _CLOSE * abs(relaxed))
        value = sdp.primal_value(values)
        if value < best_value or not best.values:
            best, best_value = Point(values, last.duals), value
        worst = max((float(v.max(initial=0.0)) for v in broken.values()), default=0.0)
        rounds.append(
            {
                "iteration": len(rounds) + 1,
                "rows": float(sum(r.m for r in reduced.sdp.rows)),
                "relaxed": sdp.report(relaxed),
                "value": sdp.report(value),
                "violation": worst,
            }
        )
        complete = best_value - relaxed <= tol * abs(best_value)
        if not complete:
            if relaxed - before > tol * abs(best_value):
                # Rows that leave may come back; only progress makes sure that this ends.
                _leave(sdp, lazy, force, last)
            joined = [
                _join(force[k], _unspared(broken[k], spared.get(k)), cells.get(k), tol)
                for k in force
            ]
            complete = not any(joined)
        wanted = proceed(rounds[-1])
        if complete or not wanted:
            break
    return Lazy(best, best_value, relaxed, tuple(rounds), complete)


def _is_lazy(sdp: SDP, rows: Rows) -> bool:
    name = sdp.psd_variables[0].name
    exposing = {r.label for r in exposing_rows(sdp, name)}
    return rows.label not in exposing and name in rows.lhs and rows.m > _FEW


def _violation(sdp: SDP, rows: Rows, point: Point) -> Array:
    """How far each row is from holding, relative to its right side."""
    slack = sdp.slack(rows, point.values)
    size = np.abs(rows.rhs)
    size = np.where(size > 0.0, size, np.median(size) or 1.0)
    return np.asarray((np.abs(slack) if rows.relation == "==" else np.maximum(-slack, 0.0)) / size)


def _unspared(violation: Array, spared: np.ndarray | None) -> Array:
    return violation if spared is None else np.asarray(np.where(spared, 0.0, violation))


def _longest(
    rows: Rows, cells: Index | None, sdp: SDP, basis: Array, spared: np.ndarray | None
) -> np.ndarray:
    """Rows to begin with: those of every cell that the basis stretches most."""
    mask = np.zeros(rows.m, dtype=bool)
    linear_map = rows.lhs[sdp.psd_variables[0].name]
    assert isinstance(linear_map, LinearMap)
    size = np.abs(linear_map.apply_factor(basis))
    _join(mask, _unspared(size / np.maximum(np.abs(rows.rhs), 1e-300), spared), cells, 0.0)
    return mask


def _leave(sdp: SDP, lazy: list[Rows], force: Mapping[str, np.ndarray], point: Point) -> None:
    """Let inequalities go that are far from being tight."""
    for r in lazy:
        if r.relation == "<=":
            slack = sdp.slack(r, point.values)
            force[r.label][slack > _LEAVING * np.maximum(np.abs(r.rhs), np.abs(slack - r.rhs))] = (
                False
            )


def _join(mask: np.ndarray, violation: Array, cells: Index | None, tol: float) -> int:
    """Put the worst rows of every cell that are not in force yet in force; their number."""
    waiting = np.flatnonzero(~mask & (violation > tol))
    if cells is None:
        cells = np.zeros(mask.size, dtype=np.int64)
    order = waiting[np.lexsort((-violation[waiting], cells[waiting]))]
    cell = cells[order]
    starts = np.flatnonzero(np.append(True, cell[1:] != cell[:-1])) if order.size else order
    rank = np.arange(order.size) - np.repeat(starts, np.diff(np.append(starts, order.size)))
    share = _JOINING if starts.size > 1 else max(_JOINING, mask.size // 50)
    chosen = order[rank < share]
    mask[chosen] = True
    return int(chosen.size)
