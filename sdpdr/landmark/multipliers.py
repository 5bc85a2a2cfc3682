"""Multipliers of the whole program, which the few rows of the small one do not provide."""

from __future__ import annotations

import numpy as np

from sdpdr.graphs import NeighborGraph
from sdpdr.graphs.arrays import Array, Index
from sdpdr.graphs.routing import routing_weights
from sdpdr.landmark.geometry import Geometry
from sdpdr.program.sdp import SDP
from sdpdr.solvers.edges import to_point


def routed_multipliers(sdp: SDP, geometry: Geometry, sources: Index) -> dict[str, Array]:
    """Multipliers made of the shortest paths from some nodes to all others.

    Empty where the program is not one on edges, or where edges with an upper limit do not
    connect all points.
    """
    if geometry.form is None:
        return {}
    program = geometry.form.program
    limited = np.isfinite(program.upper) & (program.upper > 0.0)
    graph = NeighborGraph(program.n, program.edges[limited], program.upper[limited])
    if not graph.is_connected:
        return {}
    weights = np.zeros(program.m)
    weights[limited] = 0.5 * routing_weights(graph, sources, program.mass)
    return dict(to_point(sdp, geometry.form, np.zeros((program.n, 1)), weights).duals)
