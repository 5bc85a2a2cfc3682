"""Figures: each function takes arrays and returns a `matplotlib.figure.Figure`.

Nothing here touches pyplot or global settings: save a figure with ``figure.savefig(path)``, or
return it from a notebook's cell.
"""

from sdpdr.plot.actions import trajectory
from sdpdr.plot.bases import bases
from sdpdr.plot.changes import edge_changes
from sdpdr.plot.eigenvalues import spectrum
from sdpdr.plot.history import rounds
from sdpdr.plot.iterations import convergence
from sdpdr.plot.matrices import sparsity
from sdpdr.plot.multiples import embeddings
from sdpdr.plot.neighbours import choice_of_k
from sdpdr.plot.points import cloud, embedding
from sdpdr.plot.runs import runs
from sdpdr.plot.studies import growth, outcome_map, performance_profile
from sdpdr.plot.weights import dual_weights

__all__ = [
    "bases",
    "choice_of_k",
    "cloud",
    "convergence",
    "dual_weights",
    "edge_changes",
    "embedding",
    "embeddings",
    "growth",
    "outcome_map",
    "performance_profile",
    "rounds",
    "runs",
    "sparsity",
    "spectrum",
    "trajectory",
]
