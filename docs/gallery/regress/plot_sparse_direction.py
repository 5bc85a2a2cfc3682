"""
A sparse direction (sparse_direction) selects features, where PCA uses all of them
==================================================================================

The leading direction with a penalty on its entries, relaxed to a semidefinite program, whose bound
limits the loss. Three features of twenty share a signal. The baseline is PCA, which gives weight to
every feature.

In words: :doc:`Spectral regression </methods/spectral_regression>`. In code:
`sdpdr.methods.sparse_direction`.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.decomposition import PCA

import sdpdr

rng = np.random.default_rng(0)
signal = rng.normal(size=40)
X = rng.normal(size=(40, 20))
X[:, :3] += 1.2 * signal[:, None]
C = np.cov(X.T)
solution = sdpdr.solve(sdpdr.methods.sparse_direction(C, penalty=0.5))
found = np.linalg.eigh(solution["Z"])[1][:, -1]
plain = PCA(1).fit(X).components_[0]
print(solution)
figure, axes = plt.subplots(1, 2, figsize=(7, 2.6), layout="constrained", sharey=True)
for axis, (name, a) in zip(axes, {"PCA": plain, "sparse_direction": found}.items(), strict=True):
    share = np.square(a[:3]).sum()
    print(f"{name}: {share:.0%} on the three features")
    axis.bar(np.arange(20), np.abs(a))
    axis.set(title=f"{name}: {share:.0%} on the three", xlabel="feature")
