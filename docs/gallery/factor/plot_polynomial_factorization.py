"""
Factors under a polynomial (PolynomialFactorization) where NMF needs more of them
=================================================================================

Every entry is a polynomial of a product of factors: t + t²/2, t = WH with one component. The
factors are recovered, with a proof that none fit better. The baseline, NMF, has no polynomial and
needs a second component for the same matrix.

In words: :doc:`Factorization under a rank </methods/polynomial_factorization>`. In code:
`sdpdr.PolynomialFactorization`, `sdpdr.factorize.polynomial`,
`sdpdr.methods.polynomial_factorization`.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.decomposition import NMF

import sdpdr

t = np.outer([1.0, 0.5, 0.8, 0.2], [0.7, 1.2, 2.0])
X = t + t**2 / 2
model = sdpdr.PolynomialFactorization(coefficients=(1.0, 0.5)).fit(X)
errors = {"polynomial, k = 1": model.reconstruction_err_}
for k in (1, 2):
    nmf = NMF(k, init="nndsvda", tol=1e-14, max_iter=20000).fit(X)
    errors[f"NMF, k = {k}"] = nmf.reconstruction_err_
print({name: f"{error:.1e}" for name, error in errors.items()})
figure, axis = plt.subplots(figsize=(5, 3), layout="constrained")
axis.bar(list(errors), np.maximum(list(errors.values()), 1e-16), color=["C0", "C7", "C7"])
axis.set(ylabel="error", yscale="log", title="what is left by each factorization")
