"""Labels spread over a graph with similar and dissimilar neighbours."""

from sdpdr.propagation.alternating import LabelStep, alternating, scale_step
from sdpdr.propagation.eigen import eigen, ratio_bound
from sdpdr.propagation.graph import LabelledGraph, labelled_graph
from sdpdr.propagation.harmonic import fixed_lam, harmonic, mixed_graph
from sdpdr.propagation.pencil import Pencil
from sdpdr.propagation.ratings import SpreadRatings, spread_labels, spread_ratings
from sdpdr.propagation.record import Propagation, PropagationStatus
from sdpdr.propagation.similarity import near_and_far, pearson

__all__ = [
    "LabelStep",
    "LabelledGraph",
    "Pencil",
    "Propagation",
    "PropagationStatus",
    "SpreadRatings",
    "alternating",
    "eigen",
    "fixed_lam",
    "harmonic",
    "labelled_graph",
    "mixed_graph",
    "near_and_far",
    "pearson",
    "ratio_bound",
    "scale_step",
    "spread_labels",
    "spread_ratings",
]
