"""
Completely positive factors (CompletelyPositive), or a proof that there are none
================================================================================

A symmetric matrix is either B times its transpose, with B nonnegative, or a copositive matrix
proves that it is not. The baseline is a local search, symmetric NMF, whose error proves nothing if
it is positive. The circulant matrix with c on its diagonal is completely positive from c = 2 on.

In words: :doc:`Completely positive factorization </methods/completely_positive>`. In code:
`sdpdr.CompletelyPositive`, `sdpdr.factorize.completely_positive`, `sdpdr.methods.cp_lift`,
`sdpdr.methods.copositive_cut`.
"""

import matplotlib.pyplot as plt
import numpy as np

import sdpdr

ring = np.roll(np.eye(5), 1, axis=0)
cs = np.array([1.7, 1.8, 1.9, 1.95, 2.05, 2.1, 2.2, 2.3])
status, misfit = [], []
for c in cs:
    A = c * np.eye(5) + ring + ring.T
    status.append(sdpdr.CompletelyPositive().fit(A).status_.name)
    misfit.append(sdpdr.CompletelyPositive(5).fit(A).residual_)
    print(f"c = {c}: {status[-1]}, local search misses {misfit[-1]:.1e}")
figure, axis = plt.subplots(figsize=(5, 3), layout="constrained")
for name in sorted(set(status)):
    chosen = np.array(status) == name
    axis.semilogy(cs[chosen], np.array(misfit)[chosen], "o", label=f"{name}, proved")
axis.set(xlabel="c", ylabel="error of symmetric NMF")
legend = axis.legend(frameon=False)
