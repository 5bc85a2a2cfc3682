r"""
Lesson 1: From distances to Gram matrices
=========================================

A table of distances is a matrix in disguise, and its eigenvectors draw the map.

**Goals.** After this lesson you can

- turn points into a matrix of inner products, and that into a table of distances;
- go back, from distances to points, with one formula and one eigendecomposition;
- decide whether a table of numbers can be a table of distances at all.

**You need** matrices, eigenvalues and eigenvectors.
"""

# %%
# A map without a map
# -------------------
# Somebody has measured the distances between five towns along straight lines, in kilometres.

import matplotlib.pyplot as plt
import numpy as np

import sdpdr

towns = ["Ash", "Birch", "Cedar", "Elm", "Fir"]
positions = np.array([[0.0, 0.0], [30.0, 5.0], [42.0, 31.0], [12.0, 40.0], [-14.0, 22.0]])
distance = np.linalg.norm(positions[:, None] - positions[None, :], axis=2)

print("       " + "".join(f"{name:>8}" for name in towns))
for name, row in zip(towns, distance, strict=True):
    print(f"{name:<7}" + "".join(f"{d:8.1f}" for d in row))

# %%
# Forget the positions, and keep the table. Can the map be drawn from the table alone?
#
# *What do you expect?* Ten numbers are given and ten are wanted, two for each town. Yet the answer
# cannot be unique: a map may be shifted, rotated and reflected, and the table stays the same.
#
# Inner products
# --------------
# Let the rows of a matrix Y be the points :math:`y_1, \dots, y_n`. Their **Gram matrix** is
#
# .. math:: K = Y Y^\top, \qquad K_{ij} = y_i^\top y_j .
#
# On its diagonal are squared distances from the origin, :math:`K_{ii} = |y_i|^2`. Off the diagonal
# are angles, since :math:`y_i^\top y_j = |y_i| |y_j| \cos\alpha`. The Gram matrix of our towns:

K = positions @ positions.T
print(K.round(0))

# %%
# (Ash is at the origin, so its products are zero.)
#
# Rotate the map by an orthogonal matrix Q, so that Y becomes YQ. The Gram matrix becomes
# :math:`Y Q Q^\top Y^\top = Y Y^\top`: it does not change. That is why it is a better unknown than
# Y: all rotated and reflected maps have *one* Gram matrix.

angle = 0.7
Q = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
rotated = positions @ Q
print("largest change of an inner product:", np.abs(rotated @ rotated.T - K).max().round(12))

# %%
# From inner products to distances
# --------------------------------
# Multiply out a squared distance:
#
# .. math:: |y_i - y_j|^2 = |y_i|^2 - 2\, y_i^\top y_j + |y_j|^2 = K_{ii} + K_{jj} - 2 K_{ij} .
#
# This is the most important line of the course. **Squared distances are linear in K.** Lengths are
# not, and neither are squared distances linear in Y. We call the matrix of squared distances D.

k = np.diag(K)
D = k[:, None] + k[None, :] - 2.0 * K
print("largest difference from the table, squared:", np.abs(D - distance**2).max().round(9))

# %%
# With :math:`\mathbf 1` for the vector of ones and k for the diagonal of K, the same line reads
#
# .. math:: D = k \mathbf 1^\top + \mathbf 1 k^\top - 2 K .
#
# And back: put the origin in the middle
# --------------------------------------
# Shifting the map changes K, but not D. So D determines K only when we say where the origin is. We
# put it at the centre of mass: :math:`\sum_i y_i = Y^\top \mathbf 1 = 0`. In terms of K this
# says :math:`K \mathbf 1 = Y\,(Y^\top \mathbf 1) = 0`: *every row of K sums to zero*. (Conversely,
# if it does, then :math:`|Y^\top \mathbf 1|^2 = \mathbf 1^\top K \mathbf 1 = 0`, so the points are
# centred.) Such a K is called **centred**, too. The matrix that subtracts from each column its mean
# is
#
# .. math:: J = I - \tfrac1n \mathbf 1 \mathbf 1^\top, \qquad J \mathbf 1 = 0 .
#
# Now multiply D by J from both sides. The first two terms contain a :math:`\mathbf 1` that meets a
# J, so they vanish:
#
# .. math:: J D J = -2\, J K J, \qquad\text{that is}\qquad -\tfrac12 J D J = (JY)(JY)^\top ,
#
# the Gram matrix of the centred points. That is the formula that was promised.

n = len(towns)
J = np.eye(n) - np.ones((n, n)) / n
centred = -0.5 * J @ D @ J
print("row sums:", np.abs(centred.sum(axis=1)).max().round(9))

# %%
# From the Gram matrix to points
# ------------------------------
# We have K and want some Y with :math:`Y Y^\top = K`. Every symmetric matrix has an orthonormal
# basis of eigenvectors, :math:`K = \sum_l \lambda_l u_l u_l^\top`. If no eigenvalue is negative, we
# may take square roots: the columns :math:`\sqrt{\lambda_l}\, u_l` make a Y.
#
# *What do you expect* of the five eigenvalues of our K? How many of them are not zero?

eigenvalues, vectors = np.linalg.eigh(centred)
print(eigenvalues[::-1].round(6) + 0.0)  # adding zero prints −0 as 0

# %%
# Two, up to rounding. K is :math:`YY^\top` with two columns in Y, so its rank is at most two; **the
# number of positive eigenvalues is the dimension of the map**. The table contains it, although it
# lists distances only. We keep two columns and draw.

leading = [-1, -2]  # eigh sorts eigenvalues from small to large
Y = vectors[:, leading] * np.sqrt(eigenvalues[leading])

fig, axes = plt.subplots(1, 2, figsize=(8, 3.4))
for axis, points, title in zip(axes, (positions, Y), ("the towns", "from the table"), strict=True):
    axis.scatter(*points.T, s=60)
    for name, point in zip(towns, points, strict=True):
        axis.annotate(name, point, xytext=(5, 5), textcoords="offset points")
    axis.set_title(title)
    axis.set_aspect("equal", adjustable="datalim")
fig.tight_layout()

again = np.linalg.norm(Y[:, None] - Y[None, :], axis=2)
print("largest error of a distance:", np.abs(again - distance).max().round(9))

# %%
# The two maps differ by a shift and a rotation (perhaps by a reflection), as expected. This way
# from distances to points is called *classical multidimensional scaling* [Torgerson1952]_.
#
# Which tables are tables of distances?
# -------------------------------------
# The square roots needed eigenvalues that are not negative. A symmetric matrix with
# :math:`\lambda_l \ge 0` for all l is called **positive semidefinite**, written
# :math:`K \succeq 0`. So we have proved half of the following, and the other half is short.
#
# .. admonition:: Theorem
#
#    Let D be a symmetric matrix with a zero diagonal. There are points whose squared distances are
#    D if and only if :math:`-\tfrac12 J D J \succeq 0`. They fit into r dimensions, but not into
#    fewer, where r is the rank of that matrix.
#
# *Proof.* If there are points, centre them; then :math:`-\tfrac12 J D J = Y Y^\top`, and
# :math:`v^\top Y Y^\top v = |Y^\top v|^2 \ge 0` for every v. With an eigenvector in the place of v
# this is its eigenvalue. Conversely, let :math:`K = -\tfrac12 J D J \succeq 0`, take Y from its
# eigenvectors, and compute its squared distances. Write :math:`J = I - P`, with
# :math:`P = \mathbf 1\mathbf 1^\top / n`. In
#
# .. math:: -2 K = J D J = D - P D - D P + P D P
#
# the last three terms have the form :math:`a_j + a_i + c`: row j of PD, column i of DP, and a
# constant. In :math:`K_{ii} + K_{jj} - 2 K_{ij}` they cancel, because every index appears once with
# each sign, and what remains is :math:`D_{ij} - \tfrac12 D_{ii} - \tfrac12 D_{jj} = D_{ij}`. The
# rank of Y is that of K, which is the least number of columns it can have. :math:`\blacksquare`
#
# Does the triangle inequality suffice? Take a centre and three outer points. Each outer point has
# distance 1 from the centre, and any two of them have distance 2, as if the only roads led through
# the centre. No triangle inequality is violated.

star = np.array([[0, 1, 1, 1], [1, 0, 2, 2], [1, 2, 0, 2], [1, 2, 2, 0]], dtype=float)


def gram(distances: np.ndarray) -> np.ndarray:
    """The matrix that is the centred Gram matrix, if there are such points."""
    size = len(distances)
    centring = np.eye(size) - np.ones((size, size)) / size
    return -0.5 * centring @ distances**2 @ centring


print("eigenvalues:", np.linalg.eigvalsh(gram(star)).round(4))

# %%
# One of them is negative: there are no such points, in any number of dimensions. (This can be seen
# directly, too. The centre would be the midpoint of each of the three pairs, so all three outer
# points would be opposite to each other.)
#
# How much is spread out?
# -----------------------
# The *variance* of centred points is :math:`\sum_i |y_i|^2`, the sum of the diagonal of K, its
# **trace**. It is the sum of the eigenvalues as well, so each of them is the share of one
# direction.

print(f"sum of squares   {np.sum(Y**2):.3f}")
print(f"trace            {np.trace(centred):.3f}")
print(f"all eigenvalues  {eigenvalues.sum():.3f}")

# %%
# Where this leads
# ----------------
# Below is a sheet of paper, rolled up: points in space, coloured along the sheet. We compute all
# distances and draw the map of the two largest eigenvalues. *What do you expect?*

roll, along = sdpdr.datasets.swiss_roll(300, seed=0)
spread, directions = np.linalg.eigh(gram(np.linalg.norm(roll[:, None] - roll[None, :], axis=2)))
flat = directions[:, leading] * np.sqrt(spread[leading])

fig, axis = plt.subplots(figsize=(5, 4))
axis.scatter(*flat.T, c=along, s=14)
axis.set_aspect("equal")
axis.set_title("all distances kept, as far as two dimensions can")
fig.tight_layout()

# %%
# The roll stays rolled up. We required that *all* distances be kept, also those across the layers,
# which say nothing about the sheet. To unroll it we have to drop most distances and keep those
# between neighbours. Then most entries of D are unknown, and so is K: it becomes the unknown of an
# optimisation problem. What do we know about it? It is centred, and some
# :math:`K_{ii} + K_{jj} - 2 K_{ij}` are given; both conditions are linear. And it is positive
# semidefinite, which is not linear. The next lesson is about this condition.

# %%
# Exercises
# ---------
# **Exercise 1.** *5 minutes.* Show that the variance of centred points is
# :math:`\operatorname{tr} K = \tfrac1{2n} \sum_{i,j} D_{ij}`: points far from the centre are points
# far from each other.
#
# .. dropdown:: Hint
#
#    Sum the formula for :math:`D_{ij}` over all i and j.
#
# .. dropdown:: Solution
#
#    Sum :math:`D_{ij} = K_{ii} + K_{jj} - 2 K_{ij}` over all i and j. Each of the first two terms
#    gives :math:`n \operatorname{tr} K`, and the last gives
#    :math:`-2\, \mathbf 1^\top K \mathbf 1 = 0`.
#
#    .. code-block:: python
#
#       assert np.isclose(np.trace(centred), D.sum() / (2 * n))

# %%
# **Exercise 2.** *10 minutes.* Put the origin at the first point instead of the centre. Which K
# belongs to D then? What do its eigenvalues show?
#
# .. dropdown:: Hint
#
#    With :math:`y_1 = 0` the first row of D is the diagonal of K.
#
# .. dropdown:: Solution
#
#    With :math:`y_1 = 0` the squared distances from the first point are the diagonal,
#    :math:`K_{ii} = D_{i1}`, and :math:`K_{ij} = \tfrac12 (D_{i1} + D_{j1} - D_{ij})`. The points
#    are the same up to a shift, so this K is positive semidefinite if and only if the centred one
#    is, and has the same rank. Its trace is larger: the centre is the point with the least sum of
#    squared distances.
#
#    .. code-block:: python
#
#       first = 0.5 * (D[:, :1] + D[:1, :] - D)
#       assert np.linalg.eigvalsh(first).min() > -1e-9
#       assert np.linalg.matrix_rank(first) == np.linalg.matrix_rank(centred) == 2
#       assert np.trace(first) > np.trace(centred)

# %%
# **Exercise 3.** *10 minutes.* Four towns lie on a ring road, each one kilometre from the next;
# opposite ones are two kilometres apart along the road. Are there points with these distances? And
# are there points whose *squared* distances are these numbers?
#
# .. dropdown:: Hint
#
#    In the ring every outer pair has two midpoints. Use the function ``gram``.
#
# .. dropdown:: Solution
#
#    No: opposite towns are two apart, so both of the others are midpoints of the same pair, and
#    coincide. The second question asks for neighbours at distance 1 and opposite points at distance
#    :math:`\sqrt2`, and that is a square.
#
#    .. code-block:: python
#
#       ring = np.array([[0, 1, 2, 1], [1, 0, 1, 2], [2, 1, 0, 1], [1, 2, 1, 0]], dtype=float)
#       assert np.linalg.eigvalsh(gram(ring)).min() < -0.9
#       square = gram(np.sqrt(ring))
#       assert np.linalg.eigvalsh(square).min() > -1e-12
#       assert np.linalg.matrix_rank(square) == 2

# %%
# **Exercise 4.** *10 minutes.* How many eigenvalues of ``gram`` are positive for all distances
# between the points of the roll, and for the distances rounded to whole numbers? What does that
# mean for measured tables?
#
# .. dropdown:: Hint
#
#    Compare the eigenvalues of both matrices, the large and the small ones.
#
# .. dropdown:: Solution
#
#    Three, since the points are in space. Rounding changes the table: nearly all eigenvalues become
#    different from zero, many of them negative, and no points have exactly these distances in any
#    dimension. But the three large eigenvalues hardly move. An error of D moves no eigenvalue of K
#    by more than half the largest eigenvalue of the error, in absolute value (a theorem of Weyl's,
#    taken on trust here), and rounding makes small errors.
#
#    .. code-block:: python
#
#       exact = np.linalg.norm(roll[:, None] - roll[None, :], axis=2)
#       before, after = np.linalg.eigvalsh(gram(exact)), np.linalg.eigvalsh(gram(exact.round()))
#       assert np.sum(before > 1e-6) == 3
#       assert after.min() < -1.0
#       moved = np.abs(after - before).max()
#       assert moved <= 0.5 * np.abs(np.linalg.eigvalsh(exact.round() ** 2 - exact**2)).max()
#       assert moved < 0.05 * before[-3]

# %%
# References
# ----------
# Classical scaling is [Torgerson1952]_; it is treated in the Tong thesis, section 2.1.4, and as
# kernel principal component analysis in section 2.1.5 (see :doc:`/references`). The theorem is due
# to Schoenberg (1935) and to Young and Householder (1938). [Dat2005]_ is a whole book about it.
