"""
Leave-one-out unfolding (LOOCVUnfolding) folds; MVU unfolds
===========================================================

The program makes every point likely given all others, with a bound on the trace. It maximises inner
products, not distances, so the map is as small as the lengths allow. The baseline, Maximum Variance
Unfolding, makes it as large as they allow.

In words: :doc:`Maximum leave-one-out cross-validation "unfolding" </methods/loocv>`. In code:
`sdpdr.LOOCVUnfolding`, `sdpdr.methods.loocv`, `sdpdr.methods.fold`.
"""

import numpy as np

import sdpdr

X, t = sdpdr.datasets.swiss_roll(24, seed=0)
likely = sdpdr.LOOCVUnfolding(n_neighbors=3).fit(X)
wide = sdpdr.MVU(n_neighbors=3, isometry="equality").fit(X)
maps = {"data, two of three": X[:, [0, 2]], "LOOCV": likely.embedding_, "MVU": wide.embedding_}
variance = [np.square(X - X.mean(axis=0)).sum(), likely.eigenvalues_.sum(), wide.eigenvalues_.sum()]
notes = {name: f"variance {value:.0f}" for name, value in zip(maps, variance, strict=True)}
print(notes)
figure = sdpdr.plot.embeddings(maps, t, notes=notes, edges=wide.graph_.edges)
