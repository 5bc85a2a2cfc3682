"""
Unfold the swiss roll (MVU), and read the certificate
=====================================================

A rolled-up sheet of paper is a two-dimensional surface in three dimensions. Distances across the
layers say nothing about the sheet, but distances between neighbours do. Maximum Variance Unfolding
keeps these and pulls everything else apart.
"""

# %%
# From data to a graph
# --------------------
# A thousand points, coloured by their position along the roll, each joined to its six nearest.
# The method uses only this graph with its lengths.

import matplotlib.pyplot as plt
import numpy as np

import sdpdr
from sdpdr import graphs, methods, plot

X, along = sdpdr.datasets.swiss_roll(1000, seed=0)
graph = graphs.knn(X, n_neighbors=6)
print(f"{graph.n} points, {graph.m} edges")

# %%
# From the graph to a program
# ---------------------------
# The model is the program, unsolved; it prints as mathematics.

model = methods.mvu(graph)
print(model.describe())

# %%
# As a general semidefinite program this has half a million unknowns. The plan says which solver
# and form are chosen, and why.

print(sdpdr.plan(model).explain())

# %%
# The answer
# ----------

solution = sdpdr.solve(model, tol=1e-8)
Y = solution.embedding(2)

fig = plt.figure(figsize=(9, 3.0))
roll = fig.add_axes((0.0, -0.12, 0.4, 1.24), projection="3d")
roll.scatter(*X.T, c=along, s=8)
roll.view_init(8, -68)
roll.set_box_aspect((1, 1.1, 1), zoom=1.35)
roll.set_axis_off()
strip = fig.add_axes((0.43, 0.2, 0.55, 0.6))
strip.scatter(*Y.T, c=along, s=8)
strip.set_aspect("equal")
strip.spines[["top", "right"]].set_visible(False)
title = fig.suptitle("a rolled sheet of points, and the same points unfolded")

# %%
# The certificate
# ---------------
# The value is that of a feasible point. The bound is proved from the multipliers and holds for
# *every* feasible point, so the true optimum lies between the two.

print(solution)
print(solution.argument)

# %%
# The proof can be repeated in three lines. Multipliers are weights on the edges; the bound is the
# weighted sum of squared lengths over the second smallest eigenvalue of the weighted Laplacian.

w = solution.dual("isometry")
lambda_2 = np.linalg.eigvalsh(graph.laplacian(w).toarray())[1]
print(f"bound by hand   {graph.sqdist @ w / lambda_2:.6f}")
print(f"bound reported  {solution.bound:.6f}")

# %%
# The history shows the iterations. The solver first searched in three dimensions and found a local
# optimum. The multipliers proved only a bound nearly twice as high (the triangle in the upper
# panel), so it continued. Two columns were added to the factor, in directions given by the
# multipliers, and from there Newton's method converged.

convergence = plot.convergence(solution.history)

# %%
# What the multipliers mean
# -------------------------
# The weights are the stiffnesses of springs that hold the unfolding together. Edges
# that carry no load could be removed without changing the answer.

loaded = w > 1e-3 * w.max()
print(f"{loaded.sum()} of {graph.m} edges carry a load")
springs = plot.dual_weights(Y, graph.edges, w, title="the load of every edge")

# %%
# How many dimensions does the sheet have? The eigenvalues of the Gram matrix say how much of the
# variance each direction holds.

spectrum = plot.spectrum(solution.spectrum())
