"""
Locality sensitive discriminants (LSDA) separate classes that consist of pieces
===============================================================================

Neighbours of one class are drawn together, and those of different classes apart; pieces of a class
may lie anywhere. The baseline, linear discriminant analysis, uses means only: here both classes
have the same mean.

In words: :doc:`Spectral regression </methods/spectral_regression>`. In code: `sdpdr.LSDA`,
`sdpdr.extend.contrast_pencil`.
"""

import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.neighbors import KNeighborsClassifier

import sdpdr

rng = np.random.default_rng(0)
piece = np.repeat(np.arange(4), 50)
y = piece % 2
place = np.array([0.0, 4.0, 12.0, 8.0])[piece]
X = np.column_stack([place, 2.0 * rng.normal(size=(200, 5))])
X[:, 0] += rng.normal(scale=0.7, size=200)
methods = {"LDA": LinearDiscriminantAnalysis(), "LSDA": sdpdr.LSDA(1, n_neighbors=10)}
maps, notes = {}, {}
for name, method in methods.items():
    line = method.fit(X[::2], y[::2]).transform(X)
    vote = KNeighborsClassifier(7).fit(line[::2], y[::2])
    notes[name] = f"{vote.score(line[1::2], y[1::2]):.0%} of new points right"
    maps[name] = np.column_stack([line, rng.uniform(size=200) * np.ptp(line) / 3])
print(notes)
figure = sdpdr.plot.embeddings(maps, y.astype(str), notes=notes, columns=2, label="class")
