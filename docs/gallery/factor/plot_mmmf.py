"""
Maximum-margin factorization (MMMF) predicts signs, and proves its norm
=======================================================================

The matrix of least trace norm that has the observed signs with a margin predicts the other signs.
The baseline is a truncated singular value decomposition of the signs, with zeros for missing signs
and the true rank.

In words: :doc:`Maximum-margin matrix factorization </methods/mmmf>`. In code: `sdpdr.MMMF`,
`sdpdr.methods.mmmf`, `sdpdr.methods.mmmf_dual`.
"""

import matplotlib.pyplot as plt
import numpy as np

import sdpdr

rng = np.random.default_rng(0)
truth = np.sign(rng.standard_normal((60, 2)) @ rng.standard_normal((2, 40)))
shares, ours, theirs = (0.15, 0.25, 0.35, 0.5), [], []
for share in shares:
    X = truth * (rng.random(truth.shape) < share)
    model = sdpdr.MMMF(c=0.5, tol=1e-3).fit(X)
    U, s, Vt = np.linalg.svd(X, full_matrices=False)
    hidden = X == 0
    ours.append(np.mean((np.sign(model.X_) == truth)[hidden]))
    theirs.append(np.mean((np.sign(U[:, :2] * s[:2] @ Vt[:2]) == truth)[hidden]))
    print(f"{share:.0%} seen: {ours[-1]:.1%} right, SVD {theirs[-1]:.1%}, gap {model.gap_:.0e}")
figure, axis = plt.subplots(figsize=(5, 3), layout="constrained")
axis.plot(shares, ours, "o-", label="MMMF")
axis.plot(shares, theirs, "s-", label="truncated SVD")
axis.set(xlabel="share observed", ylabel="hidden signs that are right")
legend = axis.legend(frameon=False)
