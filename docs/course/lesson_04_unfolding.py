r"""
Lesson 4: Unfolding, and its springs
====================================

Pull points apart while neighbours hold on: a semidefinite program, whose multipliers are springs.

**Goals.** After this lesson you can

- say why Maximum Variance Unfolding is a semidefinite program, condition by condition;
- derive its dual, a problem about the stiffness of a network of springs;
- solve a path and a ring by hand, with a proof, and read the multipliers of real data as forces.

**You need** lessons 1 to 3: :math:`D_{ij} = K_{ii} + K_{jj} - 2K_{ij}`, variance as a trace, and
:math:`\langle S, K \rangle \ge 0`.
"""

# %%
# Which distances to keep
# -----------------------
# Lesson 1 ended with a roll that stayed rolled up, because all distances were kept. Now we keep the
# distances between neighbours only. A **graph** says who is a neighbour of whom: its points are
# numbered, its edges ij join neighbours, and every edge has a squared length :math:`d_{ij}`.

import matplotlib.pyplot as plt
import numpy as np

import sdpdr
from sdpdr import graphs, maximize, methods, plot, psd
from sdpdr.testing import graded

roll, along = sdpdr.datasets.swiss_roll(400, seed=0)
graph = graphs.knn(roll, n_neighbors=6)
pairs = graph.n * (graph.n - 1) // 2
print(f"{graph.n} points, {graph.m} edges; {pairs - graph.m} other distances are not kept")

# %%
# Pull the points apart
# ---------------------
# Many arrangements of the points keep these lengths; the roll itself is one. Think of the edges as
# threads, take the outermost points in your hands, and pull: the roll unrolls. So we look for the
# arrangement in which *the points are as far apart as the threads allow*. By exercise 1 of lesson 1
# that is the one of largest variance, since
# :math:`\sum_i |y_i|^2 = \tfrac1{2n} \sum_{i,j} |y_i - y_j|^2` for centred points. Threads may
# hang loose but never be stretched:
#
# .. math::
#
#    \max\ & \textstyle\sum_i |y_i|^2 \\
#    \text{subject to}\quad & |y_i - y_j|^2 \le d_{ij} \quad\text{for every edge } ij, \\
#    & \textstyle\sum_i y_i = 0 .
#
# In terms of the points this is a hard problem: a convex function is *maximised*, and there may be
# many local maxima. In terms of their Gram matrix each line becomes linear:
#
# - the variance is :math:`\operatorname{tr} K`;
# - a squared length is :math:`K_{ii} + K_{jj} - 2 K_{ij}`;
# - the points are centred if and only if :math:`K \mathbf 1 = 0`.
#
# And a symmetric matrix is the Gram matrix of points if and only if :math:`K \succeq 0`. Only the
# number of dimensions is lost: some K belong to points in the plane, others to points in higher
# dimensions, and nothing here requires few dimensions. The result is **Maximum Variance
# Unfolding**, a semidefinite program [WS2004]_:
#
# .. math::
#
#    \max\ & \operatorname{tr} K \\
#    \text{subject to}\quad & K_{ii} + K_{jj} - 2 K_{ij} \le d_{ij} \quad\text{for every edge } ij,
#    \\ & K \mathbf 1 = 0, \qquad K \succeq 0 .
#
# Three points, by hand
# ---------------------
# Three points, two threads of length one: 0–1–2. *What do you expect?* What is the variance?

path = graphs.path([1.0, 1.0])  # the lengths of the threads
K = psd("K", 3)
model = (
    maximize(K.trace())
    + (K.sum(axis=1) == 0).named("centered")
    + (K.distance2(path.edges) <= path.sqdist).named("isometry")
)
print(model.describe())
solution = sdpdr.solve(model)
print(f"value {solution.value:.6f}")
print("coordinates on a line:", np.sort(solution.embedding(1).ravel()).round(4))

# %%
# A straight line with points at −1, 0 and 1: the variance is 2. (``K.distance2(edges)`` are the
# squared lengths :math:`K_{ii} + K_{jj} - 2 K_{ij}`.) The package can write the program itself:
# ``methods.mvu`` makes the same model from a graph, with the same labels.

print(f"{sdpdr.solve(methods.mvu(path)).value:.6f}")

# %%
# A proof
# -------
# Is 2 really the best, in however many dimensions? We look for a proof as in lesson 3: multiply
# each condition by a number, and add up. The conditions are inequalities now, so the numbers must
# not be negative, or the inequalities would be reversed. Give every edge a weight
# :math:`w_{ij} \ge 0`. For every feasible K,
#
# .. math:: \sum_{ij} w_{ij} (K_{ii} + K_{jj} - 2 K_{ij}) \le \sum_{ij} w_{ij} d_{ij} = d^\top w .
#
# The left side is linear in K, so it is :math:`\langle L, K \rangle` for some matrix L. Which? Edge
# ij adds its weight to the diagonal at i and at j, and its negative to the entries ij and ji. In
# other words, L(w) has on its diagonal the sum of the weights at each point, and :math:`-w_{ij}`
# off the diagonal. This is called the **weighted Laplacian** of the graph. It satisfies
#
# .. math:: v^\top L(w)\, v = \sum_{ij} w_{ij} (v_i - v_j)^2 ,
#
# so it is positive semidefinite, and :math:`L(w) \mathbf 1 = 0`: its smallest eigenvalue is zero.
# Call the second smallest :math:`\lambda_2`. *Suppose that* :math:`\lambda_2 \ge 1`. A vector v
# orthogonal to :math:`\mathbf 1` is made of the other eigenvectors, whose eigenvalues are all at
# least one, so :math:`v^\top L(w) v \ge v^\top v`. Now take the columns of Y for v. They are
# orthogonal to :math:`\mathbf 1`, since the points are centred. The sum of their :math:`v^\top v`
# is the variance, and the sum of their :math:`v^\top L(w) v` is :math:`\langle L(w), Y Y^\top
# \rangle`. Therefore
#
# .. math:: \operatorname{tr} K \le \langle L(w), K \rangle \le d^\top w .
#
# **Every weighting with** :math:`\lambda_2(L(w)) \ge 1` **proves that the variance is at most**
# :math:`d^\top w`. For the path, try equal weights. The Laplacian with weights one has the
# eigenvalues 0, 1 and 3:

L = path.laplacian(np.ones(2)).toarray()
print(L)
print("eigenvalues:", np.linalg.eigvalsh(L).round(6))

# %%
# :math:`\lambda_2 = 1`, and :math:`d^\top w = 1 + 1 = 2`. The line of variance 2 is optimal, in any
# number of dimensions. ``graded`` of lesson 3 agrees. (It takes K and the weights; multipliers of
# :math:`K \mathbf 1 = 0` may be left out.)

line = np.array([-1.0, 0.0, 1.0])
print(graded(model, np.outer(line, line), [1.0, 1.0]))

# %%
#
# The dual: a stiff network
# -------------------------
# The best proof is the one with the least bound. This is the dual program:
#
# .. math:: \min\ d^\top w \quad\text{subject to}\quad \lambda_2(L(w)) \ge 1, \quad w \ge 0 .
#
# It has a meaning of its own [SBXD2006]_. Think of every edge as a *spring* of stiffness
# :math:`w_{ij}`, which pulls its ends together with a force of :math:`w_{ij}` times its length.
# Then :math:`v^\top L(w) v` is twice the energy that it takes to move the points by v along a
# line, and :math:`\lambda_2` says how stiff the network is against its softest movement other than
# moving as a whole. *Make the network stiff with as little stiffness as possible, where a spring on
# a long edge costs more.* These words do not mention unfolding, and yet both programs have the same
# optimum: there is no gap between them whenever the graph is connected. (The reason is Slater's
# condition of lesson 3, on the matrices with :math:`K \mathbf 1 = 0`; exercise 5 has the points.)
#
# Forces
# ------
# Equal optima have a consequence, as in lesson 3: at the optimum both inequalities in
# :math:`\operatorname{tr} K \le \langle L(w), K \rangle \le d^\top w` are equations.
#
# *The second:* :math:`w_{ij} > 0` only where :math:`K_{ii} + K_{jj} - 2 K_{ij} = d_{ij}`. Only
# threads that are fully stretched carry a weight.
#
# *The first:* :math:`\operatorname{tr} K = \langle L(w), K \rangle`. With the matrix J of lesson 1,
# which leaves centred points as they are, :math:`\operatorname{tr} K = \langle J, K \rangle`, so
# this says :math:`\langle L(w) - J, K \rangle = 0`. Both matrices are positive semidefinite: the
# first has the eigenvalue zero for :math:`\mathbf 1`, and :math:`\lambda_2 - 1` or more for all
# others. The fact of lesson 2 says :math:`(L(w) - J) K = 0`. As in its proof, Y may stand in the
# place of :math:`K = YY^\top`; and :math:`JY = Y`. So :math:`L(w) Y = Y`. Read this row by row:
#
# .. math:: \sum_j w_{ij} (y_i - y_j) = y_i \quad\text{for every point } i .
#
# On the right is a push outwards, as strong as the point is far from the centre. On the left is the
# pull of springs towards its neighbours. *The optimal weights are the springs that hold the
# unfolding in balance against its urge to fly apart.* A multiplier is a stiffness: :math:`w_{ij}`
# times the length of the edge is the force in the thread.
#
# A ring
# ------
# Ten points in a ring, each thread of length one. *What do you expect?* And which weights?

ring = graphs.cycle(10)
solution = sdpdr.solve(methods.mvu(ring))
Y, w = solution.embedding(2), solution.dual("isometry")
print("weights:", w.round(5))

pull, push = ({"arrowstyle": "->", "color": f"tab:{c}", "lw": 2} for c in ("blue", "red"))
fig, axis = plt.subplots(figsize=(4.4, 4.4))
for i, j in ring.edges:
    axis.plot(*Y[[i, j]].T, color="tab:gray", linewidth=1.5)
    for start, end in ((i, j), (j, i)):
        axis.annotate("", Y[start] + 0.45 * (Y[end] - Y[start]), Y[start], arrowprops=pull)
for point in Y:
    axis.annotate("", 1.28 * point, point, arrowprops=push)
axis.scatter(*Y.T, color="black", zorder=3)
axis.set(xlim=(-2.3, 2.3), ylim=(-2.3, 2.3), aspect="equal", title="push outwards, pull inwards")
axis.set_axis_off()

# %%
# A regular polygon, and equal weights: optimal weights that are rotated by one edge are optimal
# again; so is the mean over all rotations, in which all weights are equal. Their size follows, as
# :math:`\lambda_2` has to be one. Does the balance hold?

L = ring.laplacian(w).toarray()
print("λ₂ =", np.linalg.eigvalsh(L)[1].round(6))
print("push minus pull, at most:", np.abs(L @ Y - Y).max().round(5))

# %%
# The equation :math:`L(w) Y = Y` says one more thing. The columns of Y are eigenvectors of the
# optimal Laplacian, for its second smallest eigenvalue. So the number of dimensions is *at most the
# multiplicity of* :math:`\lambda_2`. For the ring it is two. Making :math:`\lambda_2` large pushes
# the smallest eigenvalues together, so some multiplicity is usual, but nothing keeps it at two or
# three: few dimensions are observed and never promised.
#
# The roll
# --------
# Now the roll. *What do you expect* of the forces: will all threads carry a load? Where along the
# sheet is the pull strongest?

model = methods.mvu(graph)
solution = sdpdr.solve(model)
Y, w = solution.embedding(2), solution.dual("isometry")
print(f"variance of the roll      {np.sum((roll - roll.mean(axis=0)) ** 2):12.2f}")
print(f"variance of the unfolding {solution.attained:12.2f}")
print(f"proved bound              {solution.bound:12.2f}")

fig, axis = plt.subplots(figsize=(8, 1.8), layout="tight")
axis.scatter(*Y.T, c=along, s=18)
axis.set_aspect("equal")
axis.set_title("unrolled")

# %%
# The colours are in order: the sheet is unrolled, and the variance is more than six times that of
# the roll. How did it get there? Stop the solver after one step, after two, and so on, each time
# with a feasible point and a true bound (as in lesson 6):
#
# .. moving:: film unfolding.json
#
#    A roll that opens to a strip, while value and proved bound close in on each other.
#
# The caption distinguishes two things. *Certified*: no unfolding has more variance. *Lengths in the
# picture*: which share of the squared lengths of all threads is left in two dimensions. Threads
# that hang loose are shorter than they might be, and no certificate says otherwise.
#
# The film shows a smaller roll. The springs of ours:

loaded = w > 1e-6 * w.max()
print(f"{loaded.sum()} of {graph.m} threads carry a load")
# Colours are on a logarithmic scale.
springs = plot.dual_weights(Y, graph.edges, w, title="the load of every thread")

# %%
# The threads drawn thin and grey carry almost no load. Cut those of multiplier zero, and nothing
# changes: the others shape the picture. Walk along the springs of this roll, the stiffest
# first, or point at one.
#
# .. moving:: springs springs.json
#
#    The unfolded roll. Edges are thicker, the larger their multiplier; dotted: almost no load.
#
# Now cut the sheet across. The threads that cross the cut have to hold everything beyond it. So the
# sum of their pulls, along the sheet, is the sum of all pushes on one side, and it is largest in
# the middle.

order = np.argsort(Y[:, 0])
i, j = graph.edges.T
for share in (0.1, 0.3, 0.5, 0.7, 0.9):
    beyond = np.zeros(graph.n, dtype=bool)
    beyond[order[int(share * graph.n) :]] = True
    towards = np.where(beyond[i], 1.0, -1.0) * (beyond[i] != beyond[j])
    hold = np.sum(w * towards * (Y[i, 0] - Y[j, 0]))
    print(f"cut after {share:.0%}: pull {hold:8.1f}, push {Y[beyond, 0].sum():8.1f}")

# %%
# Pull and push agree at every cut. How many dimensions does the unfolding have?

spectrum = solution.spectrum()
print("share of the variance:", (spectrum / spectrum.sum())[:4].round(4))

# %%
# Two: the long side of the sheet has nearly 99 per cent of the variance, the short side the rest.
#
# The proof, in three lines
# -------------------------
# The bound can be checked without the solver. Any weights prove a bound once they are divided by
# their :math:`\lambda_2`: then the new :math:`\lambda_2` is one.

lambda_2 = np.linalg.eigvalsh(graph.laplacian(w).toarray())[1]
print(f"bound by hand {graph.sqdist @ w / lambda_2:.2f}")

# %%
# You have seen why unfolding is a semidefinite program, and what its multipliers mean. The other
# lessons show what may go wrong (5), how answers are proved (6), what makes it fast (7, 8), and
# which other constraints and programs there are (9, 10).

# %%
# Exercises
# ---------
# **Exercise 1.** *15 minutes.* A path of n threads with lengths :math:`l_1, \dots, l_n` becomes a
# straight line. Cut it at thread e: what is the force there? Find w, and check it for lengths of
# your choice.
#
# .. dropdown:: Hint
#
#    The points on one side of the cut are held by one thread.
#
# .. dropdown:: Solution
#
#    The points on one side of the cut are pushed outwards by the sum of their coordinates, and only
#    thread e holds them. Its force is :math:`w_e` times its length: :math:`w_e\, l_e = -\sum_{j \le
#    e} y_j`, with the points counted from the left and y the coordinates on the line. It is
#    positive, since the left part of the line has its centre left of zero.
#
#    And why a line? By lesson 1 the variance of m centred points is :math:`\tfrac1m \sum_{i<j}
#    |y_i - y_j|^2`. No two points can be further apart than the threads between them are long
#    together, and on the line all pairs are as far apart as that at once.
#
#    .. code-block:: python
#
#       lengths = np.array([1.0, 2.0, 0.5, 1.5])
#       points = np.concatenate([[0.0], np.cumsum(lengths)])
#       points -= points.mean()
#       by_hand = -np.cumsum(points)[:-1] / lengths
#       chain = methods.mvu(graphs.path(lengths))
#       assert graded(chain, np.outer(points, points), by_hand).is_optimal
#       assert np.allclose(sdpdr.solve(chain, tol=1e-8).dual("isometry"), by_hand, rtol=1e-3)

# %%
# **Exercise 2.** *10 minutes.* What is the variance of the ring of n threads of length one? Compute
# it from the polygon, and again from equal weights. You will need :math:`\lambda_2` of the ring
# with weights one, which is :math:`4 \sin^2(\pi / n)`.
#
# .. dropdown:: Hint
#
#    The corners lie on a circle. For the weights, use that :math:`\lambda_2` is linear in them.
#
# .. dropdown:: Solution
#
#    The corners of a regular polygon with sides of length one lie on a circle of radius
#    :math:`1 / (2 \sin(\pi/n))`, so the variance is :math:`n / (4 \sin^2(\pi/n))`. Equal weights
#    :math:`w = 1 / (4 \sin^2(\pi/n))` have :math:`\lambda_2 = 1`, and
#    :math:`d^\top w = n / (4 \sin^2(\pi/n))`. Point and proof agree, so both are optimal.
#
#    .. code-block:: python
#
#       for n in (3, 5, 12):
#           by_hand = n / (4 * np.sin(np.pi / n) ** 2)
#           plain = graphs.cycle(n).laplacian(np.ones(n)).toarray()
#           assert np.isclose(np.linalg.eigvalsh(plain)[1], 4 * np.sin(np.pi / n) ** 2)
#           turns = 2 * np.pi * np.arange(n) / n
#           polygon = np.column_stack([np.cos(turns), np.sin(turns)]) / (2 * np.sin(np.pi / n))
#           equal = np.full(n, 1 / (4 * np.sin(np.pi / n) ** 2))
#           grade = graded(methods.mvu(graphs.cycle(n)), polygon @ polygon.T, equal)
#           assert grade.is_optimal and np.isclose(grade.value, by_hand)

# %%
# **Exercise 3.** *10 minutes.* Lengthen one thread of a path a little. How fast does the variance
# grow? Predict it from the multiplier, then measure.
#
# .. dropdown:: Hint
#
#    The bound :math:`d^\top w` is linear in the squared lengths.
#
# .. dropdown:: Solution
#
#    Multipliers are rates (lesson 3): the bound :math:`d^\top w` changes by :math:`w_e` for every
#    unit of *squared* length, and the optimum follows it to first order.
#
#    .. code-block:: python
#
#       def stretched(by):
#           sqdist = np.array([1.0 + by, 4.0, 2.0])
#           chain = graphs.from_edges(4, [(0, 1), (1, 2), (2, 3)], sqdist)
#           return sdpdr.solve(methods.mvu(chain), tol=1e-8)
#
#       measured = (stretched(0.01).value - stretched(-0.01).value) / 0.02
#       assert np.isclose(measured, stretched(0.0).dual("isometry")[0], rtol=1e-2)

# %%
# **Exercise 4.** *15 minutes.* Four threads of length one are tied together at one end. What is the
# largest variance, and what are the arrangements that have it? What is the multiplicity of
# :math:`\lambda_2`?
#
# .. dropdown:: Hint
#
#    Guess: the knot lies at the centre. Which weights does the symmetry suggest?
#
# .. dropdown:: Solution
#
#    Place the knot at the centre and the ends on the sphere around it, such that they add up to
#    zero: the variance is 4. A cross in the plane does it, a tetrahedron does it, and so do all
#    arrangements between. With all weights one, L has the eigenvalues 0, 1, 1, 1, 5, so
#    :math:`\lambda_2 = 1` and the bound is 4. The multiplicity is three, which allows the
#    tetrahedron. So the answer is not unique, and the graph does not determine its number of
#    dimensions.
#
#    .. code-block:: python
#
#       knot = graphs.from_edges(5, [(0, 1), (0, 2), (0, 3), (0, 4)], np.ones(4))
#       tied = methods.mvu(knot)
#       ones = np.linalg.eigvalsh(knot.laplacian(np.ones(4)).toarray())
#       assert np.allclose(ones, [0, 1, 1, 1, 5])
#       cross = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [-1, 0, 0], [0, -1, 0]])
#       corners = np.array([[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]]) / np.sqrt(3)
#       for points in (cross, np.vstack([np.zeros(3), corners])):
#           assert np.allclose(points.sum(axis=0), 0) and np.isclose(np.sum(points**2), 4)
#           assert np.allclose(np.sum(points[1:] ** 2, axis=1), 1)
#           assert graded(tied, points @ points.T, np.ones(4)).is_optimal

# %%
# **Exercise 5.** *15 minutes.* No feasible K is positive definite, since :math:`K \mathbf 1 = 0`.
# But let the columns of V be an orthonormal basis of the vectors orthogonal to :math:`\mathbf 1`.
# Then the feasible K are :math:`V M V^\top` with M of order :math:`n - 1`, without an equation of
# this kind for M. Slater's condition requires a positive definite M, that is a K of rank :math:`n -
# 1`, with all threads loose. Find one. And find weights with :math:`\lambda_2(L(w)) > 1` for any
# connected graph.
#
# .. dropdown:: Hint
#
#    Try a multiple of J. For the weights, use the formula for :math:`v^\top L(w) v`.
#
# .. dropdown:: Solution
#
#    A small multiple of :math:`J = I - \mathbf 1 \mathbf 1^\top / n`: all squared distances are
#    twice the multiple. For the weights, :math:`v^\top L(\mathbf 1) v = 0` means that v is equal
#    at both ends of every edge, so it is constant if the graph is connected. Hence
#    :math:`\lambda_2(L(\mathbf 1)) > 0`, and a large multiple of :math:`\mathbf 1` will do. So both
#    programs, in M and in w, satisfy Slater's condition: both have optima, and these are equal.
#
#    .. code-block:: python
#
#       J = np.eye(graph.n) - 1.0 / graph.n
#       inside = 0.49 * graph.sqdist.min() * J
#       here, there = graph.edges.T
#       squared = inside[here, here] + inside[there, there] - 2 * inside[here, there]
#       assert np.all(squared < graph.sqdist)
#       assert np.linalg.eigvalsh(inside)[1] > 0
#       assert np.linalg.eigvalsh(graph.laplacian().toarray())[1] > 0

# %%
# References
# ----------
# The program is due to Weinberger and Saul [WS2004]_ [WS2006]_; it is treated in the Vasiloglou
# thesis, section 3.1, the Tong thesis, section 2.2.4, and in the notes *stat946f10* (see
# :doc:`/references`). They require *equal* lengths; :doc:`/methods/mvu` says what that changes,
# where printed formulas err, and has more solved examples. The dual and its springs are treated in
# [SBXD2006]_, rank and graph in [GHW2008]_.
