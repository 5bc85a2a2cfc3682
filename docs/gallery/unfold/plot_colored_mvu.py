"""
Colored unfolding (ColoredMVU) uses labels, which MVU does not need here
========================================================================

Colored Maximum Variance Unfolding maximises the dependence on side information instead of the
variance, with the same bounds on lengths. The baseline is Maximum Variance Unfolding, which uses no
labels, and separates these digits as well from their neighbours alone.

In words: :doc:`Colored Maximum Variance Unfolding </methods/colored_mvu>`. In code:
`sdpdr.ColoredMVU`, `sdpdr.methods.colored_mvu`.
"""

import numpy as np
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsClassifier

import sdpdr

images, digit = sdpdr.datasets.digits()
chosen = np.flatnonzero(np.isin(digit, [3, 5, 8]))[:300]
X, y = images[chosen], digit[chosen]
maps = {
    "MVU": sdpdr.MVU(n_neighbors=4).fit_transform(X),
    "ColoredMVU": sdpdr.ColoredMVU(n_neighbors=4).fit_transform(X, y),
}
vote = KNeighborsClassifier(5)
right = {name: cross_val_score(vote, Y, y).mean() for name, Y in maps.items()}
notes = {name: f"neighbours agree: {share:.0%}" for name, share in right.items()}
print(notes)
figure = sdpdr.plot.embeddings(maps, y.astype(str), notes=notes, label="digit")
