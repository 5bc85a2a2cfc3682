"""
Principal components as a program (fantope): the same as PCA, until a constraint is added
=========================================================================================

The leading eigenvectors solve a semidefinite program. Unlike the baseline, PCA, a program accepts
constraints: here that no feature may have a weight above 0.2.

In words: :doc:`Spectral regression </methods/spectral_regression>`. In code:
`sdpdr.methods.fantope`.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler

import sdpdr

X = StandardScaler().fit_transform(load_wine().data)
C = X.T @ X / len(X)
model = sdpdr.methods.fantope(C, 2)
free = sdpdr.solve(model, "clarabel")
print(f"{free.value:.6f}, by eigenvalues {np.linalg.eigvalsh(C)[-2:].sum():.6f}")
capped = sdpdr.psd("Z", 13).diagonal() <= 0.2
spread = sdpdr.solve(model + capped.named("at_most"), "clarabel")
print(f"no feature above 0.2: {spread.value:.6f}, at most {spread.bound:.6f}")
figure, axis = plt.subplots(figsize=(6, 3), layout="constrained")
axis.bar(np.arange(13) - 0.2, np.diag(free["Z"]), width=0.4, label="free, as PCA")
axis.bar(np.arange(13) + 0.2, np.diag(spread["Z"]), width=0.4, label="at most 0.2")
axis.set(xlabel="feature", ylabel="weight in the projection")
legend = axis.legend(frameon=False)
