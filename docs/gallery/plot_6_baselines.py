"""
Unfolding (MVU) compared with well-known methods
================================================

One swiss roll, one graph, six methods, and numbers beside the pictures. All but the first are
computed by scikit-learn.
"""

# %%
# The roll is a rectangle, so the true picture is known: the distance along the
# paper to the right, the height upwards.

import numpy as np
import pandas as pd

import sdpdr
from sdpdr import baselines, graphs, methods, plot
from sdpdr.families.unfold.quality import align, edge_changes

X, t = sdpdr.datasets.swiss_roll(500, seed=0)
along = 0.5 * (t * np.hypot(1.0, t) + np.arcsinh(t))
truth = np.column_stack([along, X[:, 1]])

# %%
# The number of neighbours is chosen by the errors of their means, which grow when neighbours join
# different layers.

choice = graphs.choose_k(X)
print(choice.reason)
k = choice.n_neighbors
curve = plot.choice_of_k(choice)

# %%
# Maximum Variance Unfolding, and one loop for all others.

graph = graphs.knn(X, k)
solution = sdpdr.solve(methods.mvu(graph))
print(solution)

titles = {
    "isomap": "Isomap",
    "lle": "LLE",
    "laplacian_eigenmaps": "Laplacian eigenmaps",
    "classical_mds": "classical MDS",
    "kernel_pca": "kernel PCA",
}
found = {"Max. Variance Unfolding": solution.embedding(2)}
for name, title in titles.items():
    found[title] = baselines.embed(name, X, n_neighbors=k)

# %%
# All have the same measures; unfolding also has a spectrum, with a share of the variance.
# Trustworthiness falls when distant points become neighbours, continuity when neighbours are
# separated. The lengths of edges are compared as they are (the scale of LLE and eigenmaps is
# arbitrary, so that number has no meaning for them) and after the best common factor. Then comes
# the distance from the true rectangle, with and without a common factor.

spectra = {"Max. Variance Unfolding": solution.spectrum()}
table = {
    name: sdpdr.quality(graph, Y, truth=truth, spectrum=spectra.get(name))
    for name, Y in found.items()
}
print(pd.DataFrame({name: measured.facts() for name, measured in table.items()}).to_string())

# %%
# Each picture is first aligned with the truth, to remove rotations.

laid = {name: align(truth, Y) for name, Y in found.items()}
notes = {
    name: f"trust {table[name].trustworthiness:.3f}, truth {table[name].procrustes:.2f}"
    for name in table
}
pictures = plot.embeddings(laid, along, notes=notes, label="distance along the paper")

# %%
# Unfolding and Isomap recover the rectangle. Unfolding never stretches an edge, and proves that
# no embedding without stretched edges has more variance; where edges are few the strip becomes
# thin and loses height. Isomap stretches edges, widens holes where points are few,
# because paths go around them, and keeps the height. LLE and eigenmaps lose all lengths. Scaling
# and kernel PCA ignore neighbours, and do not unroll.
#
# The colours of edges show their change: blue ones have shrunk, red ones are stretched.

unfolded = plot.edge_changes(
    solution.embedding(2),
    graph.edges,
    edge_changes(graph, solution.embedding(2)),
    title="Maximum Variance Unfolding",
)

# %%

mapped = plot.edge_changes(
    found["Isomap"], graph.edges, edge_changes(graph, found["Isomap"]), title="Isomap"
)

# %%
# These numbers are for one roll of one size, with one number of neighbours. Unfolding is the better
# choice if lengths of edges matter, and Isomap may be closer to the true rectangle.
