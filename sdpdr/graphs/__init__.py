"""From data to geometry: neighbour graphs, furthest pairs, landmarks, geodesics. No models."""

from sdpdr.graphs.bases import coarse_basis, laplacian_basis, reconstruction_basis
from sdpdr.graphs.build import complete, cycle, from_edges, grid, path
from sdpdr.graphs.motions import Motion, action_error, motions, position_fit, step_variation
from sdpdr.graphs.nearest import (
    FurthestPairs,
    furthest_pairs,
    knn,
    radius,
    smallest_connecting_k,
    smallest_connecting_radius,
)
from sdpdr.graphs.neighbor_graph import NeighborGraph, Provenance
from sdpdr.graphs.rigidity import Rigidity, rigidity
from sdpdr.graphs.selection import ChoiceOfK, choose_k
from sdpdr.graphs.shortest_paths import geodesics, landmarks, routing_weights
from sdpdr.graphs.transitions import Transitions, sequences, transitions
from sdpdr.graphs.weighing import edge_weights, reconstruction_weights

__all__ = [
    "ChoiceOfK",
    "FurthestPairs",
    "Motion",
    "NeighborGraph",
    "Provenance",
    "Rigidity",
    "Transitions",
    "action_error",
    "choose_k",
    "coarse_basis",
    "complete",
    "cycle",
    "edge_weights",
    "from_edges",
    "furthest_pairs",
    "geodesics",
    "grid",
    "knn",
    "landmarks",
    "laplacian_basis",
    "motions",
    "path",
    "position_fit",
    "radius",
    "reconstruction_basis",
    "reconstruction_weights",
    "rigidity",
    "routing_weights",
    "sequences",
    "smallest_connecting_k",
    "smallest_connecting_radius",
    "step_variation",
    "transitions",
]
