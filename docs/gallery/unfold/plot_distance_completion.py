"""
Distance completion (DistanceCompletion) draws a map of few known distances
===========================================================================

Distance completion takes a table with most entries missing, and returns a map with a certificate of
its program. The baseline is shortest paths over the known distances, scaled by Isomap's rule.

In words: :doc:`Distance completion </methods/distance_completion>`. In code:
`sdpdr.DistanceCompletion`, `sdpdr.methods.distance_completion`, `sdpdr.methods.refine`.
"""

import numpy as np
from scipy.sparse.csgraph import shortest_path
from scipy.spatial import procrustes
from scipy.spatial.distance import cdist

import sdpdr

rng = np.random.default_rng(1)
truth = rng.random((60, 2)) * [2.0, 1.0]
D = cdist(truth, truth)
hidden = np.triu((rng.random(D.shape) > 0.15) & (D > 0.25), 1)
D[hidden | hidden.T] = np.nan
completion = sdpdr.DistanceCompletion().fit(D)
paths = sdpdr.baselines.classical_mds(shortest_path(np.nan_to_num(D)), metric="precomputed")
maps = {"DistanceCompletion": completion.embedding_, "shortest paths": paths}
fits = {name: procrustes(truth, Y)[2] for name, Y in maps.items()}
notes = {name: f"misses {left:.1%} of the truth" for name, left in fits.items()}
print(notes, f"{np.isfinite(D).mean():.0%} known", completion.solution_.certified())
figure = sdpdr.plot.embeddings({"truth": truth, **maps}, truth[:, 0], notes=notes)
