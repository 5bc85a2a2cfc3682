"""
Semi-supervised discriminants (SDA) learn from points without labels
====================================================================

Discriminant analysis with the Laplacian of all points as a penalty: three digits of each kind have
a label, the others have none. The baseline is discriminant analysis of the labelled ones, with
shrinkage.

In words: :doc:`Spectral regression </methods/spectral_regression>`. In code: `sdpdr.SDA`,
`sdpdr.extend.semisupervised_pencil`.
"""

import numpy as np
from sklearn.datasets import load_digits
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.neighbors import KNeighborsClassifier

import sdpdr

X, y = load_digits(return_X_y=True)
X, y = X[:800], y[:800]
rank = np.array([np.sum(y[:i] == label) for i, label in enumerate(y)])
seen = rank < 3
fisher = LinearDiscriminantAnalysis(solver="eigen", shrinkage="auto").fit(X[seen], y[seen])
maps = {
    "LDA": fisher.transform(X),
    "SDA": sdpdr.SDA(n_neighbors=7).fit(X, np.where(seen, y, -1)).transform(X),
}
notes = {}
for name, Y in maps.items():
    right = KNeighborsClassifier(1).fit(Y[seen], y[seen]).score(Y[~seen], y[~seen])
    notes[name] = f"{right:.1%} of the others right"
print(notes)
plane = {name: Y[:, :2] for name, Y in maps.items()}
figure = sdpdr.plot.embeddings(plane, y.astype(str), notes=notes, columns=2, label="digit")
