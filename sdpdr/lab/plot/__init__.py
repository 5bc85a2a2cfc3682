"""Figures: each function takes arrays and returns a `matplotlib.figure.Figure`.

Nothing here touches pyplot or global settings: save a figure with ``figure.savefig(path)``, or
return it from a notebook's cell.
"""

from sdpdr.lab.plot.answer import answer
from sdpdr.lab.plot.dimensions import choice_of_k, spectrum
from sdpdr.lab.plot.edges import dual_weights, edge_changes
from sdpdr.lab.plot.history import convergence, rounds
from sdpdr.lab.plot.hover import hoverable
from sdpdr.lab.plot.matrices import bases, sparsity
from sdpdr.lab.plot.multiples import embeddings
from sdpdr.lab.plot.points import cloud, embedding, trajectory
from sdpdr.lab.plot.runs import runs
from sdpdr.lab.plot.studies import growth, outcome_map, performance_profile

__all__ = [
    "answer",
    "bases",
    "choice_of_k",
    "cloud",
    "convergence",
    "dual_weights",
    "edge_changes",
    "embedding",
    "embeddings",
    "growth",
    "hoverable",
    "outcome_map",
    "performance_profile",
    "rounds",
    "runs",
    "sparsity",
    "spectrum",
    "trajectory",
]
