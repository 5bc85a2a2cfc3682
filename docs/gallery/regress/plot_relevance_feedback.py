"""
Relevance feedback (RelevanceFeedback) learns from a user's labels
==================================================================

A search shows ten images, the user labels the relevant ones, and a map learned from the labels
ranks all others. The baseline is the first ranking, by distance from the query; moving the query
towards the relevant images, without any map, is even better on these digits.

In words: :doc:`Spectral regression </methods/spectral_regression>`. In code:
`sdpdr.extend.RelevanceFeedback`.
"""

import numpy as np
from matplotlib.figure import Figure
from sklearn.datasets import load_digits

from sdpdr.extend import RelevanceFeedback

X, digit = load_digits(return_X_y=True)
rounds = []
for query in range(20):
    others = np.delete(np.arange(len(X)), query)
    relevant = digit[others] == digit[query]
    search = RelevanceFeedback().fit(X[others]).ask(X[query])
    found = [relevant[search.ranking_[:50]].mean()]
    while not search.is_over:
        shown = search.shown()
        search = search.label(shown, relevant[shown])
        found.append(relevant[search.ranking_[:50]].mean())
    rounds.append(found + [found[-1]] * (5 - len(found)))
precision = 100.0 * np.mean(rounds, axis=0)
print(precision.round(1))
figure = Figure(figsize=(6.0, 3.5), layout="constrained")
axes = figure.add_subplot(xlabel="rounds of marks", ylabel="relevant among first 50, %")
axes.plot(precision, "-o", color="#3f90da")
axes.set_xticks(range(5))
