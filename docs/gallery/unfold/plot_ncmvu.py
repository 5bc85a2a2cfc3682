"""
Non-convex unfolding (NCMVU) in two dimensions comes near what MVU proves
=========================================================================

Non-convex unfolding moves coordinates in few dimensions, without a semidefinite program. From
different starts it may end in different places. The baseline is Maximum Variance Unfolding of the
same graph, which has one optimum and a proof of it.
"""

import matplotlib.pyplot as plt

import sdpdr
from sdpdr.baselines import ncmvu

X, t = sdpdr.datasets.swiss_roll(24, seed=0)
graph = sdpdr.graphs.knn(X, n_neighbors=4)
figure, axes = plt.subplots(1, 2, figsize=(8, 3), layout="constrained", sharey=True)
for axis, isometry in zip(axes, ("inequality", "equality"), strict=True):
    best = sdpdr.solve(sdpdr.methods.mvu(graph, isometry)).bound
    start = [None, *(sdpdr.datasets.gaussian(24, 2, seed=s)[0] for s in range(4))]
    values = [ncmvu(graph, 2, isometry, start=R, max_iter=12).value / best for R in start]
    print(isometry, [round(value, 3) for value in values])
    axis.bar(range(5), values)
    axis.axhline(1.0, color="grey", label="no map has more, proved")
    axis.set(title=f"lengths by {isometry}", xlabel="start", ylabel="variance")
legend = axes[1].legend(frameon=False)
