"""
Lifted products (nmf_products) give rank one until the symmetry is broken
=========================================================================

The thesis lifts every product of two entries separately. All components are symmetric, so the
solution has equal ones for every matrix. Random linear weights on the factors break the symmetry.
The baseline is the best error of two components, by singular values.

In words: :doc:`Nonnegative matrix factorization </methods/nmf>`. In code:
`sdpdr.methods.nmf_products`.
"""

import matplotlib.pyplot as plt
import numpy as np

import sdpdr

X, _ = sdpdr.datasets.random_nonnegative(4, 3, rank=2)
rng = np.random.default_rng(0)
weights = {"no weight": (0.0, 0.0), "equal weights": (1.0, 1.0)}
weights["random weights"] = rng.random((4, 2)), rng.random((2, 3))
figure, axes = plt.subplots(1, 3, figsize=(7, 2.6), layout="constrained")
for axis, (name, (left, right)) in zip(axes, weights.items(), strict=True):
    solution = sdpdr.solve(sdpdr.methods.nmf_products(X, 2, left=left, right=right), "clarabel")
    W = solution["W"].reshape(4, 2)
    apart = np.linalg.norm(W[:, 0] - W[:, 1]) / np.linalg.norm(W)
    print(f"{name}: components differ by {apart:.1%}")
    axis.imshow(W, cmap="viridis")
    axis.set(title=f"{name}: {apart:.0%} apart", xticks=[], yticks=[])
