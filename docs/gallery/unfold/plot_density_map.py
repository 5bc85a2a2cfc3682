"""
Density-preserving maps (DensityMap) are flatter than kernel PCA
================================================================

A density-preserving map looks for a kernel whose sums over neighbours, the densities, are those of
a Gaussian kernel, and which spreads the points most. The baseline is that Gaussian kernel itself,
kernel PCA: it has the same densities and needs more dimensions.

In words: :doc:`Density preserving maps </methods/density>`. In code: `sdpdr.DensityMap`,
`sdpdr.methods.density_map`.
"""

import numpy as np

import sdpdr
from sdpdr.baselines import kernel_pca

X, t = sdpdr.datasets.s_curve(80, seed=0)
found = sdpdr.DensityMap().fit(X)
gaussian = kernel_pca(X, 79, gamma=0.5 / found.bandwidth_**2)
share = {
    "kernel PCA": np.square(gaussian[:, :2]).sum() / np.square(gaussian).sum(),
    "DensityMap": found.eigenvalues_[:2].sum() / found.eigenvalues_.sum(),
}
notes = {name: f"the plane holds {part:.0%}" for name, part in share.items()}
print(found.solution_, notes, sep="\n")
maps = {"kernel PCA": gaussian[:, :2], "DensityMap": found.embedding_}
figure = sdpdr.plot.embeddings(maps, t, notes=notes)
