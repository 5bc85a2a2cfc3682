"""
Stochastic proximity embedding (SPE) with a cutoff keeps small distances
========================================================================

Stochastic proximity embedding, itself a baseline, moves random pairs towards their distance. With
all pairs it is scaling by another criterion, and no better; with a cutoff it ignores distant pairs
that are far enough apart. Its own baseline is classical scaling.

In words: :doc:`Moving points: NCMVU, and proximity embedding </methods/ncmvu>`. In code:
`sdpdr.baselines.SPE`.
"""

from scipy.spatial.distance import pdist, squareform

import sdpdr
from sdpdr.baselines import SPE, classical_mds, spe_stress

X, t = sdpdr.datasets.swiss_roll(80, seed=0)
D = squareform(pdist(X))
maps = {
    "classical scaling": classical_mds(X),
    "SPE, all pairs": SPE(cycles=40).fit_transform(X),
    "SPE, cutoff 6": SPE(cutoff=6.0, cycles=40).fit_transform(X),
}
notes = {name: f"stress of pairs within 6: {spe_stress(D, Y, 6.0):.3f}" for name, Y in maps.items()}
print(notes)
figure = sdpdr.plot.embeddings(maps, t, notes=notes)
