"""
Non-convex unfolding (NCMVU) in two dimensions comes close to the bound of MVU
==============================================================================

Non-convex unfolding moves coordinates in few dimensions, without a semidefinite program, and may
end at different points from different starts. The baseline is Maximum Variance Unfolding of the
same graph, with a proved optimum in more dimensions, of which two are drawn.

In words: :doc:`Moving points: NCMVU, and proximity embedding </methods/ncmvu>`. In code:
`sdpdr.baselines.ncmvu`.
"""

import numpy as np

import sdpdr
from sdpdr.baselines import ncmvu
from sdpdr.families.unfold.quality import align

X, t = sdpdr.datasets.swiss_roll(60, seed=0)
graph = sdpdr.graphs.knn(X, n_neighbors=4)
solution = sdpdr.solve(sdpdr.methods.mvu(graph))
maps = {"MVU, drawn in two": solution.embedding(2), "NCMVU": ncmvu(graph, 2).embedding}
start, _ = sdpdr.datasets.gaussian(60, 2, seed=0)
maps["NCMVU, random start"] = ncmvu(graph, 2, start=start).embedding
shares = {name: np.sum(Y**2) / solution.bound for name, Y in maps.items()}
notes = {name: f"variance {share:.1%} of the bound" for name, share in shares.items()}
print(*(f"{name}: {note}" for name, note in notes.items()), sep="\n")
maps = {name: align(maps["NCMVU"], Y) for name, Y in maps.items()}
figure = sdpdr.plot.embeddings(maps, t, notes=notes, edges=graph.edges, label="along the roll")
