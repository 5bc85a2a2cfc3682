"""
Anchored unfolding (AnchoredMVU) completes a map from a few known points
========================================================================

Anchored Maximum Variance Unfolding gets the coordinates of a few points and finds those of the
others, in the same units. The baseline is a kernel regression on the same few points.

In words: :doc:`Anchored unfolding </methods/anchored>`. In code: `sdpdr.AnchoredMVU`,
`sdpdr.methods.anchored_mvu`.
"""

import numpy as np
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF

import sdpdr

X, t = sdpdr.datasets.swiss_roll(200, seed=0)
truth = 0.95 * np.column_stack([0.5 * (t * np.hypot(1.0, t) + np.arcsinh(t)), X[:, 1]])
known = np.linspace(0, 199, 12).astype(int)
coordinates = np.full_like(truth, np.nan)
coordinates[known] = truth[known]
anchored = sdpdr.AnchoredMVU(n_neighbors=4).fit(X, coordinates)
regression = GaussianProcessRegressor(RBF(5.0), normalize_y=True).fit(X[known], truth[known])
maps = {"AnchoredMVU": anchored.embedding_, "kernel regression": regression.predict(X)}
off = {name: np.linalg.norm(Y - truth, axis=1).mean() for name, Y in maps.items()}
notes = {name: f"off by {distance:.1f} in the mean" for name, distance in off.items()}
print(notes)
figure = sdpdr.plot.embeddings({"truth": truth, **maps}, t, notes=notes)
