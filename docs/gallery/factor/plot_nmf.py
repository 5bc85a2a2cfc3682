"""
Non-negative factorization (NMF) by rank iteration ends at exact factors
========================================================================

A product of two sparse non-negative factors has an exact factorization. Semidefinite programs of
falling rank find it, and a polish removes what solvers leave. The baseline is scikit-learn's
coordinate descent, with a tolerance of 1e-7: as good for most, and nobody is told when not.

In words: :doc:`Nonnegative matrix factorization </methods/nmf>`. In code: `sdpdr.NMF`,
`sdpdr.factorize.nmf`, `sdpdr.methods.nmf_lift`.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.decomposition import NMF

import sdpdr

ours, theirs = [], []
for seed in range(6):
    X, _ = sdpdr.datasets.random_nonnegative(6, 6, rank=3, density=0.6, seed=seed)
    size = np.linalg.norm(X)
    ours.append(sdpdr.NMF(3, solver="lift").fit(X).reconstruction_err_ / size)
    descent = NMF(3, init="nndsvda", tol=1e-7, max_iter=20000).fit(X)
    theirs.append(descent.reconstruction_err_ / size)
    print(f"matrix {seed}: {ours[-1]:.1e} here, {theirs[-1]:.1e} by coordinate descent")
figure, axis = plt.subplots(figsize=(5, 3), layout="constrained")
axis.semilogy(np.maximum(ours, 1e-17), "o", label="rank iteration (sdpdr)")
axis.semilogy(theirs, "s", label="coordinate descent (scikit-learn)")
axis.set(xlabel="matrix", ylabel="relative error")
legend = axis.legend(frameon=False)
