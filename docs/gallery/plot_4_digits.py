"""
Handwritten digits
==================

An image of 8 × 8 pixels is a point in 64 dimensions. Images of the same digit form a bent sheet of few
dimensions, which unfolding lays out flat.
"""

# %%
# We take the twos, join each image to its four nearest.

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.offsetbox import AnnotationBbox, OffsetImage

import sdpdr
from sdpdr import graphs, methods

images, labels = sdpdr.datasets.digits()
X = images[labels == 2]
graph = graphs.knn(X, n_neighbors=4)
solution = sdpdr.solve(methods.mvu(graph))
print(solution)

# %%
# Images change little from place to place and much across the page: slant, the roundness of the head,
# the length of the foot. Nobody told the method about any of them.

Y = solution.embedding(2)
fig, axes = plt.subplots(figsize=(8, 6))
axes.scatter(*Y.T, s=4, color="lightgray")
placed: list[np.ndarray] = []
for k in np.argsort(np.linalg.norm(Y, axis=1))[::-1]:
    if all(np.linalg.norm(Y[k] - other) > 0.09 * np.ptp(Y[:, 0]) for other in placed):
        placed.append(Y[k])
        picture = OffsetImage(X[k].reshape(8, 8), zoom=3.0, cmap="gray_r")
        axes.add_artist(AnnotationBbox(picture, Y[k], frameon=False))
axes.set_aspect("equal")
axes.set_axis_off()
fig.tight_layout()

# %%
# The spectrum says how much the plane leaves out.

share = np.cumsum(solution.spectrum()) / solution.spectrum().sum()
fig, axes = plt.subplots(figsize=(5, 2.6))
axes.bar(np.arange(1, share.size + 1), np.diff(share, prepend=0.0))
axes.set_xlabel("dimension")
axes.set_ylabel("share of the variance")
fig.tight_layout()
