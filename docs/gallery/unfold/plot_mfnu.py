"""
Furthest-neighbour unfolding (MFNU) unrolls the same sheet as MVU
=================================================================

Maximum Furthest Neighbour Unfolding pulls every point away from the one that was furthest from it.
The baseline, Maximum Variance Unfolding, pulls all points from each other. On a swiss roll both
keep the length, and both lose height where edges are few.

In words: :doc:`Maximum Furthest Neighbour Unfolding </methods/mfnu>`. In code: `sdpdr.MFNU`,
`sdpdr.methods.mfnu`.
"""

import numpy as np

import sdpdr
from sdpdr.families.unfold.quality import align

X, t = sdpdr.datasets.swiss_roll(300, seed=0)
truth = np.column_stack([0.5 * (t * np.hypot(1.0, t) + np.arcsinh(t)), X[:, 1]])
methods = {
    "MVU": sdpdr.MVU(n_neighbors=4),
    "MFNU": sdpdr.MFNU(n_neighbors=4),
}
maps = {name: align(truth, method.fit_transform(X)) for name, method in methods.items()}
share = {name: Y.std(axis=0) / truth.std(axis=0) for name, Y in maps.items()}
notes = {name: f"length {a:.0%}, height {b:.0%}" for name, (a, b) in share.items()}
print(notes)
maps = {"the roll, from its side": X[:, ::2], **maps}
figure = sdpdr.plot.embeddings(maps, t, notes=notes, label="along the roll")
