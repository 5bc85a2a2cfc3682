"""
Ratings (RatingMMMF) by offsets and a matrix of small norm
==========================================================

Ratings are modelled as offsets of users and items plus a matrix of small trace norm. The baseline
is the offsets alone: the mean of a user and of an item. Tastes have two dimensions in these data,
and a quarter of the ratings is observed.

In words: :doc:`Maximum-margin matrix factorization </methods/mmmf>`. In code: `sdpdr.RatingMMMF`,
`sdpdr.methods.mmmf`.
"""

import matplotlib.pyplot as plt
import numpy as np

import sdpdr

rng = np.random.default_rng(0)
taste = rng.standard_normal((80, 2)) @ rng.standard_normal((2, 50))
stars = np.clip(np.round(3.0 + taste + 0.3 * rng.standard_normal((80, 50))), 1, 5)
seen = rng.random(stars.shape) < 0.25
model = sdpdr.RatingMMMF(c=2.0).fit(np.where(seen, stars, np.nan))
hidden = np.nonzero(~seen)
ours = model.predict(np.column_stack(hidden))
offsets = model.mean_ + model.user_offsets_[hidden[0]] + model.item_offsets_[hidden[1]]
figure, axes = plt.subplots(1, 2, figsize=(7, 3), layout="constrained", sharey=True)
for axis, (name, guess) in zip(axes, {"means": offsets, "RatingMMMF": ours}.items(), strict=True):
    error = np.sqrt(np.mean((guess - stars[~seen]) ** 2))
    print(f"{name}: off by {error:.2f} stars")
    axis.violinplot([guess[stars[~seen] == k] for k in range(1, 6)], showmedians=True)
    axis.set(title=f"{name}: off by {error:.2f}", xlabel="true stars")
