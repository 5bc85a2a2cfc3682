"""
Second-order PCA (SOPCA) proves a bound for its bases; GLRAM has none
=====================================================================

One basis from the left and one from the right express every picture. The convex program bounds the
objective of all bases. The baselines are GLRAM, an alternation for the energy, and PCA with as many
numbers for each picture, which stores far larger bases.

In words: :doc:`Second-order PCA </methods/sopca>`. In code: `sdpdr.SOPCA`, `sdpdr.methods.sopca`,
`sdpdr.methods.sopca_dual`, `sdpdr.bilinear.glram`.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA

import sdpdr

images = load_digits().images[:300]
kept = {"SOPCA": [], "GLRAM": [], "PCA": []}
for k in (1, 2, 3, 4):
    ours = sdpdr.SOPCA(k).fit(images)
    kept["SOPCA"].append(ours.energy_ratio_)
    kept["GLRAM"].append(sdpdr.SOPCA(k, method="glram").fit(images).energy_ratio_)
    flat = PCA(k * k).fit(images.reshape(300, -1))
    left = images.reshape(300, -1) - flat.inverse_transform(flat.transform(images.reshape(300, -1)))
    kept["PCA"].append(1.0 - np.square(left).sum() / np.square(images).sum())
    print(f"k = {k}: at most {ours.gap_:.2%} below the best bases")
figure, axis = plt.subplots(figsize=(5, 3), layout="constrained")
for (name, shares), mark in zip(kept.items(), "os^", strict=True):
    axis.plot(range(1, 5), shares, mark + "-", label=name)
axis.set(xlabel="components of each side", ylabel="energy kept", xticks=range(1, 5))
legend = axis.legend(frameon=False)
