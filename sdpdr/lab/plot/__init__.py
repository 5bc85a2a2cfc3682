"""Figures: each function takes arrays and returns a `matplotlib.figure.Figure`.

Nothing here touches pyplot or global settings: save a figure with ``figure.savefig(path)``, or
return it from a cell of a notebook.
"""

from sdpdr.base.gather import names as _names
from sdpdr.lab.plot.curves import bases as bases
from sdpdr.lab.plot.curves import choice_of_k as choice_of_k
from sdpdr.lab.plot.curves import convergence as convergence
from sdpdr.lab.plot.curves import rounds as rounds
from sdpdr.lab.plot.curves import spectrum as spectrum
from sdpdr.lab.plot.edges import dual_weights as dual_weights
from sdpdr.lab.plot.edges import edge_changes as edge_changes
from sdpdr.lab.plot.points import embedding as embedding
from sdpdr.lab.plot.points import embeddings as embeddings
from sdpdr.lab.plot.points import trajectory as trajectory
from sdpdr.lab.plot.studies import performance_profile as performance_profile
from sdpdr.lab.plot.studies import runs as runs

__all__ = _names(vars())
