"""
A regression as a program (regression) agrees with scikit-learn, and has a proof
================================================================================

One regression of spectral regression, with penalties on squares and absolute values, is a convex
program. The baseline is scikit-learn's elastic net, which has the same minimum and is faster. The
program adds a bound.

In words: :doc:`Spectral regression </methods/spectral_regression>`. In code:
`sdpdr.methods.regression`.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.linear_model import ElasticNet

import sdpdr

X, y = load_diabetes(return_X_y=True)
X, y = X / X.std(axis=0), y / y.std()
ridge, lasso, n = 40.0, 100.0, len(y)
solution = sdpdr.solve(sdpdr.methods.regression(X, y, ridge=ridge, lasso=lasso))
net = ElasticNet(lasso / (2 * n) + ridge / n, l1_ratio=lasso / (lasso + 2 * ridge), tol=1e-10)
theirs = net.fit(X, y).coef_
print(solution)
print(f"coefficients differ by {np.abs(solution['a'] - theirs).max():.0e}")
figure, axis = plt.subplots(figsize=(5, 3), layout="constrained")
axis.bar(np.arange(10) - 0.2, solution["a"], width=0.4, label="regression")
axis.bar(np.arange(10) + 0.2, theirs, width=0.4, label="scikit-learn")
axis.set(xlabel="feature", ylabel="coefficient")
legend = axis.legend(frameon=False)
