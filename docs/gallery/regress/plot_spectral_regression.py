"""
Spectral regression (SpectralRegression) with a kernel, beside linear discriminants
===================================================================================

Responses of a graph, here that of the classes, and then ordinary regressions. With a kernel this is
kernel discriminant analysis by one linear system. The baseline is scikit-learn's linear
discriminant analysis. Both get 20 digits of each kind.

In words: :doc:`Spectral regression </methods/spectral_regression>`. In code:
`sdpdr.SpectralRegression`, `sdpdr.extend.ridge`, `sdpdr.extend.fit_kernel`.
"""

from sklearn.datasets import load_digits
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier

import sdpdr

X, y = load_digits(return_X_y=True)
A, B, a, b = train_test_split(X, y, train_size=200, stratify=y, random_state=0)
methods = {
    "LDA": LinearDiscriminantAnalysis(),
    "spectral regression": sdpdr.SpectralRegression(kernel="rbf"),
}
maps, notes = {}, {}
for name, method in methods.items():
    Y = method.fit(A, a).transform(B)
    right = KNeighborsClassifier(3).fit(method.transform(A), a).score(Y, b)
    maps[name], notes[name] = Y[:, :2], f"{right:.1%} right in {Y.shape[1]} dimensions"
print(notes)
figure = sdpdr.plot.embeddings(maps, b.astype(str), notes=notes, columns=2, label="digit")
