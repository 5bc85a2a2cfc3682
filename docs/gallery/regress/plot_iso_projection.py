"""
Isometric projection (IsoProjection) looks along the letter S, PCA across it
============================================================================

The linear map whose distances are closest to those along the graph. A linear map cannot unroll, but
it can choose the direction of view. The baseline is PCA.

In words: :doc:`Spectral regression </methods/spectral_regression>`. In code: `sdpdr.IsoProjection`,
`sdpdr.extend.linear_embedding`, `sdpdr.baselines.isomap`.
"""

import numpy as np
from sklearn.decomposition import PCA

import sdpdr

X, t = sdpdr.datasets.s_curve(300, seed=0)
X[:, 1] *= 2.5
graph = sdpdr.graphs.knn(X, n_neighbors=8)
way = sdpdr.graphs.geodesics(graph)
methods = {"PCA": PCA(2), "IsoProjection": sdpdr.IsoProjection(2, n_neighbors=8)}
maps = {name: method.fit_transform(X) for name, method in methods.items()}
notes = {}
for name, Y in maps.items():
    D = np.linalg.norm(Y[:, None] - Y, axis=2)
    fit = np.corrcoef(D[np.triu_indices(300, 1)], way[np.triu_indices(300, 1)])[0, 1]
    notes[name] = f"correlation with ways {fit:.3f}"
print(notes)
figure = sdpdr.plot.embeddings(maps, t, notes=notes, columns=2)
