"""
Ghodsi's metric (GhodsiMetric) finds the plane of the classes, as LDA does
==========================================================================

The directions in which dissimilar pairs differ most and similar ones least: a semidefinite program
with a closed form. The baselines are principal components, which ignore classes, and linear
discriminants, which whiten as well and separate these wines further.

In words: :doc:`Metric learning </methods/metric_learning>`. In code: `sdpdr.GhodsiMetric`,
`sdpdr.methods.ghodsi`.
"""

from sklearn.datasets import load_wine
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.metrics import silhouette_score
from sklearn.preprocessing import StandardScaler

import sdpdr

X, y = load_wine(return_X_y=True)
X = StandardScaler().fit_transform(X)
maps = {
    "PCA": PCA(2).fit_transform(X),
    "GhodsiMetric": sdpdr.GhodsiMetric(2).fit_transform(X, y),
    "LDA": LinearDiscriminantAnalysis(n_components=2).fit_transform(X, y),
}
notes = {name: f"silhouette {silhouette_score(Y, y):.2f}" for name, Y in maps.items()}
print(notes)
figure = sdpdr.plot.embeddings(maps, y.astype(str), notes=notes, label="cultivar")
