"""
MVU with furthest pairs apart (mvu_apart) keeps ends apart
==========================================================

Maximum Variance Unfolding keeps neighbours together, but may bring distant points together as well.
The second form of furthest-neighbour unfolding adds a constraint for each point and the one
furthest from it: their distance may not decrease. The baseline has no such constraints.

In words: :doc:`Maximum Furthest Neighbour Unfolding </methods/mfnu>`. In code:
`sdpdr.methods.mvu_apart`.
"""

import matplotlib.pyplot as plt
import numpy as np

import sdpdr
from sdpdr import graphs, methods

X, _ = sdpdr.datasets.swiss_roll(20, seed=0)
graph = graphs.knn(X, n_neighbors=3)
pairs = graphs.furthest_pairs(graph)
figure, axis = plt.subplots(figsize=(5, 3.4), layout="constrained")
for name, recipe in {"mvu": methods.mvu, "mvu_apart": methods.mvu_apart}.items():
    solution = sdpdr.solve(recipe(graph))
    Y = solution.embedding(19)
    ratio = np.linalg.norm(Y[pairs.edges[:, 0]] - Y[pairs.edges[:, 1]], axis=1)
    ratio = np.sort(ratio / np.sqrt(pairs.sqdist))
    print(f"{name}: variance {solution.value:.1f}, shortest pair {ratio[0]:.2f} of its distance")
    axis.plot(ratio, "o-", label=name)
axis.axhline(1.0, color="grey", linewidth=1.0)
axis.set(xlabel="furthest pairs", ylabel="distance, before = 1")
legend = axis.legend(frameon=False)
