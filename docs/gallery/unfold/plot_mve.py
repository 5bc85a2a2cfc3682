"""
Minimum volume embedding (MVE) needs fewer dimensions than MVU
==============================================================

Minimum volume embedding enlarges the two leading eigenvalues and reduces all others, by a sequence
of programs, each with the lengths kept within one percent. The baseline, Maximum Variance
Unfolding, enlarges the sum of all eigenvalues.

In words: :doc:`Minimum volume embedding, and unfolding at low rank </methods/mve>`. In code:
`sdpdr.MVE`, `sdpdr.iterate.minimum_volume`.
"""

import matplotlib.pyplot as plt
import numpy as np

import sdpdr

X, _ = sdpdr.datasets.swiss_roll(20, seed=0)
methods = {
    "MVU": sdpdr.MVU(n_neighbors=3, isometry="band:0.01").fit(X),
    "MVE": sdpdr.MVE(n_neighbors=3, isometry="band:0.01").fit(X),
}
figure, axis = plt.subplots(figsize=(5, 3), layout="constrained")
for k, (name, method) in enumerate(methods.items()):
    share = method.eigenvalues_ / method.eigenvalues_.sum()
    print(f"{name}: {share[:2].sum():.2%} in two dimensions")
    first = share[:6]
    axis.bar(np.arange(1, first.size + 1) + 0.4 * k, first, width=0.4, label=name)
axis.set(xlabel="dimension", ylabel="share of the variance", yscale="log", ylim=(1e-5, 1))
legend = axis.legend(frameon=False)
