"""
Discriminant analysis (LDA) by regression does not overfit few samples
======================================================================

Discriminants as a ridge regression whose penalty is chosen by leave-one-out. The baseline is
scikit-learn's, by singular values and with its own shrinkage. There are six digits of each kind in
64 dimensions; shrinkage works as well.

In words: :doc:`Spectral regression </methods/spectral_regression>`. In code: `sdpdr.LDA`,
`sdpdr.extend.class_pencil`, `sdpdr.extend.linear_embedding`.
"""

from sklearn.datasets import load_digits
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier

import sdpdr

X, y = load_digits(return_X_y=True)
A, B, a, b = train_test_split(X, y, train_size=60, stratify=y, random_state=0)
methods = {
    "scikit-learn, svd": LinearDiscriminantAnalysis(),
    "scikit-learn, shrinkage": LinearDiscriminantAnalysis(solver="eigen", shrinkage="auto"),
    "sdpdr.LDA": sdpdr.LDA(),
}
maps, notes = {}, {}
for name, method in methods.items():
    Y = method.fit(A, a).transform(B)
    right = KNeighborsClassifier(1).fit(method.transform(A), a).score(Y, b)
    maps[name], notes[name] = Y[:, :2], f"{right:.1%} right"
print(notes)
figure = sdpdr.plot.embeddings(maps, b.astype(str), notes=notes, label="digit")
