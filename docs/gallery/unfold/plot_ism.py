"""
Isometric separation maps (ISM) put classes on two sides of a plane
===================================================================

An isometric separation map unfolds, and keeps labelled points on their side of a hyperplane; the
others get the label of their side. The data are stripes along a swiss roll, with a quarter of the
labels. The baselines are a support vector machine and label propagation of scikit-learn.

In words: :doc:`Isometric separation maps </methods/ism>`. In code: `sdpdr.ISM`,
`sdpdr.methods.ism`, `sdpdr.methods.separation_margin`.
"""

import numpy as np
from sklearn.semi_supervised import LabelPropagation
from sklearn.svm import SVC

import sdpdr

X, t = sdpdr.datasets.swiss_roll(200, seed=0)
y = (np.sin(0.7 * t) > 0).astype(int)
known = np.where(np.arange(200) % 4 == 0, y, -1)
labelled = known >= 0
ism = sdpdr.ISM(3, n_neighbors=5, furthest="auto", decision="hyperplane").fit(X, known)
svm = SVC(C=100.0).fit(X[labelled], y[labelled])
spread = LabelPropagation(kernel="knn", n_neighbors=5).fit(X, known)
guesses = {"ISM": ism.transduction_, "SVM": svm.predict(X), "propagation": spread.transduction_}
right = {name: np.mean((guess == y)[~labelled]) for name, guess in guesses.items()}
words = ", ".join(f"{name} {share:.0%}" for name, share in right.items())
print(words)
Y = np.column_stack([ism.scores_[:, 0], ism.embedding_[:, 1]])
figure = sdpdr.plot.embedding(
    Y, y.astype(str), title=f"score of ISM, and a coordinate; right: {words}"
)
line = figure.axes[0].axvline(0.0, color="grey", linewidth=1.0)
