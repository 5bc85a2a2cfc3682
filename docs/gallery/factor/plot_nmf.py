"""
Nonnegative factorization (NMF) finds exact factors if there are any
====================================================================

A product of two sparse nonnegative factors has an exact factorization. Convex iteration finds one,
and so does coordinate descent from several starts; a polish removes the remaining error. The
baseline is one descent by scikit-learn, with a tolerance of 1e-7.

In words: :doc:`Nonnegative matrix factorization </methods/nmf>`. In code: `sdpdr.NMF`,
`sdpdr.factorize.nmf`, `sdpdr.methods.nmf_lift`.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.decomposition import NMF

import sdpdr

ours, iterated, theirs = [], [], []
for seed in range(6):
    X, _ = sdpdr.datasets.random_nonnegative(6, 6, rank=3, density=0.6, seed=seed)
    size = np.linalg.norm(X)
    ours.append(sdpdr.NMF(3).fit(X).reconstruction_err_ / size)
    iterated.append(sdpdr.factorize.nmf(X, 3).error)
    descent = NMF(3, init="nndsvda", tol=1e-7, max_iter=20000).fit(X)
    theirs.append(descent.reconstruction_err_ / size)
    print(f"matrix {seed}: {ours[-1]:.1e} here, {theirs[-1]:.1e} by coordinate descent")
figure, axis = plt.subplots(figsize=(5, 3), layout="constrained")
axis.semilogy(np.maximum(ours, 1e-17), "o", label="several starts, polished (sdpdr)")
axis.semilogy(np.maximum(iterated, 1e-17), "x", label="rank iteration (sdpdr)")
axis.semilogy(theirs, "s", label="coordinate descent (scikit-learn)")
axis.set(xlabel="matrix", ylabel="relative error")
legend = axis.legend(frameon=False)
