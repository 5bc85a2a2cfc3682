"""From data to geometry: neighbour graphs, furthest pairs, landmarks, geodesics. No models."""

from sdpdr.graphs.ball import radius, smallest_connecting_radius
from sdpdr.graphs.coarse import coarse_basis
from sdpdr.graphs.constructors import complete, cycle, from_edges, grid, path
from sdpdr.graphs.covering import landmarks
from sdpdr.graphs.furthest import FurthestPairs, furthest_pairs
from sdpdr.graphs.harmonics import laplacian_basis
from sdpdr.graphs.nearest import knn, smallest_connecting_k
from sdpdr.graphs.neighbor_graph import NeighborGraph, Provenance
from sdpdr.graphs.reconstruction import reconstruction_basis, reconstruction_weights
from sdpdr.graphs.routing import routing_weights
from sdpdr.graphs.shortest_paths import geodesics

__all__ = [
    "FurthestPairs",
    "NeighborGraph",
    "Provenance",
    "coarse_basis",
    "complete",
    "cycle",
    "from_edges",
    "furthest_pairs",
    "geodesics",
    "grid",
    "knn",
    "landmarks",
    "laplacian_basis",
    "path",
    "radius",
    "reconstruction_basis",
    "reconstruction_weights",
    "routing_weights",
    "smallest_connecting_k",
    "smallest_connecting_radius",
]
