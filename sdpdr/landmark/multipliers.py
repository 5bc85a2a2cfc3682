"""Multipliers of the whole program, which the few rows of the small one do not provide."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sdpdr.errors import DataError, ModelError, NotAcceptedError
from sdpdr.graphs import NeighborGraph
from sdpdr.graphs.arrays import Array, Index
from sdpdr.graphs.routing import routing_weights
from sdpdr.landmark.geometry import Geometry
from sdpdr.linalg import LinearMap
from sdpdr.program.certificate import certify
from sdpdr.program.face import exposing_rows
from sdpdr.program.sdp import SDP, Rows
from sdpdr.solvers.edge_objective import as_lengths
from sdpdr.solvers.edges import edge_form, to_point

# Enough for rounding to leave scaled multipliers feasible.
_ABOVE = 1.0 + 1e-9


def routed_multipliers(sdp: SDP, geometry: Geometry, sources: Index) -> dict[str, Array]:
    """Multipliers made of the shortest paths from some nodes to all others.

    Rows that are not on edges get zeros, as if they were not there. Empty where the rest is not
    a program on edges, or where edges with an upper limit do not connect all points.
    """
    form, on_edges = geometry.form, sdp
    if form is None:
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
    duals = dict(to_point(on_edges, form, np.zeros((program.n, 1)), weights).duals)
    if on_edges is sdp:
        return duals
    # Only a program on edges has its multipliers scaled for it when a bound is proved.
    bound, value = certify(on_edges, duals).bound, on_edges.report(on_edges.dual_value(duals))
    scale = 1.0 if bound is None or not value else _ABOVE * bound / value
    duals = dict(to_point(on_edges, form, np.zeros((program.n, 1)), scale * weights).duals)
    return {r.label: duals[r.label] if r.label in duals else np.zeros(r.m) for r in sdp.rows}


def _without_other_rows(sdp: SDP) -> SDP:
    """The program without rows that are not on edges, and without their scalars."""
    name = sdp.psd_variables[0].name
    hidden = exposing_rows(sdp, name)
    rows = tuple(r for r in sdp.rows if r in hidden or _is_on_edges(r, name))
    used = {name}.union(*(r.lhs for r in rows))
    return replace(
        sdp,
        variables=tuple(v for v in sdp.variables if v.name in used),
        objective={k: cost for k, cost in sdp.objective.items() if k in used},
        rows=rows,
    )


def _is_on_edges(rows: Rows, name: str) -> bool:
    linear_map = rows.lhs.get(name)
    return isinstance(linear_map, LinearMap) and as_lengths(linear_map) is not None
