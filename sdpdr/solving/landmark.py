r"""The landmark form: a Gram matrix K = Q L Q^T of few columns, and rows that join when violated.

Q holds the weights that reproduce every point from a few landmarks (Weinberger, Packer and Saul,
AISTATS 2005). A few rows for each column determine L, so that most rows never join. Lengths of
shortest paths give multipliers of the whole program, whose bound says how much the narrow cone
loses.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from sdpdr import graphs
from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array, Index
from sdpdr.base.deadline import Deadline
from sdpdr.base.errors import DataError, ModelError, NotAcceptedError
from sdpdr.certify import certify
from sdpdr.graphs import NeighborGraph
from sdpdr.graphs.bases import reconstruction_basis
from sdpdr.graphs.shortest_paths import routing_weights
from sdpdr.linalg import LinearMap, lengths_of
from sdpdr.linalg.walks import dijkstra
from sdpdr.model import Block, Model
from sdpdr.program.face import exposing_rows, visible_rows
from sdpdr.program.point import Point
from sdpdr.program.rows import Rows
from sdpdr.program.run import Claim, Verdict
from sdpdr.program.sdp import SDP
from sdpdr.reduce.landmark import Landmark
from sdpdr.reduce.subspace import on_face
from sdpdr.solvers.base import Outcome, Progress, Solver, configured, unless_configured
from sdpdr.solvers.lowrank.edge.form import edge_form, to_point
from sdpdr.solvers.running import point_found
from sdpdr.solving.candidate import Candidate, standard_form
from sdpdr.solving.choice import choose
from sdpdr.solving.options import Clock, PlanOptions

# Cells of the graph for each column, and rows of each cell that join at a time. Without cells all
# would join in one corner, which takes twice as long for 3,000 points.
_CELLS, _JOINING = 4, 2
# Relative violation of rows that is left for any tolerance: with more of it, a tolerance that is as
# loose as what is lost to the landmarks would lose as much again.
_MISSED = 1e-4
# A number of landmarks that is offered.
_TYPICAL = 40
# Forms of the small program, in order of trial: what one does not solve, another may.
_SMALL_FORMS = ("lmi", "gram", "auto")
# Nodes whose shortest paths to all others make the multipliers.
_SOURCES = 64
_UNSOLVED = (
    "The small program was not solved. In a narrower cone equations may have no solution: relax "
    "them (`relax(block, band)`), or use another form."
)


@dataclass(frozen=True, eq=False)
class LandmarkSolver(Solver):
    r"""Optimises over K = Q L Q^T, and bounds the whole program (options as in `Solver`).

    Parameters
    ----------
    graph : NeighborGraph
        The graph of the program.
    landmarks : int
    inner : str or Solver, default "auto"
        Solver of the small program.
    """

    name: ClassVar[str] = "landmark"
    package: ClassVar[str] = "sdpdr"
    module: ClassVar[str] = "sdpdr"
    forms: ClassVar[tuple[str, ...]] = ("landmark",)
    licence: ClassVar[str] = "Apache-2.0"

    graph: NeighborGraph = field(kw_only=True)
    landmarks: int = field(kw_only=True)
    inner: str | Solver = "auto"

    def run(self, sdp: SDP, progress: Progress | None = None) -> Outcome:
        """Solve with few rows until no other row is violated; the multipliers are of paths."""
        clock, deadline, graph = Clock(), Deadline(self.time_limit), self.graph
        with clock("basis"):
            chosen = graphs.landmarks(graph, self.landmarks, self.seed)
            basis = on_face(sdp, reconstruction_basis(graph, chosen))
        with clock("route"):
            sources = graphs.landmarks(graph, min(_SOURCES, graph.n), self.seed)
            duals = routed_multipliers(sdp, sources)
        with clock("solve"):
            found, history, is_complete = self._rounds(sdp, basis, deadline, progress)
        if not history:
            claim = Claim("failed", message=_UNSOLVED)
            return Outcome(Point({}, duals), Verdict.FAILED, claim, clock.seconds)
        words = "all rows hold" if is_complete else "rounds ended before all rows held"
        claim = Claim("landmark optimum", sdp.primal_value(found.values), len(history), f"{words}.")
        verdict = Verdict.SOLVED if is_complete else Verdict.INACCURATE
        if not is_complete and deadline.is_over():
            verdict = Verdict.TIME_LIMIT
        point = Point(found.values, duals or found.duals)
        return Outcome(point, verdict, claim, clock.seconds, tuple(history))

    def _rounds(
        self, sdp: SDP, basis: Array, deadline: Deadline, progress: Progress | None
    ) -> tuple[Point, list[Mapping[str, float]], bool]:
        """The last point, an entry for each round, and whether no row is left to join."""
        cells = self._cells(sdp, _CELLS * basis.shape[1])
        lazy = [r for r in sdp.rows if r.label in cells]
        force = {r.label: _worst(_stretch(sdp, r, basis), cells[r.label]) for r in lazy}
        point, history, is_complete = Point(), list[Mapping[str, float]](), False
        while not is_complete and not (history and deadline.is_over()):
            rows = {label: np.flatnonzero(mask) for label, mask in force.items()}
            reduced = Landmark(basis, rows).apply(sdp)
            small = self._solve(reduced.sdp, deadline)
            if not small.values:
                break
            point = reduced.lift(small)
            missed = {r.label: _violation(sdp, r, point) for r in lazy}
            outside = {
                label: np.where(force[label] | (far <= min(_MISSED, self.tol)), 0.0, far)
                for label, far in missed.items()
            }
            joining = {label: _worst(far, cells[label]) for label, far in outside.items()}
            is_complete = not any(map(np.any, joining.values()))
            force = {label: force[label] | joining[label] for label in force}
            entry = {
                "iteration": len(history) + 1,
                "rows": float(reduced.sdp.n_rows),
                "value": sdp.report(sdp.primal_value(point.values)),
                "violation": max((float(np.max(far)) for far in missed.values()), default=0.0),
            }
            history.append(entry)
            if progress is not None:
                progress({**entry, "seconds": deadline.spent})
        return point, history, is_complete

    def _cells(self, sdp: SDP, count: int) -> dict[str, Index]:
        """A cell for each row of the groups that are large enough to be split into cells."""
        name, graph = sdp.psd_variables[0].name, self.graph
        centres = np.random.default_rng(self.seed).permutation(graph.n)[:count]
        lengths = graph.adjacency(np.sqrt(graph.sqdist))
        nearest = dijkstra(lengths, indices=centres, min_only=True, return_predecessors=True)[2]
        found = {}
        for r in visible_rows(sdp):
            if name in r.lhs and r.m > _JOINING * centres.size:
                lengths_there = lengths_of(r.lhs[name])
                found[r.label] = (
                    np.arange(r.m) % centres.size
                    if lengths_there is None
                    else nearest[lengths_there[0][:, 0]]
                )
        return found

    def _solve(self, small: SDP, deadline: Deadline) -> Point:
        """A point of a small program: by the multipliers first, since its rows are dense."""
        refusals = []
        for form in _SMALL_FORMS:
            left = deadline.left()
            options = {
                "tol": unless_configured(self.inner, min(1e-5, 0.1 * self.tol)),
                "seed": unless_configured(self.inner, self.seed),
                "verbose": self.verbose,
                # Late or not, a point is better than none.
                "time_limit": None if left is None else max(1.0, left),
            }
            try:
                chosen = choose(small, PlanOptions(self.inner, form, options=options)).first
            except NotAcceptedError as error:
                refusals.append(error)
                continue
            point = point_found(chosen.solver, small, chosen.reductions)
            if point.values or deadline.is_over():
                return point
        if len(refusals) == len(_SMALL_FORMS):
            raise refusals[-1]
        return Point()


def _worst(sizes: Array, cells: Index) -> NDArray[np.bool_]:
    """Which of some sizes are positive, and among the largest of their cell."""
    order = np.lexsort((-sizes, cells))
    first = np.flatnonzero(np.append(True, np.diff(cells[order]) != 0))
    place = np.arange(order.size) - np.repeat(first, np.diff(np.append(first, order.size)))
    found = np.zeros(sizes.size, dtype=bool)
    found[order] = place < _JOINING
    return found & (sizes > 0.0)


def _stretch(sdp: SDP, rows: Rows, basis: Array) -> Array:
    """By how much a basis violates each row."""
    linear_map = rows.lhs[sdp.psd_variables[0].name]
    assert isinstance(linear_map, LinearMap)
    return np.abs(linear_map.apply_factor(basis)) / np.maximum(np.abs(rows.rhs), 1e-300)


def _violation(sdp: SDP, rows: Rows, point: Point) -> Array:
    """The violation of each row, relative to its right-hand side, or a typical one if that is 0."""
    size = np.abs(rows.rhs)
    return np.asarray(
        sdp.missed(rows, point.values) / np.where(size > 0.0, size, np.median(size) or 1.0)
    )


def routed_multipliers(sdp: SDP, sources: Index) -> dict[str, Array]:
    """Multipliers made of the shortest paths from some nodes to all others.

    Rows that are not on edges get zeros, as if they were not there. Empty where the others are no
    program on edges, or where edges with an upper limit do not connect all points.
    """
    on_edges = _without_other_rows(sdp)
    try:
        form = edge_form(on_edges)
    except (NotAcceptedError, ModelError, DataError):
        return {}
    program = form.program
    limited = np.isfinite(program.upper) & (program.upper > 0.0)
    graph = NeighborGraph(program.n, program.edges[limited], program.upper[limited])
    if not graph.is_connected:
        return {}
    weights = np.zeros(program.m)
    weights[limited] = 0.5 * routing_weights(graph, sources, program.mass)
    origin = np.zeros((program.n, 1))
    duals = to_point(on_edges, form, origin, weights).duals
    if len(on_edges.rows) < len(sdp.rows):
        # Multipliers are scaled for programs on edges only. Rounding must leave them feasible.
        bound, value = certify(on_edges, duals).bound, on_edges.report(on_edges.dual_value(duals))
        scale = 1.0 if bound is None or not value else (1.0 + 1e-9) * bound / value
        duals = to_point(on_edges, form, origin, scale * weights).duals
    return {r.label: duals[r.label] if r.label in duals else np.zeros(r.m) for r in sdp.rows}


def _without_other_rows(sdp: SDP) -> SDP:
    """The program without rows that are not on edges, and without their scalars."""
    name = sdp.psd_variables[0].name
    hidden = exposing_rows(sdp, name)
    rows = tuple(r for r in sdp.rows if r in hidden or lengths_of(r.lhs.get(name)) is not None)
    used = {name}.union(*(r.lhs for r in rows))
    return replace(
        sdp,
        variables=tuple(v for v in sdp.variables if v.name in used),
        objective={k: cost for k, cost in sdp.objective.items() if k in used},
        rows=rows,
    )


def graph_of(model: Model | SDP, sdp: SDP) -> NeighborGraph:
    """The graph that a model was made from, or else that of the rows of its program.

    A graph in a block of the model may hold the points; one read off rows has lengths only.

    Raises
    ------
    NotAcceptedError
        If there is not one matrix variable, or neither a block nor the rows hold a graph.
    DisconnectedGraphError
    """
    if len(sdp.psd_variables) != 1:
        raise NotAcceptedError(
            "the landmark form takes programs over one Gram matrix; this one has "
            f"{len(sdp.psd_variables)} matrix variables. Another form takes it."
        )
    n = sdp.psd_variables[0].n
    found = _graph_of_blocks(model, n) if isinstance(model, Model) else None
    if found is None:
        try:
            program = edge_form(_without_other_rows(sdp)).program
        except (NotAcceptedError, ModelError, DataError) as error:
            raise NotAcceptedError(
                "the landmark form needs a graph to choose landmarks on: no block of the model "
                f"holds one with {n} nodes, and the rows are not limits on edges ({error})."
            ) from None
        found = NeighborGraph(n, program.edges, program.sqdist)
    return found.require_connected()


def _graph_of_blocks(model: Model, n: int) -> NeighborGraph | None:
    waiting: list[object] = list(model.blocks)
    while waiting:
        for value in vars(waiting.pop(0)).values():
            if isinstance(value, NeighborGraph) and value.n == n:
                return value
            if isinstance(value, Block):
                waiting.append(value)
    return None


def landmark_candidate(model: Model | SDP, requested: PlanOptions) -> tuple[Candidate, SDP]:
    """The landmark form of a model, and the program that is graded.

    Raises
    ------
    DataError
        ``landmarks`` is missing or out of range.
    NotAcceptedError
        The program has no Gram matrix with a graph.
    DisconnectedGraphError
    """
    sdp = standard_form(model)
    graph, solver = graph_of(model, sdp), requested.solver
    if requested.landmarks is None:
        raise DataError(
            f"the landmark form needs a number of landmarks, for instance landmarks="
            f"{min(_TYPICAL, graph.n)}; more of them lose less and take longer."
        )
    count = validate.positive_integer("landmarks", requested.landmarks, at_least=2)
    if count > graph.n:
        raise DataError(f"landmarks={count} of {graph.n} points: choose 2 to {graph.n}.")
    # What a configured solver says of itself holds for the whole, unless this call says otherwise.
    names = ("tol", "time_limit", "max_iter", "seed", "verbose")
    own = {name: getattr(solver, name) for name in names if configured(solver)}
    options = own | dict(requested.options)
    chosen = LandmarkSolver(graph=graph, landmarks=count, inner=solver, **options)
    return Candidate((), chosen, "landmark", "it was requested"), sdp
