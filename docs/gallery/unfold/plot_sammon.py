"""
Sammon's map (Sammon) favours small distances, but does not unroll
==================================================================

Sammon's map weighs every pair by one over its distance, so that close pairs count for more than in
classical scaling, its baseline. It keeps distances through space, so the roll is flattened, not
unrolled.

In words: :doc:`Baselines </methods/baselines>`. In code: `sdpdr.baselines.Sammon`.
"""

from sklearn.manifold import trustworthiness

import sdpdr
from sdpdr.baselines import Sammon, classical_mds

X, t = sdpdr.datasets.swiss_roll(400, seed=0)
maps = {
    "classical scaling": classical_mds(X),
    "Sammon": Sammon().fit_transform(X),
    "MVU": sdpdr.MVU(n_neighbors=6).fit_transform(X),
}
notes = {
    name: f"trustworthiness {trustworthiness(X, Y, n_neighbors=6):.3f}" for name, Y in maps.items()
}
print(notes)
figure = sdpdr.plot.embeddings(maps, t, notes=notes)
