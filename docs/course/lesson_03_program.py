r"""
Lesson 3: A first semidefinite program
======================================

The furthest point of a slice of the cone, found by hand, proved by hand, and left to a solver.

**Goals.** After this lesson you can

- recognise a semidefinite program, and write one down for a computer;
- prove with two lines that no feasible matrix is better than yours;
- write the dual of a semidefinite program, and read multipliers as prices.

**You need** lesson 2: :math:`\langle S, K \rangle \ge 0` for positive semidefinite S and K.
"""

# %%
# What a semidefinite program is
# ------------------------------
# Maximise a linear function of a matrix, subject to linear equations, over positive semidefinite
# matrices:
#
# .. math::
#
#    \max\ & \langle C, X \rangle \\
#    \text{subject to}\quad & \langle A_i, X \rangle = b_i, \quad i = 1, \dots, m, \\
#    & X \succeq 0 .
#
# A matrix that satisfies the conditions is called **feasible**. The equations cut a flat slice out
# of the cone, and we look for the point of the slice that lies furthest in the direction C. All is
# linear but the last line, and that line is convex: two feasible matrices have only feasible ones
# between them, so there is no local maximum besides the global ones.
#
# One equation: a disc
# --------------------
# The smallest program that is worth it has a single equation, the trace:
#
# .. math:: \max\ \langle C, X \rangle \quad\text{subject to}\quad
#    \operatorname{tr} X = 1,\ X \succeq 0 .
#
# We drew its feasible set for order two in lesson 2: a disc. *What do you expect* the optimum to
# be? Which rank does it have?

import matplotlib.pyplot as plt
import numpy as np

import sdpdr
from sdpdr import maximize, psd

C = np.array([[1.0, 1.5], [1.5, 2.0]])
grid = np.linspace(-1.2, 1.2, 241)
across, up = np.meshgrid(grid, grid)  # x − z and 2y, where x + z = 1
height = C[0, 0] * (1 + across) / 2 + C[0, 1] * up + C[1, 1] * (1 - across) / 2
values, vectors = np.linalg.eigh(C)
v = vectors[:, -1]

fig, axis = plt.subplots(figsize=(4.6, 4.2))
inside = np.where(across**2 + up**2 <= 1, height, np.nan)
drawn = axis.contourf(across, up, inside, levels=14)
fig.colorbar(drawn, label="⟨C, X⟩")
axis.plot(v[0] ** 2 - v[1] ** 2, 2 * v[0] * v[1], "o", color="tab:red")
axis.set(xlabel="x − z", ylabel="2y", aspect="equal")
fig.tight_layout()

# %%
# The red point is :math:`v v^\top`, with v the eigenvector of C of length one for its largest
# eigenvalue. A linear function on a disc has its maximum on the circle, where the rank is one.
#
# *By hand.* Among the matrices :math:`v v^\top` with :math:`|v| = 1`, which have trace one, the
# value is :math:`v^\top C v`, which is largest, :math:`\lambda_{\max}(C)`, at the eigenvector. That
# is a good point. Is there a better one of higher rank?
#
# *By proof.* Let :math:`t = \lambda_{\max}(C)`. All eigenvalues of :math:`tI - C` are at least
# zero, so :math:`tI - C \succeq 0`. For every feasible X, the fact of lesson 2 says
#
# .. math:: 0 \le \langle t I - C, X \rangle = t \operatorname{tr} X - \langle C, X \rangle
#    = t - \langle C, X \rangle .
#
# No feasible X has a value above t. The point above attains it, so it is optimal. That is a
# complete proof, and all proofs of this course are of this kind: *a matrix S that is positive
# semidefinite, and one line*.
#
# By a solver
# -----------
# In sdpdr one writes the program as on paper.

X = psd("X", 2)
disc = maximize(X.inner(C)) + (X.trace() == 1).named("trace")
print(disc.describe())

solution = sdpdr.solve(disc)
print(f"value {solution.value:.6f}, largest eigenvalue {values[-1]:.6f}")
print(solution["X"].round(4))

# %%
# The solver also hands back a number for every equation, its **multiplier**. Here there is one:

print("multiplier of the trace:", solution.dual("trace").round(6))

# %%
# It is t. *The solver has not only found the point, but also the proof.*
#
# Three vectors that avoid each other
# -----------------------------------
# Three unit vectors want to point away from each other: the sum of their inner products shall be as
# small as possible. Their Gram matrix has ones on the diagonal, it is the inflated tetrahedron of
# lesson 2. *What do you expect?* In space, can three vectors do better than in the plane?
#
# We maximise the negative sum over the three pairs:

X = psd("X", 3)
pairs = X[0, 1] + X[0, 2] + X[1, 2]
avoiding = maximize(-pairs) + (X.diagonal() == 1).named("length")
print(avoiding.describe())

# %%
# (Python counts from zero: what it prints as ``X_0,1`` is :math:`X_{12}` in formulas.)
#
# *By proof.* With the vector of ones, :math:`\mathbf 1^\top X \mathbf 1 \ge 0`. This is the sum of
# all entries: three ones on the diagonal, and every pair twice. So
#
# .. math:: 3 + 2 (X_{12} + X_{13} + X_{23}) \ge 0, \qquad
#    -(X_{12} + X_{13} + X_{23}) \le \tfrac32 .
#
# *By hand.* For equality, :math:`\mathbf 1^\top X \mathbf 1 = |y_1 + y_2 + y_3|^2` has to vanish.
# Three unit vectors whose sum is zero: they lie in a plane, at angles of 120 degrees. Each inner
# product is :math:`-\tfrac12`. Space does not help.

solution = sdpdr.solve(avoiding)
print(f"value {solution.value:.6f}")
print(solution["X"].round(4))
Y = solution.embedding(2)

fig, axis = plt.subplots(figsize=(3.6, 3.6))
for point in Y:
    axis.annotate("", point, (0, 0), arrowprops={"arrowstyle": "->", "lw": 2, "color": "tab:blue"})
axis.set(xlim=(-1.1, 1.1), ylim=(-1.1, 1.1), aspect="equal", title="read off the Gram matrix")
axis.set_axis_off()

# %%
# Where proofs come from: the dual
# --------------------------------
# How does one find the vector of ones, or t? By looking for a proof systematically. Multiply each
# equation by a number :math:`y_i` and add them up; a feasible X satisfies
# :math:`\sum_i y_i \langle A_i, X \rangle = b^\top y`. If now the matrix
#
# .. math:: S = \sum_i y_i A_i - C
#
# is positive semidefinite, then :math:`0 \le \langle S, X \rangle = b^\top y - \langle C, X
# \rangle`. So every y with :math:`S \succeq 0` proves the bound :math:`b^\top y` for *every*
# feasible X. This is called **weak duality**. The best proof is the one with the least bound,
#
# .. math:: \min\ b^\top y \quad\text{subject to}\quad \sum_i y_i A_i - C \succeq 0 ,
#
# and to find it is a semidefinite program, too, the **dual**. Its variables are the multipliers.
#
# For the three vectors, equation i says :math:`X_{ii} = 1`, so :math:`A_i` has a single one on its
# diagonal, and :math:`\sum_i y_i A_i` is the diagonal matrix of y. As :math:`\langle C, X \rangle`
# runs over all entries and so meets every pair twice, C has :math:`-\tfrac12` at each place off the
# diagonal. Let us build S from the solver's multipliers.

y = solution.dual("length")
C = -0.5 * (np.ones((3, 3)) - np.eye(3))
S = np.diag(y) - C
print("multipliers     ", y.round(5))
print("bound           ", round(float(y.sum()), 5))
print("eigenvalues of S", np.linalg.eigvalsh(S).round(5))
print("S =\n", S.round(4))

# %%
# S has one half everywhere: it is :math:`\tfrac12 \mathbf 1 \mathbf 1^\top`, the proof that we
# found by hand. Two more things can be read from it.
#
# *Value and bound are equal*, so :math:`\langle S, X \rangle = 0`. By the fact of lesson 2 then
# :math:`S X = 0`: **complementarity**. Here it says that the three vectors add up to zero.

print("largest entry of S X:", np.abs(S @ solution["X"]).max().round(6))

# %%
# *Multipliers are prices.* The bound :math:`b^\top y` holds with the same y for other right sides b
# as well, since b does not occur in S. Make the first vector a little longer, :math:`X_{11} = 1.1`:
# the bound rises by :math:`0.1\, y_1`. It stays a bound, so the optimum cannot rise faster; and if
# the multipliers are unique, the optimum moves at exactly this rate for small changes up and down
# [BV2004]_ (section 5.6).


def optimum(first: float) -> float:
    """The optimum, for a first vector of this squared length."""
    model = maximize(-pairs) + (X.diagonal() == np.array([first, 1.0, 1.0])).named("length")
    return float(sdpdr.solve(model, tol=1e-8).value)


rate = (optimum(1.01) - optimum(0.99)) / 0.02
print(f"rate of the optimum {rate:.4f}, multiplier {y[0]:.4f}")

# %%
# Is it always possible to find a proof that is tight? For linear programs, always. For semidefinite
# programs, whenever some feasible X is positive *definite* and the optimum is finite: then the dual
# has a solution, and its bound is the optimum. (This is Slater's condition; [BV2004]_ proves it in
# section 5.3.2. An inequality counts as an equation with a slack, a number that has to be positive
# then.) The identity is feasible in the second program, half of it in the first. What happens
# without such a point is the subject of lesson 5.
#
# Two numbers
# -----------
# sdpdr does not ask you to believe a solver. It takes the multipliers, builds S, repairs it if it
# is not quite positive semidefinite, and reports the bound that it proves.

print(f"attained {solution.attained:.9f}")
print(f"bound    {solution.bound:.9f}")
print("proved by:", solution.argument)

# %%
# The last line is the argument. *Inside all cones:* here there is one cone, and the eigenvalues of
# the repaired S are above zero by more than rounding can have changed. *Next to which the equations
# have a solution:* numbers in a computer are rounded, so :math:`S = \sum_i y_i A_i - C` holds
# nearly; but close to them lie numbers for which it holds exactly, and the bound is theirs. Lesson
# 6 does such proofs by hand.

# %%
# Exercises
# ---------
# **Exercise 1.** Let C have order five. Replace the conditions of the disc by
# :math:`\operatorname{tr} X = 2` and :math:`I - X \succeq 0`. What is the optimum? Guess, prove,
# and ask the solver.
#
# .. dropdown:: Solution
#
#    The sum of the two largest eigenvalues of C. It is attained by the projection
#    :math:`X = u_1 u_1^\top + u_2 u_2^\top` onto the first two eigenvectors. *Proof* that it is the
#    largest value: let :math:`\lambda_2` be the second eigenvalue, and P the positive semidefinite
#    matrix :math:`(\lambda_1 - \lambda_2) u_1 u_1^\top`. Then
#    :math:`\lambda_2 I + P - C \succeq 0`, so :math:`\langle C, X \rangle \le 2 \lambda_2 +
#    \langle P, X \rangle \le 2 \lambda_2 + \operatorname{tr} P = \lambda_1 + \lambda_2`, where
#    :math:`\langle P, I - X \rangle \ge 0` was used.
#
#    .. code-block:: python
#
#       random = np.random.default_rng(0).standard_normal((5, 5))
#       cost = random + random.T
#       Z = psd("Z", 5)
#       two = maximize(Z.inner(cost)) + (Z.trace() == 2) + (Z << np.eye(5))
#       answer = sdpdr.solve(two)
#       assert answer.certified(1e-6)
#       assert np.isclose(answer.value, np.linalg.eigvalsh(cost)[-2:].sum(), rtol=1e-5)

# %%
# **Exercise 2.** Now n unit vectors avoid each other. Prove that the sum of their inner products is
# at least :math:`-n/2`, for every n. Is it attained for four vectors in the plane? In space?
#
# .. dropdown:: Solution
#
#    The same proof: :math:`0 \le \mathbf 1^\top X \mathbf 1 = n + 2 \sum_{i<j} X_{ij}`. It is
#    attained whenever n unit vectors add up to zero: by the corners of a regular polygon in the
#    plane, by a tetrahedron in space. So the optimal X is not unique for n = 4, and an
#    interior-point solver returns one of high rank.
#
#    .. code-block:: python
#
#       n = 4
#       Z = psd("Z", n)
#       answer = sdpdr.solve(maximize(0.5 * (n - Z.sum())) + (Z.diagonal() == 1))
#       assert np.isclose(answer.value, n / 2, rtol=1e-5)
#       corners = np.array([[1, 0], [0, 1], [-1, 0], [0, -1]])
#       tetrahedron = np.array([[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]]) / np.sqrt(3)
#       for points in (corners, tetrahedron):
#           inner = points @ points.T
#           assert np.allclose(np.diag(inner), 1)
#           assert np.isclose(0.5 * (n - inner.sum()), n / 2)

# %%
# **Exercise 3.** Make the *third* vector of the program ``avoiding`` nine times as long in squared
# length, :math:`X_{33} = 9`. What does the bound with the old multipliers say? Is it still tight?
# What do the three vectors do?
#
# .. dropdown:: Solution
#
#    The old multipliers still prove the bound :math:`(1 + 1 + 9)/2 = 5.5`. It is not attained,
#    since vectors of lengths 1, 1 and 3 cannot add up to zero. The best is to have the two short
#    vectors opposite to the long one: :math:`3 + 3 - 1 = 5`. Prices are good for small changes.
#
#    .. code-block:: python
#
#       long = maximize(-pairs) + (X.diagonal() == np.array([1.0, 1.0, 9.0])).named("length")
#       answer = sdpdr.solve(long)
#       assert answer.certified(1e-6)
#       assert np.isclose(answer.value, 5.0, rtol=1e-5)
#       assert y @ [1.0, 1.0, 9.0] > answer.value + 0.49
#       assert np.allclose(answer["X"][0, 1], 1.0, atol=1e-3)

# %%
# **Exercise 4.** Show by hand that the dual of the disc, :math:`\min t` subject to
# :math:`t I - C \succeq 0`, has the optimum :math:`\lambda_{\max}(C)`. Then write *this* program
# with sdpdr, and find X among its multipliers.
#
# .. dropdown:: Solution
#
#    :math:`tI - C` has the eigenvalues :math:`t - \lambda_k`, so t is feasible if and only if it is
#    at least the largest. The multiplier of a matrix inequality is a matrix: the dual of the dual
#    is the program itself.
#
#    .. code-block:: python
#
#       cost = np.array([[1.0, 1.5], [1.5, 2.0]])
#       t = sdpdr.scalar("t")
#       dual = sdpdr.minimize(t) + (t * np.eye(2) >> cost).named("slack")
#       answer = sdpdr.solve(dual)
#       assert np.isclose(answer.value, np.linalg.eigvalsh(cost)[-1], rtol=1e-6)
#       assert np.allclose(answer.dual("slack"), np.outer(v, v), atol=1e-3)

# %%
# References
# ----------
# Semidefinite programs and their duals: [BV2004]_, sections 4.6.2 and 5.9; the Vasiloglou thesis,
# section 2.2.1 (see :doc:`/references`), tells in words how such programs came to be used. Exercise
# 1 is a theorem of Ky Fan; [OW1992]_ has more about it. How to write programs in sdpdr is told in
# :doc:`/guide/language`, and what is proved of an answer in :doc:`/guide/proofs`.
