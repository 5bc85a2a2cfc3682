"""
Xing's metric (XingMetric) does for raw measurements what scaling does
======================================================================

A Mahalanobis metric that brings similar pairs together and keeps dissimilar ones apart, learned
from half of the wines in their original units. The baselines are Euclidean distances, raw and after
scaling each feature. Nearest neighbours in each metric classify the other half.

In words: :doc:`Metric learning </methods/metric_learning>`. In code: `sdpdr.XingMetric`,
`sdpdr.methods.xing`.
"""

import numpy as np
from sklearn.datasets import load_wine
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler

import sdpdr

X, y = load_wine(return_X_y=True)
train, test, y_train, y_test = train_test_split(X, y, test_size=0.5, random_state=0, stratify=y)
maps = {"raw": None, "scaled": StandardScaler(), "XingMetric": sdpdr.XingMetric()}
pictures, notes = {}, {}
for name, step in maps.items():
    A, B = (train, test) if step is None else (step.fit(train, y_train).transform(train), None)
    B = test if step is None else step.transform(test)
    right = KNeighborsClassifier(3).fit(A, y_train).score(B, y_test)
    axes = np.linalg.svd(B - B.mean(axis=0), full_matrices=False)[2][:2]
    pictures[name], notes[name] = B @ axes.T, f"{right:.1%} right"
print(notes)
figure = sdpdr.plot.embeddings(pictures, y_test.astype(str), notes=notes, label="cultivar")
