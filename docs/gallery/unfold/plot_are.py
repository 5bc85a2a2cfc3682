"""
Action Respecting Embedding (ARE) makes equal actions equal steps
=================================================================

An agent moves a window over a picture, right and back again. Action Respecting Embedding requires
each action to be one rigid motion of the whole map. The baseline, Maximum Variance Unfolding, has
the same graph and no actions.

In words: :doc:`Action Respecting Embedding </methods/are>`. In code: `sdpdr.ARE`,
`sdpdr.methods.are`.
"""

import matplotlib.pyplot as plt
import numpy as np

import sdpdr
from sdpdr import datasets

actions = "R" * 24 + "L" * 12
X, position = datasets.window_agent(actions)
methods = {
    "MVU": sdpdr.MVU(1, n_neighbors=3).fit(X),
    "ARE": sdpdr.ARE(1, n_neighbors=3).fit(X, actions=actions),
}
figure, axes = plt.subplots(1, 2, figsize=(8, 3), layout="constrained")
for axis, (name, method) in zip(axes, methods.items(), strict=True):
    y = method.embedding_[:, 0]
    fit = np.corrcoef(y, position[:, 0])[0, 1] ** 2
    print(f"{name}: explains {fit:.2%} of the true position")
    axis.plot(position[:25, 0], y[:25], "o-", label="right")
    axis.plot(position[24:, 0], y[24:], "o-", label="left")
    axis.set(title=f"{name}: fit {fit:.4f}", xlabel="true position", ylabel="coordinate")
legend = axes[0].legend(frameon=False)
