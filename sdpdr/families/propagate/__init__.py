"""Labels spread over a graph with similar and dissimilar neighbours."""

from sdpdr.families.propagate.graph import labelled_graph, near_and_far, pearson
from sdpdr.families.propagate.labellings import (
    Propagation,
    PropagationStatus,
    fixed_lam,
    harmonic,
    mixed_graph,
)
from sdpdr.families.propagate.least_ratio import alternating, eigen

__all__ = [
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
]
