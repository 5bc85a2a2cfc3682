"""
Maximum Variance Unfolding (MVU) keeps a hole that Isomap widens
================================================================

Maximum Variance Unfolding pulls points apart while no neighbours get further from each other. A
grid with a hole is already flat, and the program proves that nothing can be gained. Isomap, the
baseline, uses shortest paths, which go around the hole.

In words: :doc:`Maximum Variance Unfolding </methods/mvu>`. In code: `sdpdr.MVU`,
`sdpdr.methods.mvu`.
"""

import sdpdr
from sdpdr.baselines import isomap
from sdpdr.families.unfold.quality import align, procrustes

X, colour = sdpdr.datasets.grid_with_hole(14, 14, 6)
unfolding = sdpdr.MVU(n_neighbors=4, angles=True).fit(X)
maps = {"MVU": align(X, unfolding.embedding_), "Isomap": align(X, isomap(X, n_neighbors=4))}
notes = {name: f"distance from the truth {procrustes(X, Y):.4f}" for name, Y in maps.items()}
print(unfolding.solution_)
print(notes)
figure = sdpdr.plot.embeddings({"truth": X, **maps}, colour, notes=notes)
