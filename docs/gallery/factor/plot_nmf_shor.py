"""
Large lifts (nmf_shor) and small cones (nmf_cones) bound no better than nmf_dnn
===============================================================================

Two relaxations of the thesis lift all entries of both factors, or each product alone. The first has
the value of the doubly nonnegative program, the baseline, for every number of components, with a
much larger matrix; the second bounds another sum.

In words: :doc:`Bounds on nonnegative factors </methods/nmf_bounds>`. In code:
`sdpdr.methods.nmf_shor`, `sdpdr.methods.nmf_cones`.
"""

import matplotlib.pyplot as plt

import sdpdr
from sdpdr import methods

X, _ = sdpdr.datasets.random_nonnegative(4, 3, rank=2)
models = {
    "nmf_dnn": methods.nmf_dnn(X),
    "nmf_shor, k = 1": methods.nmf_shor(X, 1),
    "nmf_shor, k = 2": methods.nmf_shor(X, 2),
    "nmf_cones": methods.nmf_cones(X),
}
values = {name: sdpdr.solve(model).value for name, model in models.items()}
for name, model in models.items():
    print(f"{name:16} value {values[name]:.6f}, matrices {model.size()['matrices']}")
figure, axis = plt.subplots(figsize=(5.5, 3), layout="constrained")
axis.bar(list(values), list(values.values()))
axis.set(ylabel="value", title="what the relaxations of NMF reach")
