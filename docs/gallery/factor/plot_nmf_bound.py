"""
A bound for every factorization (nmf_bound) shows how good any NMF is
=====================================================================

A local search does not say how far its factors are from the best ones. Branch and bound over cones
does so for small matrices, and singular values for all. The baseline is scikit-learn's error, which
is between the two bounds or equal to one.

In words: :doc:`Bounds on nonnegative factors </methods/nmf_bounds>`. In code: `sdpdr.nmf_bound`,
`sdpdr.nonnegative.cone_search`.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.decomposition import NMF

import sdpdr

rng = np.random.default_rng(0)
figure, axis = plt.subplots(figsize=(5, 3), layout="constrained")
for k in range(8):
    X = rng.random((3, 6)) * (rng.random((3, 6)) < 0.8)
    model = NMF(2, init="nndsvda", tol=1e-10, max_iter=5000)
    W = model.fit_transform(X)
    proved = sdpdr.nmf_bound(X, W, model.components_, time_limit=0.8)
    found = model.reconstruction_err_
    axis.bar(k - 0.2, 100 - 100 * proved.parts["eckart_young"] / found, width=0.4, color="C7")
    axis.bar(k + 0.2, 100 - 100 * proved.lower / found, width=0.4, color="C0")
    print(f"matrix {k}: at least {proved.lower:.4f}; found {found:.4f}")
axis.set(xlabel="matrix", ylabel="% of the error left open")
axis.set_title("by singular values alone (grey), and by cones (blue)", fontsize=10)
