"""
Methods add up: MVU, ColoredMVU, ISM and AnchoredMVU with blocks of others
==========================================================================

Blocks do not depend on the method that they come from, so they add up across methods. These are
five sums that, as far as we know, no paper has. None of them has solver code of its own, and each
answer has its own bound.
"""

import matplotlib.pyplot as plt
import numpy as np

import sdpdr
from sdpdr import blocks, datasets, graphs, methods, plot
from sdpdr.families.unfold.quality import align

# %%
# Variance, furthest pairs and a rough height, in one objective
# -------------------------------------------------------------
# This is for data with one roughly known coordinate. Unfolding a swiss roll with few edges keeps
# its length and loses its height: the strip becomes thin. Dependence on a noisy measurement of
# the height restores it; pulling furthest pairs apart keeps the two ends in position.

X, t = datasets.swiss_roll(300, seed=0)
roll = graphs.knn(X, n_neighbors=4)
far = graphs.furthest_pairs(roll)
measured = X[:, 1] + np.random.default_rng(0).normal(scale=2.0, size=roll.n)
heard = (measured - measured.mean())[:, None] / measured.std()

unfolding = methods.mvu(roll)
side = blocks.Dependence(0.3 * heard)
mixture = unfolding + blocks.Spread(roll.n, far.edges, far.multiplicity) + side
print(mixture.describe())

# %%
# The engine for programs on edges supports all three parts of the objective.

plain, told, mixed = (sdpdr.solve(model) for model in (unfolding, unfolding + side, mixture))
print(mixed)
print(mixed.argument)

# %%
# The true rectangle is known, so each map is aligned with it.

along = 0.5 * (t * np.hypot(1.0, t) + np.arcsinh(t))
truth = np.column_stack([along, X[:, 1]])
maps = {"variance": plain, "variance and height": told, "and furthest pairs": mixed}
laid = {name: align(truth, solution.embedding(2)) for name, solution in maps.items()}
shares = {name: Y.std(axis=0) / truth.std(axis=0) for name, Y in laid.items()}
notes = {"truth": "the paper, unrolled"}
notes |= {name: f"length {a:.0%}, height {b:.0%} of the true" for name, (a, b) in shares.items()}
rolls = plot.embeddings({"truth": truth, **laid}, X[:, 1], notes=notes, columns=2, label="height")

# %%
# Side information along a sheet, with a penalty on bending
# ---------------------------------------------------------
# *Colored objective, hard edges, soft angles*, for side information with few columns. Alone,
# such an objective needs no more dimensions than the side information has: a sheet coloured along
# its length collapses to a line. Penalties on the angles between neighbours keep its width.
# The sheet is a strip of paper, bent to most of a cylinder.

along, across = np.divmod(np.arange(36), 3)
jitter = np.random.default_rng(0).normal(scale=0.1, size=(36, 2))
t, width = along + jitter[:, 0], across + jitter[:, 1]
X = np.column_stack([4.0 * np.cos(t / 4.0), width, 4.0 * np.sin(t / 4.0)])
edges = graphs.knn(X, n_neighbors=4)
angles = graphs.knn(X, n_neighbors=4, angles=True)
print(f"{edges.m} edges; {angles.m} with those that fix the angles")

colored = methods.colored_mvu(edges, (t - t.mean()) / t.std())
soft = {
    weight: colored + sdpdr.soften(blocks.Lengths(angles, exact=True), weight)
    for weight in (1.0, 3.0)
}
print(soft[3.0].describe())

# %%

answers = {"no penalty": sdpdr.solve(colored)}
answers |= {f"weight {p:g}": sdpdr.solve(model, "lowrank") for p, model in soft.items()}
for name, solution in answers.items():
    print(f"{name:<10}{solution}")

sheet = plot.embeddings(
    {name: solution.embedding(2) for name, solution in answers.items()},
    t,
    edges=edges.edges,
    label="position along the sheet",
)

# %%
# A hyperplane, with both classes kept at full size
# -------------------------------------------------
# *Isometric separation, maximum variance, and furthest pairs that may not come closer*, for many
# images with few labels. The data are sixty fours and nines, four of each labelled: the hyperplane
# through the origin separates the labelled ones, and the others are classified by their side.

images, digit = datasets.digits()
rng = np.random.default_rng(0)
chosen = np.concatenate([rng.permutation(np.flatnonzero(digit == d))[:30] for d in (4, 9)])
images, digit = images[chosen], digit[chosen]
labels = np.where(np.arange(60) % 30 < 4, digit, -1)

graph = graphs.knn(images, n_neighbors=4, connect="mst")
far = graphs.furthest_pairs(graph)
model = methods.ism(graph, labels, furthest="all") + blocks.Apart(graph.n, far.edges, far.sqdist)
print(model.describe())
solution = sdpdr.solve(model)
print(solution)

# %%
# The horizontal axis is the score of each image, its distance from the hyperplane (the line).

Y = solution.embedding(60)
separation = next(block for block in model.blocks if isinstance(block, blocks.Separation))
anchor = separation.anchors[0]
normal = Y[anchor] / np.linalg.norm(Y[anchor])
score = Y @ normal
rest = Y - np.outer(score, normal)
second = rest @ np.linalg.svd(rest - rest.mean(axis=0), full_matrices=False)[2][0]
guess = np.where(score * score[anchor] > 0.0, digit[anchor], 13 - digit[anchor])
print(f"{np.mean(guess[labels < 0] == digit[labels < 0]):.0%} of {np.sum(labels < 0)} are right")
page = plot.embedding(
    np.column_stack([score, second]),
    digit,
    images=images.reshape(-1, 8, 8),
    label="true digit",
    title="two digits, by their side of a plane",
)
line = page.axes[0].axvline(0.0, color=plot.style.FAINT, linewidth=1.0)

# %%
# A walker with three known positions and the actions between positions
# ---------------------------------------------------------------------
# *Anchors and actions*, for localization. A walker measures ranges to close positions, each with an
# error of a tenth; three positions are known exactly. Equal actions are the same rigid
# motion. The block for actions refers to a Gram matrix by name, here that of anchored unfolding.

actions = "R" * 8 + "D" * 3 + "L" * 8 + "D" * 3 + "R" * 8
motion = {"R": (1.0, 0.15), "D": (0.1, -1.0), "L": (-1.0, 0.1)}
place = np.cumsum([(0.0, 0.0), *(motion[a] for a in actions)], axis=0)
near = graphs.sequences(place, 3)
error = 1.0 + 0.1 * np.random.default_rng(0).standard_normal(near.m)
ranges = graphs.from_edges(near.n, near.edges, near.sqdist * error**2)
fixes = np.array([0, 8, 22])

anchored = methods.anchored_mvu(ranges, fixes, place[fixes], blocks.Slack(5.0))
others = np.setdiff1d(np.arange(near.n), fixes)
row = np.full(near.n, -1)
row[others] = 2 + np.arange(others.size)
before, after = (row[pairs] for pairs in graphs.transitions(ranges, actions).pairs())
free = (before >= 0).all(axis=1) & (after >= 0).all(axis=1)
acting = anchored + blocks.Actions(2 + others.size, before[free], after[free], gram="Z")
print(acting.describe())

# %%

fig, axes = plt.subplots(1, 3, figsize=(10, 2.4), layout="constrained")
plot.trajectory(place, actions, ax=axes[0], title="the walk")
for axis, model, title in [
    (axes[1], anchored, "three fixes"),
    (axes[2], acting, "three fixes, and actions"),
]:
    solution = sdpdr.solve(model, "clarabel")
    print(solution)
    Y = methods.place(solution, ranges, fixes, place[fixes]).coordinates
    off = np.linalg.norm(Y - place, axis=1).mean()
    plot.trajectory(Y, actions, ax=axis, title=f"{title}: off by {off:.2f}")
for axis in axes:
    axis.plot(*place[fixes].T, "o", color=plot.style.INK, markersize=9, fillstyle="none")
for axis in axes[:2]:
    axis.get_legend().remove()

# %%
# A thermometer, actions and a band, on landmarks
# -----------------------------------------------
# *Colored objective, penalized actions and a band of lengths, on landmarks*, for long sequences
# with side information. An agent moves a window over a picture that is warmer to the right. With
# K = Q L Qᵀ, the landmark form, few equalities can hold exactly, so actions get a penalty.

actions = "R" * 12 + "D" * 4 + "L" * 12
views, position = datasets.window_agent(actions, window=16, grain=0.1, scene=96)
states = graphs.sequences(views, 4)
steps = graphs.transitions(states, actions)
warmth = position[:, 0] + np.random.default_rng(1).normal(scale=3.0, size=states.n)

banded = methods.colored_mvu(states, (warmth - warmth.mean()) / warmth.std(), blocks.Band(0.3))
acting = banded + sdpdr.soften(blocks.Actions(states.n, *steps.pairs()), 20.0)
print(acting.describe())
narrow = sdpdr.solve(acting, form="landmark", landmarks=24)
print(narrow)

# %%
# This gap bounds the loss from landmarks. Its bound comes from shortest paths, which works at any
# size, and it is loose. A sum with fewer blocks gives another bound, since the omitted blocks can
# only lower the maximum. This sequence is short enough for a general solver to solve the whole sum,
# which gives the true loss.

without = sdpdr.solve(banded, "clarabel")
whole = sdpdr.solve(acting, "clarabel")
print(f"landmarks reach          {narrow.value:10.0f}")
print(f"bound of shortest paths  {narrow.bound:10.0f}")
print(f"bound without actions    {without.bound:10.0f}")
print(f"bound of the whole sum   {whole.bound:10.0f}, gap {whole.gap:.0e}")
print(f"so landmarks lose at most {1.0 - narrow.value / whole.bound:.0%}")

# %%
# With the penalty, equal actions vary less in length. The walks are aligned with the true one.

walks = {"without actions": without, "with actions": whole, "on landmarks": narrow}
figure, axes = plt.subplots(1, 3, figsize=(12, 2.6), layout="constrained")
for axis, (title, solution) in zip(axes, walks.items(), strict=True):
    varies = graphs.step_variation(steps, solution.embedding(states.n))
    laid_over = align(position, solution.embedding(2))
    plot.trajectory(laid_over, actions, ax=axis, title=f"{title}: steps vary by {varies:.0%}")
for axis in axes[:2]:
    axis.get_legend().remove()
