"""
Latent variables of Gaussian processes (GPLVM) separate groups that PCA does not
================================================================================

The Gaussian process latent variable model finds coordinates from which a smooth random function
could have made the data. PCA is its linear case, its start and its baseline.

In words: :doc:`Baselines </methods/baselines>`. In code: `sdpdr.baselines.GPLVM`.
"""

import numpy as np
from sklearn.datasets import load_iris
from sklearn.decomposition import PCA
from sklearn.neighbors import KNeighborsClassifier

import sdpdr
from sdpdr.baselines import GPLVM

X, y = load_iris(return_X_y=True)
X, y = X[::2], y[::2]
X = (X - X.mean(axis=0)) / X.std(axis=0)
maps = {"PCA": PCA(2).fit_transform(X), "GPLVM": GPLVM().fit_transform(X)}
near = {name: KNeighborsClassifier(2).fit(Y, y) for name, Y in maps.items()}
right = {
    name: np.mean(y[near[name].kneighbors(Y, return_distance=False)[:, 1]] == y)
    for name, Y in maps.items()
}
notes = {name: f"nearest of own species: {share:.0%}" for name, share in right.items()}
print(notes)
figure = sdpdr.plot.embeddings(maps, y.astype(str), notes=notes, columns=2, label="species")
