"""
Maximum-margin factorization (MMMF) with the penalty that predicts best
=======================================================================

The penalty c of maximum-margin factorization determines how many observed signs are reproduced.
Cross-validation of scikit-learn chooses c by the share of correct signs among those held back. It
holds back entries, so it needs pairs of positions and their signs. The baseline is c = 1.

In words: :doc:`Maximum-margin matrix factorization </methods/mmmf>`. In code: `sdpdr.MMMF`,
`sdpdr.methods.mmmf`.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import GridSearchCV, KFold

import sdpdr

X, _ = sdpdr.datasets.partial_signs(40, 30, share=0.5, flips=0.15)
pairs, signs = np.argwhere(X), X[X != 0]
cs = np.array([0.15, 0.2, 0.3, 0.5, 1.0, 2.0])
folds = KFold(4, shuffle=True, random_state=0)
search = GridSearchCV(sdpdr.MMMF(tol=1e-2), {"c": cs}, cv=folds).fit(pairs, signs)
mean, spread = (search.cv_results_[f"{kind}_test_score"] for kind in ("mean", "std"))
chosen = search.best_params_["c"]
print(f"chosen c = {chosen:g}: {search.best_score_:.1%} right; c = 1: {mean[cs == 1.0][0]:.1%}")
figure, axis = plt.subplots(figsize=(5, 3), layout="constrained")
axis.errorbar(cs, mean, spread, fmt="o-", label="held back")
axis.axvline(chosen, color="C1", label="chosen")
axis.axvline(1.0, color="grey", linestyle=":", label="c = 1")
axis.set(xscale="log", xlabel="penalty c", ylabel="signs that are right")
legend = axis.legend(frameon=False)
