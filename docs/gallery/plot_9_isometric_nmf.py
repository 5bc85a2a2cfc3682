"""
Isometric NMF (IsoNMF) finds parts that keep distances
======================================================

Nonnegative factorization writes images as sums of parts. The coefficients are not a map: neighbours
may end up anywhere. Isometric factorization requires them to keep their distance.
"""

# %%
# The images of a drawing in all rotations, fast at first and slowly later, form a closed curve in
# the space of images.

import matplotlib.pyplot as plt
import numpy as np
from scipy.ndimage import gaussian_filter, rotate
from sklearn.decomposition import NMF

import sdpdr
from sdpdr import plot

digits, labels = sdpdr.datasets.digits()
seven = np.kron(digits[labels == 7][0].reshape(8, 8), np.ones((2, 2)))
seven = gaussian_filter(np.pad(seven, 4), 1.5)
turn = np.linspace(0.0, 1.0, 120, endpoint=False)
angles = 360.0 * turn + 40.0 * np.sin(2 * np.pi * turn)
images = np.clip([rotate(seven, a, reshape=False, order=1) for a in angles], 0.0, None)
X = images.reshape(len(angles), -1)

# %%
# Both factorizations have eight parts. The one that keeps lengths fits about as well.

nmf = NMF(8, init="nndsvda", max_iter=2000)
plain = nmf.fit_transform(X) * np.linalg.norm(nmf.components_, axis=1)
iso = sdpdr.IsoNMF(n_components=8, n_neighbors=2)
kept = iso.fit_transform(X)
print(f"of |X|: {nmf.reconstruction_err_ / np.linalg.norm(X):.1%} by NMF, ", end="")
print(f"{iso.reconstruction_err_ / np.linalg.norm(X):.1%} isometric")
print(f"no factors do better than {iso.bound_ / np.linalg.norm(X):.1%}")

# %%
# The parts, each of unit length; above those of NMF.

parts = np.vstack([nmf.components_, iso.components_]).reshape(16, 24, 24)
figure, axes = plt.subplots(2, 8, figsize=(8, 2.2), layout="constrained")
for axis, part in zip(axes.flat, parts, strict=True):
    axis.imshow(part, cmap="gray_r")
    axis.set_axis_off()
title = figure.suptitle("parts by NMF (above) and by isometric NMF (below)")

# %%
# Distances between neighbours before and after: on the diagonal they are kept.

i, j = iso.graph_.edges.T
before = np.sqrt(iso.graph_.sqdist)
figure, axis = plt.subplots(figsize=(4, 4), layout="constrained")
for name, W in (("NMF", plain), ("isometric", kept)):
    axis.plot(before, np.linalg.norm(W[i] - W[j], axis=1), "o", markersize=3, label=name)
axis.plot([0, before.max()], [0, before.max()], color="grey", linewidth=0.7)
axis.set(xlabel="distance of two images", ylabel="distance of their coefficients")
axis.legend()

# %%
# The coefficients in the plane of their two leading principal components.


def leading(W):
    """Two principal components."""
    U, s, _ = np.linalg.svd(W - W.mean(axis=0), full_matrices=False)
    return U[:, :2] * s[:2]


page = plot.embeddings({"NMF": leading(plain), "isometric": leading(kept)}, angles, label="degrees")
