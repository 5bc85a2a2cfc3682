"""
MMMFCV chooses the price of slack by what it predicts
=====================================================

The price c of maximum-margin factorization decides how many observed signs are met.
Cross-validation over observed entries chooses it, with the share of held-back signs that are
right. The baseline is the default, c = 1.

In words: :doc:`Maximum-margin matrix factorization </methods/mmmf>`. In code: `sdpdr.MMMFCV`,
`sdpdr.methods.mmmf`.
"""

import matplotlib.pyplot as plt
import numpy as np

import sdpdr

X, _ = sdpdr.datasets.partial_signs(40, 30, share=0.5, flips=0.15)
cs = np.array([0.05, 0.1, 0.2, 0.3, 0.5, 1.0, 2.0])
search = sdpdr.MMMFCV(sdpdr.MMMF(tol=1e-2), cs=cs, cv=4).fit(X)
mean, spread = search.scores_.mean(axis=1), search.scores_.std(axis=1)
print(f"chosen c = {search.c_:g}: {search.best_score_:.1%} right; c = 1: {mean[cs == 1.0][0]:.1%}")
figure, axis = plt.subplots(figsize=(5, 3), layout="constrained")
axis.errorbar(cs, mean, spread, fmt="o-", label="held back")
axis.axvline(search.c_, color="C1", label="chosen")
axis.axvline(1.0, color="grey", linestyle=":", label="default")
axis.set(xscale="log", xlabel="price c", ylabel="signs that are right")
legend = axis.legend(frameon=False)
