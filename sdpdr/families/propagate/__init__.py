"""Labels spread over a graph with similar and dissimilar neighbours."""

from sdpdr.families.propagate.graph import LabelledGraph, labelled_graph
from sdpdr.families.propagate.harmonic import fixed_lam, harmonic, mixed_graph
from sdpdr.families.propagate.least_ratio import LabelStep, alternating, eigen, ratio_bound
from sdpdr.families.propagate.pencil import Propagation, PropagationStatus
from sdpdr.families.propagate.similarity import near_and_far, pearson

__all__ = [
    "LabelStep",
    "LabelledGraph",
    "Propagation",
    "PropagationStatus",
    "alternating",
    "eigen",
    "fixed_lam",
    "harmonic",
    "labelled_graph",
    "mixed_graph",
    "near_and_far",
    "pearson",
    "ratio_bound",
]
