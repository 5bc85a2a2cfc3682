"""
Mixed label propagation (MixedLabelPropagation) uses dissimilar pairs too
=========================================================================

Labels spread over similar pairs, and dissimilar pairs get different values. Two groups of friends
quarrel with each other, and four of their members are known. The baseline is the harmonic solution,
which uses friendships only.

In words: :doc:`Mixed label propagation </methods/mixed_label_propagation>`. In code:
`sdpdr.MixedLabelPropagation`, `sdpdr.methods.mixed_label_propagation`,
`sdpdr.propagation.mixed_graph`.
"""

import matplotlib.pyplot as plt
import numpy as np

import sdpdr

rng = np.random.default_rng(0)
side = np.repeat([1, 0], 30)
alike = side[:, None] == side
friends = rng.random((60, 60)) < np.where(alike, 0.15, 0.08)
foes = rng.random((60, 60)) < np.where(alike, 0.02, 0.2)
S = np.triu(friends.astype(float) - foes, 1)
known = np.where(np.isin(np.arange(60), [0, 15, 30, 45]), side, -1)
figure, axes = plt.subplots(1, 2, figsize=(8, 3), layout="constrained", sharex=True)
for axis, mode in zip(axes, ("harmonic", "fixed_lam"), strict=True):
    model = sdpdr.MixedLabelPropagation(mode, affinity="precomputed", share=0.9).fit(S + S.T, known)
    right = np.mean((model.transduction_ == side)[known < 0])
    print(f"{mode}: {right:.0%} of the others are right")
    axis.scatter(np.arange(60), model.scores_, c=np.where(side, "C0", "C1"))
    axis.axhline(0.0, color="grey", linewidth=1.0)
    axis.set(title=f"{mode}: {right:.0%} right", xlabel="member", ylabel="score")
