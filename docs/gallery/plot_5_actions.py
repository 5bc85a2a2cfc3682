"""
Action Respecting Embedding (ARE) shows an agent where it is
============================================================

An agent sees a picture through a small window and moves the window, without knowing the effect of
its actions. Maximum Variance Unfolding finds a map of what it saw. Action Respecting Embedding also
requires that every action has the same effect everywhere, and finds a smoother map.
"""

# %%
# Forty steps to the right, twenty to the left
# --------------------------------------------

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LinearRegression

import sdpdr
from sdpdr import datasets, graphs, methods, plot

actions = "R" * 40 + "L" * 20
X, position = datasets.window_agent(actions)
fig, axes = plt.subplots(1, 5, figsize=(8, 1.8))
for axis, state in zip(axes, (0, 10, 20, 40, 60), strict=True):
    axis.imshow(X[state].reshape(24, 24), cmap="gray")
    axis.set_title(f"state {state}", fontsize=10)
    axis.set_axis_off()
fig.tight_layout()

# %%
# Both methods see the same graph: every state, its three nearest, and the next one.

graph = graphs.sequences(X, n_neighbors=3)
steps = graphs.transitions(graph, actions)
plain = sdpdr.solve(methods.mvu(graph), "lowrank")
rigid = sdpdr.solve(methods.are(graph, actions), "clarabel", tol=1e-4)
print(plain)
print(rigid)

# %%
# The embedding has one dimension that matters. It is drawn against the true position: a straight
# line is a perfect map. Fit is the share of the variance of the true position that the coordinate
# explains. Uneven is the standard deviation of the lengths of equal actions over the mean.

fig, axes = plt.subplots(1, 2, figsize=(8, 3.2))
for axis, (name, solution) in zip(axes, {"MVU": plain, "ARE": rigid}.items(), strict=True):
    coordinate = solution.embedding(1)
    fit = LinearRegression().fit(coordinate, position[:, 0]).score(coordinate, position[:, 0])
    uneven = graphs.step_variation(steps, solution.embedding(graph.n))
    axis.plot(position[:41, 0], coordinate[:41, 0], "o-", markersize=3, linewidth=1, label="right")
    axis.plot(position[40:, 0], coordinate[40:, 0], "o-", markersize=3, linewidth=1, label="left")
    axis.set_title(f"{name}: fit {fit:.4f}, uneven {uneven:.2f}", fontsize=10)
    axis.set_xlabel("true position")
    axis.spines[["top", "right"]].set_visible(False)
axes[0].legend(frameon=False)
axes[0].set_ylabel("coordinate")
fig.tight_layout()

# %%
# A walk in four directions
# -------------------------
# Thirty-five random steps inside a grid of five by five positions. The map has two dimensions; each
# step is an arrow in the colour of its action.

walk = datasets.random_walk(36)
X, position = datasets.window_walk(36)
graph = graphs.sequences(X, n_neighbors=4)
plain = sdpdr.solve(methods.mvu(graph), "lowrank")
rigid = sdpdr.solve(methods.are(graph, walk), "clarabel")


def laid_over(Y: np.ndarray) -> np.ndarray:
    """The embedding turned and scaled to lie over the true positions."""
    centred = position - position.mean(axis=0)
    left, size, right = np.linalg.svd((Y - Y.mean(axis=0)).T @ centred)
    return (Y - Y.mean(axis=0)) @ left @ right * size.sum() / np.sum((Y - Y.mean(axis=0)) ** 2)


fig, axes = plt.subplots(1, 3, figsize=(10, 3.4), layout="constrained")
shown = {"true": position, "MVU": plain.embedding(2), "ARE": rigid.embedding(2)}
for axis, (name, Y) in zip(axes, shown.items(), strict=True):
    fit = LinearRegression().fit(Y, position).score(Y, position)
    plot.trajectory(laid_over(Y), walk, ax=axis, title=f"{name}: fit {fit:.3f}")
    if name != "ARE":
        axis.get_legend().remove()

# %%
# What an action does
# -------------------
# The motion of an action is exact on all columns of the embedding. On the two that are drawn it is
# nearly a shift: right and left are opposite, and so are up and down.

steps = graphs.transitions(graph, walk)
print("largest change of a distance by an action, in mean steps:")
print(f"  MVU {graphs.action_error(steps, plain.embedding(5)):.2f}")
print(f"  ARE {graphs.action_error(steps, rigid.embedding(graph.n)):.1e}")
for name, motion in sorted(graphs.motions(steps, laid_over(rigid.embedding(2))).items()):
    print(f"{name}: shift {motion.shift.round(2)}, residual {motion.residual:.2f}")
