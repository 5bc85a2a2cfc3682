"""Programs on the edges of a graph, recognised in a standard-form program.

The low-rank solvers read variance, or another positive form, under limits on squared lengths.
This file finds that structure
(one Gram matrix, centred, rows that are multiples of squared edge lengths, slack with a penalty)
and turns edge weights back into multipliers of the rows.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from sdpdr.base.arrays import Array, Index
from sdpdr.base.errors import DataError, ModelError, NotAcceptedError
from sdpdr.linalg import VectorMap, lengths_of
from sdpdr.program.boxes import SlackColumn, fill_slack, slack_columns
from sdpdr.program.face import complete_multipliers, exposing_rows
from sdpdr.program.point import Factor, Point, Value
from sdpdr.program.rows import Rows
from sdpdr.program.sdp import SDP
from sdpdr.solvers.lowrank.edge.objective import read_objective
from sdpdr.solvers.lowrank.edge.program import EdgeProgram

# Part of the reason why a program is none that becomes one without repeated rows.
MERGES = "reduction 'dedupe' merges"


@dataclass(frozen=True, eq=False)
class EdgeForm:
    """An edge program, and where its edges came from.

    Attributes
    ----------
    program : EdgeProgram
    edge_of : mapping from row label to the index of each row's edge
    factor_of : mapping from row label to each row's factor on the squared length
    """

    program: EdgeProgram
    edge_of: dict[str, Index] = field(default_factory=dict)
    factor_of: dict[str, Array] = field(default_factory=dict)


def why_not(sdp: SDP) -> str | None:
    """None if the program is an edge program, else the reason why not."""
    found = sdp.remembered(_attempt)
    return None if isinstance(found, EdgeForm) else str(found).removesuffix(".")


def edge_form(sdp: SDP) -> EdgeForm:
    """Read a program as an edge program, once for each program, since planning needs it as well.

    Raises
    ------
    NotAcceptedError
        With the reason, in words.
    """
    found = sdp.remembered(_attempt)
    if isinstance(found, EdgeForm):
        return found
    raise found.with_traceback(None)


def _attempt(sdp: SDP) -> EdgeForm | Exception:
    try:
        return _read(sdp)
    except (NotAcceptedError, ModelError, DataError) as refusal:
        return refusal.with_traceback(None)


def _read(sdp: SDP) -> EdgeForm:
    if len(sdp.psd_variables) != 1 or sdp.lmis:
        raise NotAcceptedError("it takes one Gram matrix and no further matrix inequalities")
    name, n = sdp.psd_variables[0].name, sdp.psd_variables[0].n
    columns = slack_columns(sdp)
    if columns is None:
        raise NotAcceptedError("a scalar is not slack of a single row")
    if any(np.any(column.cost < 0.0) for column in columns):
        raise NotAcceptedError("a scalar is maximised")
    hidden = exposing_rows(sdp, name)
    if len(hidden) > 1:
        raise NotAcceptedError(f"rows {hidden[1].label!r} centre the points again ({MERGES})")
    mass, objective = read_objective(sdp, name)
    rows = [r for r in sdp.rows if r not in hidden]
    lengths = {r.label: _edge_rows(r, name) for r in rows}
    if not rows or n < 2:
        raise NotAcceptedError("there is no row on an edge")
    keys = np.concatenate([e[:, 0] * n + e[:, 1] for e, _ in lengths.values()])
    unique, inverse = keys, np.arange(keys.size)
    if not np.all(np.diff(keys) > 0):
        unique, inverse = np.unique(keys, return_inverse=True)
    split = np.split(inverse, np.cumsum([r.m for r in rows])[:-1])
    edge_of = {r.label: part.astype(np.intp) for r, part in zip(rows, split, strict=True)}
    factor_of = {label: factor for label, (_, factor) in lengths.items()}
    limits = _Limits.of(unique.size)
    for r in rows:
        limits.add(r, edge_of[r.label], factor_of[r.label])
    for column in columns:
        limits.penalty_of(column, edge_of[column.label], factor_of[column.label])
    program = EdgeProgram(
        edges=np.column_stack([unique // n, unique % n]),
        n=n,
        sqdist=limits.scale(),
        lower=limits.lower,
        upper=limits.upper,
        penalty=limits.penalty,
        stiffness=limits.stiffness,
        mass=mass,
        objective=objective,
    )
    return EdgeForm(program, edge_of, factor_of)


def to_point(sdp: SDP, form: EdgeForm, factor: Array, weights: Array) -> Point:
    """Factor and edge weights as a point of the program they came from."""
    duals = {}
    for r in sdp.rows:
        if r.label in form.edge_of:
            y = weights[form.edge_of[r.label]] / form.factor_of[r.label]
            duals[r.label] = np.maximum(y, 0.0) if r.relation == "<=" else y
    values: dict[str, Value] = {v.name: np.zeros(v.size) for v in sdp.vector_variables}
    values[sdp.psd_variables[0].name] = Factor(factor)
    # The engine has no slack scalars: fill in the cheapest ones.
    return Point(fill_slack(sdp, values), complete_multipliers(sdp, duals))


def weights_of(form: EdgeForm, point: Point) -> Array | None:
    """Edge weights from the multipliers of a point; None if it lacks those of some row.

    Where several rows limit one edge, its weight is the sum over them.
    """
    if not all(label in point.duals for label in form.edge_of):
        return None
    weights = np.zeros(form.program.m)
    for label, edge in form.edge_of.items():
        np.add.at(weights, edge, point.duals[label] * form.factor_of[label])
    return weights


def _edge_rows(rows: Rows, name: str) -> tuple[Index, Array]:
    """Edges (m, 2) and factors (m,) of rows that are multiples of squared lengths."""
    linear_map = rows.lhs.get(name)
    slack_only = all(isinstance(a, VectorMap) for k, a in rows.lhs.items() if k != name)
    found = lengths_of(linear_map)
    if found is None or not slack_only:
        raise NotAcceptedError(f"rows {rows.label!r} are not multiples of squared edge lengths")
    edges, factor = found
    edges = np.sort(edges, axis=1)
    if np.any(factor == 0) or np.any(edges[:, 0] == edges[:, 1]):
        raise NotAcceptedError(f"rows {rows.label!r} contain an empty row")
    return edges, factor


@dataclass(eq=False)
class _Limits:
    """Limits on the squared length of every edge, gathered from the rows."""

    lower: Array
    upper: Array
    penalty: Array
    stiffness: Array
    taken: Array
    # How often a relation limits an edge from above, and from below.
    stated: dict[tuple[str, bool], Index] = field(default_factory=dict)

    @classmethod
    def of(cls, m: int) -> _Limits:
        infinite = np.full(m, np.inf)
        return cls(-infinite, infinite.copy(), infinite.copy(), infinite.copy(), np.zeros(m, int))

    def add(self, rows: Rows, edge: Index, factor: Array) -> None:
        side = rows.rhs / factor
        above = (factor > 0) | (rows.relation == "==")
        below = (factor < 0) | (rows.relation == "==")
        for is_upper, chosen in ((True, above), (False, below)):
            count = self.stated.get((rows.relation, is_upper), 0)
            count = count + np.bincount(edge[chosen], minlength=self.upper.size)
            if np.any(count > 1):
                raise NotAcceptedError(f"rows {rows.label!r} repeat an edge ({MERGES})")
            self.stated[rows.relation, is_upper] = count
        self.upper[edge[above]] = np.minimum(self.upper[edge[above]], side[above])
        self.lower[edge[below]] = np.maximum(self.lower[edge[below]], side[below])
        if np.any(self.lower > self.upper):
            raise NotAcceptedError(f"rows {rows.label!r} leave no squared length for some edge")
        if np.any(self.upper[edge] <= 0):
            raise NotAcceptedError(
                f"rows {rows.label!r} force two points together; merge them in the graph"
            )
        np.add.at(self.taken, edge, 1)

    def penalty_of(self, column: SlackColumn, edge: Index, factor: Array) -> None:
        edge, per_unit = edge[column.row], np.abs(factor[column.row] / column.coefficient)
        if np.any(self.taken[edge] > 1):
            raise NotAcceptedError(f"rows {column.label!r} are penalized, yet bound elsewhere too")
        if column.curvature is not None:
            self.stiffness[edge] = column.curvature * per_unit**2
            return
        penalty = column.cost * per_unit
        known = np.isfinite(self.penalty[edge])
        if np.any(known & (np.abs(self.penalty[edge] - penalty) > 1e-12 * penalty)):
            raise NotAcceptedError(f"rows {column.label!r} have different penalties up and down")
        self.penalty[edge] = penalty

    def scale(self) -> Array:
        size = np.where(np.isfinite(self.upper), self.upper, np.abs(self.lower))
        # A lower limit of zero sets no scale of its own.
        return np.where(size > 0.0, size, size.max())
