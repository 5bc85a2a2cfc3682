"""Figures: each function takes arrays and returns a `matplotlib.figure.Figure`.

Nothing here touches pyplot or global settings: save a figure with ``figure.savefig(path)``, or
return it from a notebook's cell.
"""

from sdpdr.plot.eigenvalues import spectrum
from sdpdr.plot.iterations import convergence
from sdpdr.plot.matrices import sparsity
from sdpdr.plot.points import cloud, embedding
from sdpdr.plot.runs import runs
from sdpdr.plot.weights import dual_weights

__all__ = ["cloud", "convergence", "dual_weights", "embedding", "runs", "sparsity", "spectrum"]
