"""From data to geometry: neighbour graphs, furthest pairs, landmarks, geodesics."""

from sdpdr.base.gather import names as _names
from sdpdr.graphs.bases import laplacian_basis as laplacian_basis
from sdpdr.graphs.build import complete as complete
from sdpdr.graphs.build import cycle as cycle
from sdpdr.graphs.build import from_edges as from_edges
from sdpdr.graphs.build import grid as grid
from sdpdr.graphs.build import path as path
from sdpdr.graphs.motions import Motion as Motion
from sdpdr.graphs.motions import action_error as action_error
from sdpdr.graphs.motions import motions as motions
from sdpdr.graphs.motions import step_variation as step_variation
from sdpdr.graphs.nearest import FurthestPairs as FurthestPairs
from sdpdr.graphs.nearest import furthest_pairs as furthest_pairs
from sdpdr.graphs.nearest import knn as knn
from sdpdr.graphs.nearest import radius as radius
from sdpdr.graphs.neighbor_graph import NeighborGraph as NeighborGraph
from sdpdr.graphs.selection import ChoiceOfK as ChoiceOfK
from sdpdr.graphs.selection import choose_k as choose_k
from sdpdr.graphs.shortest_paths import geodesics as geodesics
from sdpdr.graphs.shortest_paths import landmarks as landmarks
from sdpdr.graphs.transitions import Transitions as Transitions
from sdpdr.graphs.transitions import sequences as sequences
from sdpdr.graphs.transitions import transitions as transitions
from sdpdr.graphs.weighing import edge_weights as edge_weights

__all__ = _names(vars())
