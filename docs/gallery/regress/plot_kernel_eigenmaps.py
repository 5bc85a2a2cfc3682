"""
Kernel eigenmaps (KernelEigenmaps) extend to new points
=======================================================

Laplacian eigenmaps embed the points of a graph, and no others. With a kernel as weights the
eigenvectors extend to new points by the same kernel. The baseline gives a new point the coordinates
of its nearest old one.

In words: :doc:`Spectral regression </methods/spectral_regression>`. In code:
`sdpdr.extend.KernelEigenmaps`.
"""

from scipy.spatial import procrustes
from sklearn.neighbors import NearestNeighbors

import sdpdr
from sdpdr.extend import KernelEigenmaps

X, t = sdpdr.datasets.s_curve(300, seed=0)
old, new = X[:150], X[150:]
maps = KernelEigenmaps().fit(old)
nearest = NearestNeighbors(n_neighbors=1).fit(old).kneighbors(new, return_distance=False)[:, 0]
together = KernelEigenmaps().fit(X).embedding_
placed = {"KernelEigenmaps": maps.transform(new), "at the nearest": maps.embedding_[nearest]}
left = {name: procrustes(together[150:], Y)[2] for name, Y in placed.items()}
notes = {name: f"apart from a map of all points: {share:.1%}" for name, share in left.items()}
print(notes)
shown = {"all points at once": together[150:], **placed}
figure = sdpdr.plot.embeddings(shown, t[150:], notes=notes)
