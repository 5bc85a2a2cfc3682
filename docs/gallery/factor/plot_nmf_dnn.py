"""
The doubly nonnegative program (nmf_dnn) counts components beyond the rank
==========================================================================

The sides of a square and its corners make a matrix of rank three that needs four nonnegative
components. The doubly nonnegative program proves it. The baselines are the rank and the trace norm,
which is the value of the same program without nonnegativity.

In words: :doc:`Bounds on nonnegative factors </methods/nmf_bounds>`. In code:
`sdpdr.methods.nmf_dnn`.
"""

import matplotlib.pyplot as plt
import numpy as np

import sdpdr
from sdpdr import methods

square = np.array([[1.0, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 1], [0, 0, 1, 1]])
signs = sdpdr.solve(methods.nmf_dnn(square))
plain = sdpdr.solve(methods.nmf_dnn(square, nonnegative=False))
size = np.linalg.norm(square)
bounds = {
    "rank": np.linalg.matrix_rank(square),
    "trace norm": (plain.bound / size) ** 2,
    "nmf_dnn": (signs.bound / size) ** 2,
}
print({name: round(float(value), 4) for name, value in bounds.items()})
print(sdpdr.factorize.nonnegative_rank_bound(square).argument)
figure, axis = plt.subplots(figsize=(4.5, 3), layout="constrained")
axis.bar(list(bounds), list(bounds.values()), color=["C7", "C7", "C0"])
axis.set(ylabel="components, at least", title="bounds on the nonnegative rank")
