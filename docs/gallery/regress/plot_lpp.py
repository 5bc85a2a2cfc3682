"""
Locality preserving projections (LPP) show clusters where PCA shows noise
=========================================================================

A linear map that keeps neighbours together, from the Laplacian of a graph. The baseline is PCA,
which keeps variance. Two clusters differ in one feature, and six others have more variance.

In words: :doc:`Spectral regression </methods/spectral_regression>`. In code: `sdpdr.LPP`,
`sdpdr.extend.linear_embedding`, `sdpdr.baselines.laplacian_eigenmaps`.
"""

import numpy as np
from sklearn.decomposition import PCA

import sdpdr

rng = np.random.default_rng(0)
y = np.repeat([0, 1], 60)
X = 3.0 * rng.normal(size=(120, 7))
X[:, 0] = 5.0 * y + 0.5 * rng.normal(size=120)
maps = {
    "PCA": PCA(2).fit_transform(X),
    "LPP": sdpdr.LPP(2, n_neighbors=6, connect="bridges").fit_transform(X),
}
first = {name: Y[:, 0] for name, Y in maps.items()}
explained = {name: np.corrcoef(value, y)[0, 1] ** 2 for name, value in first.items()}
notes = {name: f"clusters explain {share:.0%} of the first" for name, share in explained.items()}
print(notes)
figure = sdpdr.plot.embeddings(maps, y.astype(str), notes=notes, columns=2, label="cluster")
