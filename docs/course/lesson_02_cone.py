r"""
Lesson 2: A cone, drawn
=======================

Which matrices consist of inner products? They form a round cone, cut out by infinitely many planes.

**Goals.** After this lesson you can

- define a positive semidefinite matrix in three ways, and prove that they are equivalent;
- draw the set of these matrices where it can be drawn, and find the matrices of low rank in it;
- prove that the inner product of two of them is never negative, and say when it is zero.

**You need** lesson 1: Gram matrices.
"""

# %%
# Three definitions
# -----------------
# Let K be a symmetric matrix of order n. The following say the same, and we write
# :math:`K \succeq 0` for any of them:
#
# 1. :math:`v^\top K v \ge 0` for every vector v;
# 2. no eigenvalue of K is negative;
# 3. :math:`K = Y Y^\top` for some matrix Y: K is the Gram matrix of points.
#
# From 1 to 2: put an eigenvector of length one in the place of v, and get its eigenvalue. From 2 to
# 3: scale each eigenvector by the square root of its eigenvalue, as in lesson 1. From 3 to 1:
# :math:`v^\top Y Y^\top v = |Y^\top v|^2 \ge 0`. Each has its use. The first will show the shape of
# the set of these matrices, the second is used in computations, and the third gives points.
#
# If all eigenvalues are positive, K is called **positive definite**, :math:`K \succ 0`.
#
# Matrices are vectors
# --------------------
# Symmetric matrices can be added and multiplied by numbers, so they are a vector space, of
# dimension :math:`n (n + 1) / 2`. Its inner product is the sum of products of entries,
#
# .. math:: \langle A, K \rangle = \sum_{i,j} A_{ij} K_{ij} = \operatorname{tr}(A K) .
#
# A linear function of K is :math:`\langle A, K \rangle` for some A. With :math:`A = I` it is the
# trace. With :math:`A = v v^\top`, which has the entries :math:`v_i v_j`, it is
# :math:`\sum_{i,j} v_i v_j K_{ij} = v^\top K v`. So the first definition reads
#
# .. math:: \langle v v^\top, K \rangle \ge 0 \quad\text{for every } v .
#
# Each v gives *one linear inequality*. The matrices that satisfy it are a **half-space**: one side
# of a plane through the zero matrix. The set of all positive semidefinite matrices is the
# intersection of infinitely many half-spaces. Half-spaces have the following three properties, and
# intersections inherit them:
#
# - it is **convex**: with two matrices it contains the segment between them;
# - it is a **cone**: with K it contains tK for every :math:`t \ge 0`;
# - it is **closed**: it contains the limits of its sequences.
#
# Order two, where it can be seen
# -------------------------------
# A symmetric matrix of order two has three entries, so it is a point in space:
#
# .. math:: K = \begin{pmatrix} x & y \\ y & z \end{pmatrix} .
#
# Its eigenvalues have the sum :math:`x + z` and the product :math:`xz - y^2`. Neither is negative
# if and only if
#
# .. math:: x \ge 0, \quad z \ge 0, \quad x z \ge y^2 .
#
# *What do you expect?* Where in this body are the matrices of rank one? Where is the identity? Does
# the body have corners, or flat sides?

import matplotlib.pyplot as plt
import numpy as np

turn, reach = np.meshgrid(np.linspace(0, np.pi, 61), np.linspace(0, 1, 13))
x, y, z = reach * np.cos(turn) ** 2, reach * np.cos(turn) * np.sin(turn), reach * np.sin(turn) ** 2

fig = plt.figure(figsize=(5.5, 5))
axis = fig.add_subplot(projection="3d")
axis.plot_surface(x, y, z, alpha=0.35, color="tab:blue", linewidth=0)
axis.plot(x[-1], y[-1], z[-1], color="tab:blue")
axis.plot([0, 0.5], [0, 0], [0, 0.5], "--", color="gray")
axis.scatter([0.5], [0], [0.5], color="tab:orange", s=40)
axis.text(0.5, 0.05, 0.52, "I / 2")
axis.set(xlabel="x", ylabel="y", zlabel="z", title="positive semidefinite matrices of order two")
axis.view_init(18, -52)

# %%
# It is a cone with an ellipse for its base, the orange point in the middle of it; with y
# stretched by :math:`\sqrt 2`, which counts it twice as :math:`\langle K, K \rangle = x^2 + 2 y^2 +
# z^2` does, the base is a circle. The surface drawn consists of the matrices :math:`v v^\top`, and
# so of *all matrices of rank one*: they have determinant zero, and :math:`xz = y^2` is the surface.
# Inside, both eigenvalues are positive. At the tip is the zero matrix, the only one of rank zero.
#
# So the rank shows in the position: **the boundary consists of the singular matrices**. This holds
# for every order. Eigenvalues change continuously, so a positive definite matrix can be changed a
# little in every direction and stays positive definite. A singular one has a :math:`v \ne 0` with
# :math:`v^\top K v = 0`, and subtracting a bit of :math:`v v^\top` makes that negative.
#
# Here is the same cone with a lid: only the matrices of trace one at most. A linear function
# :math:`\langle C, K \rangle` grows along the line, and the dot is the matrix at which it is
# largest. *What do you expect* of its rank? Rotate the cone, and move the direction. (A *bound* is
# a number that the function exceeds at no matrix of the cone. Lesson 3 proves one.)
#
# .. moving:: shape shapes.json 0
#
#    A cone that stands on its tip, closed by a disc. The matrix at which a linear function is
#    largest lies on the rim of the disc, where the rank is one, or at the tip, where it is zero.
#
# A slice
# -------
# Cut the cone with the plane of trace one, :math:`x + z = 1`. In the coordinates
# :math:`(x - z)` and :math:`2y` the condition :math:`4 x z \ge 4 y^2` becomes
# :math:`(x + z)^2 - (x - z)^2 \ge (2y)^2`, a disc of radius one:
#
# .. math:: (x - z)^2 + (2y)^2 \le 1 .
#
# Now take a few vectors v and draw only their half-planes.

fig, axes = plt.subplots(1, 3, figsize=(9, 3.1), sharex=True, sharey=True)
grid = np.linspace(-1.6, 1.6, 321)
across, up = np.meshgrid(grid, grid)
circle = np.linspace(0, 2 * np.pi, 200)
for axis, many in zip(axes, (3, 5, 12), strict=True):
    allowed = np.ones_like(across, dtype=bool)
    for angle in np.pi * np.arange(many) / many:
        c, s = np.cos(angle), np.sin(angle)
        # vᵀKv with v = (c, s), where x + z = 1
        allowed &= c * c * (1 + across) / 2 + c * s * up + s * s * (1 - across) / 2 >= 0
    axis.contourf(across, up, allowed, levels=[0.5, 1.5], colors=["tab:blue"], alpha=0.3)
    axis.plot(np.cos(circle), np.sin(circle), color="black", linewidth=1)
    axis.set(title=f"{many} vectors v", xlabel="x − z", aspect="equal")
axes[0].set_ylabel("2y")
fig.tight_layout()

# %%
# Each half-plane touches the disc in one point. Finitely many of them make a polygon, and no finite
# number of them makes the disc. That is the difference between *linear* programming, whose sets are
# polyhedra with corners and flat sides, and *semidefinite* programming, whose sets are slices of
# this cone. Both maximise a linear function.
#
# Order three, a slice of it
# --------------------------
# Matrices of order three have six entries, too many to draw. Put ones on the diagonal, and three
# remain: a, b, c. By lesson 1, such a matrix holds the inner products of three vectors of length
# one. It is positive semidefinite if and only if :math:`|a|, |b|, |c| \le 1` and the determinant
# :math:`1 + 2abc - a^2 - b^2 - c^2` is not negative (exercise 2).
#
# *What do you expect* this body to look like? Which matrices are its corners, if it has any?

side = np.linspace(-1, 1, 81)
a, b = np.meshgrid(side, side)
spread = np.sqrt((1 - a**2) * (1 - b**2))

fig = plt.figure(figsize=(5.5, 5))
axis = fig.add_subplot(projection="3d")
for c in (a * b + spread, a * b - spread):
    axis.plot_surface(a, b, c, cmap="viridis", alpha=0.75, linewidth=0, rcount=40, ccount=40)
signs = np.array([[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]])
axis.scatter(*signs.T, color="black", s=30)
for one in range(4):
    for other in range(one):
        axis.plot(*signs[[one, other]].T, color="black", linewidth=1)
axis.set(xlabel="a", ylabel="b", zlabel="c", title="unit diagonal, order three")
axis.set(xticks=[-1, 0, 1], yticks=[-1, 0, 1], zticks=[-1, 0, 1])
axis.view_init(16, -60)

# %%
# An inflated tetrahedron: it has four corners and six edges, but its sides bulge.
# At the corners all three vectors lie on one line, so a, b and c are 1 or −1, and the rank is one.
# On the rest of the surface the rank is two: three vectors in a plane. In the middle is the
# identity, three vectors at right angles.
#
# .. moving:: shape shapes.json 1
#
#    The inflated tetrahedron, which can be rotated, with the matrix at which a linear function is
#    largest: often a corner, of rank one, else a point of the bulging sides, of rank two.
#
# Keep this picture in mind. A linear function on such a body has its maximum at a corner, or else
# on a bulging side (and only a few along a whole edge), hence at a matrix of low rank. *Low rank is
# not required; the shape of the cone makes it likely.*
#
# Two matrices at a right angle
# -----------------------------
# One more fact. All proofs and all multipliers of this course rest on it.
#
# .. admonition:: Fact
#
#    If :math:`K \succeq 0` and :math:`S \succeq 0`, then :math:`\langle S, K \rangle \ge 0`. It is
#    zero if and only if :math:`S K = 0`.
#
# *Proof.* Write :math:`S = Z Z^\top` and :math:`K = Y Y^\top`. Then
#
# .. math::
#
#    \langle S, K \rangle &= \operatorname{tr}(Z Z^\top Y Y^\top) \\
#    &= \operatorname{tr}(Z^\top Y Y^\top Z) \\
#    &= \sum_{i,j} (Z^\top Y)_{ij}^2 \ge 0 ,
#
# where the first factor in the trace of a product may be moved to the end. The sum of squares is
# zero if and only if :math:`Z^\top Y = 0`, and then :math:`S K = Z (Z^\top Y) Y^\top = 0`.
# Conversely :math:`S K = 0` has trace zero. :math:`\blacksquare`
#
# If two *numbers* :math:`s, k \ge 0` have :math:`sk = 0`, one is zero. If two *matrices* have
# :math:`SK = 0`, each vanishes where the other does not: every column of K is in the kernel of S.
# So if S has rank :math:`n - 2`, then K has rank two at most.

rng = np.random.default_rng(0)
factors = rng.standard_normal((2, 1000, 4, 2))
S, K = factors @ factors.swapaxes(2, 3)
products = np.einsum("kij,kij->k", S, K)
print(f"the least of {len(products)} inner products of random matrices: {products.min():.4f}")

# %%
# Exercises
# ---------
# **Exercise 1.** *10 minutes.* Let :math:`K \succeq 0`. Show that :math:`K_{ij}^2 \le K_{ii}
# K_{jj}`. What follows if a diagonal entry is zero? (Lesson 5 will need it.)
#
# .. dropdown:: Hint
#
#    Choose a vector v with two entries that are not zero.
#
# .. dropdown:: Solution
#
#    Choose v with zeros except at i and j. Then :math:`v^\top K v` is the quadratic
#    form of the matrix of order two that K has there, so that is positive semidefinite, and its
#    determinant :math:`K_{ii} K_{jj} - K_{ij}^2` is not negative. If :math:`K_{ii} = 0`, then the
#    whole row and column i is zero.
#
#    .. code-block:: python
#
#       diagonals = np.einsum("kii->ki", K)
#       assert np.all(K**2 <= diagonals[:, :, None] * diagonals[:, None, :] + 1e-9)
#       assert np.linalg.eigvalsh(np.array([[0.0, 0.001], [0.001, 1.0]])).min() < 0

# %%
# **Exercise 2.** *15 minutes.* Show that with a unit diagonal, for fixed :math:`a = K_{12}` and
# :math:`b = K_{13}` within :math:`\pm 1`, the entry :math:`c = K_{23}` may be anything between
# :math:`ab - ((1 - a^2)(1 - b^2))^{1/2}` and :math:`ab + ((1 - a^2)(1 - b^2))^{1/2}`, and that the
# determinant is zero at both ends.
#
# .. dropdown:: Hint
#
#    Choose coordinates: the first unit vector is an axis of space.
#
# .. dropdown:: Solution
#
#    Let the first unit vector be the axis of space. The second is
#    :math:`a` along the axis plus a piece of length :math:`(1 - a^2)^{1/2}` across it, the third is
#    :math:`b` along and :math:`(1 - b^2)^{1/2}` across. Their inner product c is :math:`ab` plus
#    the product of the two lengths times the cosine of the angle between the pieces, which is any
#    number from −1 to 1. The ends are the zeros of the determinant, a quadratic function of c.
#
#    .. code-block:: python
#
#       def entries(a, b, c):
#           return np.array([[1, a, b], [a, 1, c], [b, c, 1]])
#
#       for one_two, one_three in rng.uniform(-1, 1, size=(50, 2)):
#           middle = one_two * one_three
#           half = np.sqrt((1 - one_two**2) * (1 - one_three**2))
#           for end in (middle - half, middle + half):
#               assert abs(np.linalg.det(entries(one_two, one_three, end))) < 1e-12
#               assert np.linalg.eigvalsh(entries(one_two, one_three, end)).min() > -1e-7
#           beyond = entries(one_two, one_three, middle + half + 0.01)
#           assert np.linalg.eigvalsh(beyond).min() < 0

# %%
# **Exercise 3.** *15 minutes.* The entries a, b, c are drawn at random between −1 and 1. How
# probable is it that they are the correlations of three quantities? Compute, and then count.
#
# .. dropdown:: Hint
#
#    The volume is an integral of the length of the interval in exercise 2.
#
# .. dropdown:: Solution
#
#    By exercise 2 the volume of the inflated tetrahedron is
#    :math:`\int \int 2 (1 - a^2)^{1/2} (1 - b^2)^{1/2} \, da\, db = 2\, (\pi / 2)^2 = \pi^2 / 2`,
#    since each integral is the area of half a disc. The cube has volume 8, so the answer is
#    :math:`\pi^2 / 16`, about 0.62.
#
#    .. code-block:: python
#
#       drawn = rng.uniform(-1, 1, size=(3, 200_000))
#       share = np.mean(1 + 2 * drawn.prod(axis=0) - np.sum(drawn**2, axis=0) >= 0)
#       assert abs(share - np.pi**2 / 16) < 0.01

# %%
# **Exercise 4.** *10 minutes.* Show that a matrix of rank one is no mixture: if :math:`v v^\top = A
# + B` with A and B positive semidefinite, both are multiples of :math:`v v^\top`. What does that
# mean in the first picture? And are sums and products of positive semidefinite matrices positive
# semidefinite?
#
# .. dropdown:: Hint
#
#    Apply :math:`A + B` to a vector orthogonal to v.
#
# .. dropdown:: Solution
#
#    For u orthogonal to v, :math:`0 = u^\top (A + B) u` is a sum of two numbers that are not
#    negative, so :math:`u^\top A u = 0`, hence :math:`A u = 0` by the fact above (with
#    :math:`S = u u^\top`). A vanishes on everything orthogonal to v, so it is a multiple of
#    :math:`v v^\top`. In the picture: the rays of the boundary are the only straight lines in it.
#    Sums are positive semidefinite. Products need not even be symmetric; the fact above is about
#    their trace, and that is not negative.
#
#    .. code-block:: python
#
#       A, B = np.array([[1.0, 1.0], [1.0, 1.0]]), np.array([[1.0, 0.0], [0.0, 0.0]])
#       assert not np.allclose(A @ B, (A @ B).T)
#       assert np.trace(A @ B) >= 0
#       assert np.linalg.eigvalsh(S + K).min() > -1e-9

# %%
# References
# ----------
# The cone and its use are introduced in the Vasiloglou thesis, section 2.2.1 (see
# :doc:`/references`), and in [BV2004]_, sections 2.2.5 and 2.6, where the fact is that the cone is
# its own dual. How low the rank at an optimum must be, and how often, is [Pat1998]_.
