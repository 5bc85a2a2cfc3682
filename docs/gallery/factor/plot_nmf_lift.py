"""
The lift of a factorization (nmf_lift) accepts missing entries
==============================================================

One program holds both factors and their product; a missing entry is a constraint less. Convex
iteration recovers the missing entries exactly. The baseline is scikit-learn's NMF, which accepts no
missing entries: they are replaced by column means first.

In words: :doc:`Nonnegative matrix factorization </methods/nmf>`. In code:
`sdpdr.methods.nmf_lift`, `sdpdr.NMF`.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.decomposition import NMF

import sdpdr

X, _ = sdpdr.datasets.random_nonnegative(10, 8, rank=2)
seen = np.random.default_rng(0).random(X.shape) < 0.6
found = sdpdr.factorize.nmf(np.where(seen, X, np.nan), 2)
means = np.where(seen, X, (X * seen).sum(axis=0) / seen.sum(axis=0))
model = NMF(2, init="nndsvda", tol=1e-10, max_iter=5000)
pictures = {"truth": X, "observed": np.where(seen, X, np.nan)}
pictures["nmf_lift"] = found.W @ found.H
pictures["means, NMF"] = model.fit_transform(means) @ model.components_
figure, axes = plt.subplots(1, 4, figsize=(8, 2.4), layout="constrained")
for axis, (name, Y) in zip(axes, pictures.items(), strict=True):
    axis.imshow(Y, vmin=0.0, vmax=X.max())
    axis.set(title=name, xticks=[], yticks=[])
    if name != "observed":
        print(f"{name}: off by {np.linalg.norm(Y - X) / np.linalg.norm(X):.1e}")
