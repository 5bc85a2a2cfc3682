r"""
Lesson 3: A first semidefinite program
======================================

The furthest point of a slice of the cone: found by hand, proved by hand, and found by a solver.

**Goals.** After this lesson you can

- recognise a semidefinite program, and write one down for a computer;
- prove with two lines that no feasible matrix is better than yours;
- write the dual of a semidefinite program, and interpret its multipliers.

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
# of the cone, and we look for the point of the slice that lies furthest in the direction C. All
# lines but the last are linear, and the last one is convex: between two feasible matrices all
# matrices are feasible, so every local maximum is global.
#
# One equation: a disc
# --------------------
# The smallest interesting program has a single equation, for the trace:
#
# .. math:: \max\ \langle C, X \rangle \quad\text{subject to}\quad
#    \operatorname{tr} X = 1,\ X \succeq 0 .
#
# We drew its feasible set for order two in lesson 2: a disc. *What do you expect* the optimum to
# be? Which rank does it have?

import matplotlib.pyplot as plt
import numpy as np

import sdpdr
from sdpdr import maximize, minimize, psd, scalar
from sdpdr.testing import graded

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
# In sdpdr a program is written as on paper: ``psd("X", 2)`` is an unknown positive semidefinite
# matrix of order two. The objective is ``maximize(...)`` or ``minimize(...)``, constraints are
# comparisons with ``==``, ``<=`` and ``>=``, and ``+`` collects all parts. A name, here
# ``"trace"``, is the label under which the multiplier of a constraint is found afterwards.

X = psd("X", 2)
disc = maximize(X.inner(C)) + (X.trace() == 1).named("trace")
print(disc.describe())

solution = sdpdr.solve(disc)
print(f"value {solution.value:.6f}, largest eigenvalue {values[-1]:.6f}")
print(solution["X"].round(4))

# %%
# The solver also returns a number for every equation, its **multiplier**. Here there is one:

print("multiplier of the trace:", solution.dual("trace").round(6))

# %%
# It is t. *The solver has not only found the point, but also the proof.*
#
# Three vectors that avoid each other
# -----------------------------------
# Three unit vectors should point away from each other: the sum of their inner products should be as
# small as possible. Their Gram matrices have ones on the diagonal; they are the inflated
# tetrahedron of lesson 2. *What do you expect?* In space, can three vectors do better than in the
# plane?
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
# How does one find the vector of ones, or t? By a systematic search for a proof. Multiply each
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
# and this is a semidefinite program, too, the **dual**. Its variables are the multipliers.
#
# *Signs.* They are the same in the whole course, and in ``solution.dual``. An inequality
# :math:`\langle A_i, X \rangle \le b_i` has a multiplier :math:`y_i \ge 0`, and the line above
# stays true. To *minimise* :math:`\langle C, X \rangle` is to maximise :math:`\langle -C, X
# \rangle`: then :math:`S = C + \sum_i y_i A_i`, and where :math:`S \succeq 0` the minimum is at
# least :math:`-b^\top y`.
#
# For the three vectors, equation i says :math:`X_{ii} = 1`, so :math:`A_i` has a single one on its
# diagonal, and :math:`\sum_i y_i A_i` is the diagonal matrix of y. The sum :math:`\langle C, X
# \rangle` contains every pair twice, so C has :math:`-\tfrac12` at each entry off the diagonal. Let
# us build S from the solver's multipliers.

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
# *Multipliers are rates* (economists say shadow prices). The bound :math:`b^\top y` holds with the
# same y for other right-hand sides b as well, since b does not occur in S. Make the first vector a
# little longer, :math:`X_{11} = 1.1`: the bound rises by :math:`0.1\, y_1`. It stays a bound, so
# the optimum cannot rise faster; and if the multipliers are unique, the optimum changes at exactly
# this rate for small changes up and down [BV2004]_ (section 5.6).


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
# With sdpdr you need not believe a solver. It takes the multipliers, builds S, moves y a little if
# S is not quite positive semidefinite, and reports the bound that is then proved, with all rounding
# accounted for. It does the same with the point.

print(f"attained {solution.attained:.9f}")
print(f"bound    {solution.bound:.9f}")

# %%
# The optimum, 1.5, lies between the two numbers. Lesson 6 does such proofs by hand.
#
# The same can be done with *your* point and *your* multipliers, without a solver. The identity is
# feasible, and with all multipliers equal to one :math:`S = I - C` has the eigenvalues one half,
# one half and two:

print(graded(avoiding, np.eye(3), [1.0, 1.0, 1.0]))

# %%
# So ``graded`` says how good an answer is without knowing the right one. Use it in the
# exercises: guess a matrix, guess multipliers, and close the gap.
#
# More words
# ----------
# The exercises need three more words. ``scalar("t")`` is an unknown number, and ``scalar("w", 5)``
# five of them. Matrices are compared by ``>>`` and ``<<``: ``A >> B`` says :math:`A - B \succeq 0`,
# where ``A >= B`` would compare entry by entry. The multiplier of ``A >> B`` is a positive
# semidefinite matrix. The smallest number that is at least all eigenvalues of C, for example:

t = scalar("t")
largest = minimize(t) + (t * np.eye(2) >> np.array([[1.0, 1.5], [1.5, 2.0]])).named("above")
print(largest.describe())
print(f"value {sdpdr.solve(largest).value:.6f}")

# %%
# Exercises
# ---------
# **Exercise 1.** *15 minutes.* Let C have order five. Replace the conditions of the disc by
# :math:`\operatorname{tr} X = 2` and :math:`I - X \succeq 0`. What is the optimum? Guess, prove,
# and compare with the solver.
#
# .. dropdown:: Hint
#
#    Begin with the eigenvectors of C. The bound uses the second eigenvalue.
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
# **Exercise 2.** *10 minutes.* Now n unit vectors avoid each other. Prove that the sum of their
# inner products is at least :math:`-n/2`, for every n. Is it attained for four vectors in the
# plane? In space?
#
# .. dropdown:: Hint
#
#    Use the vector of ones again.
#
# .. dropdown:: Solution
#
#    The same proof: :math:`0 \le \mathbf 1^\top X \mathbf 1 = n + 2 \sum_{i<j} X_{ij}`. It is
#    attained whenever n unit vectors add up to zero: by the corners of a regular polygon in the
#    plane, by a tetrahedron in space. So the optimal X is not unique for n = 4, and an
#    interior-point solver returns one of high rank. (Below, the objective is
#    :math:`\tfrac12 (n - \mathbf 1^\top X \mathbf 1)`. It is at most n/2 by itself, so all
#    multipliers are zero.)
#
#    .. code-block:: python
#
#       n = 4
#       Z = psd("Z", n)
#       four = maximize(0.5 * (n - Z.sum())) + (Z.diagonal() == 1).named("length")
#       assert np.isclose(sdpdr.solve(four).value, n / 2, rtol=1e-5)
#       corners = np.array([[1, 0], [0, 1], [-1, 0], [0, -1]])
#       tetrahedron = np.array([[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]]) / np.sqrt(3)
#       for points in (corners, tetrahedron):
#           inner = points @ points.T
#           assert np.allclose(np.diag(inner), 1)
#           assert np.isclose(0.5 * (n - inner.sum()), n / 2)
#           assert graded(four, inner, np.zeros(n)).is_optimal

# %%
# **Exercise 3.** *10 minutes.* Make the *third* vector of the program ``avoiding`` three times as
# long, :math:`X_{33} = 9`. Which bound do the old multipliers prove? Is it still tight? What do the
# three vectors do?
#
# .. dropdown:: Hint
#
#    The slack matrix S does not contain the right-hand sides.
#
# .. dropdown:: Solution
#
#    The old multipliers still prove the bound :math:`(1 + 1 + 9)/2 = 5.5`. It is not attained,
#    since vectors of lengths 1, 1 and 3 cannot add up to zero. The best is to have the two short
#    vectors opposite to the long one: :math:`3 + 3 - 1 = 5`. Multipliers are the rate of the
#    optimum for small changes only.
#
#    .. code-block:: python
#
#       long = maximize(-pairs) + (X.diagonal() == np.array([1.0, 1.0, 9.0])).named("length")
#       answer = sdpdr.solve(long)
#       assert answer.certified(1e-6)
#       assert np.isclose(answer.value, 5.0, rtol=1e-5)
#       assert y @ [1.0, 1.0, 9.0] > answer.value + 0.49
#       opposite = np.outer([1.0, 1.0, -3.0], [1.0, 1.0, -3.0])
#       assert np.isclose(graded(long, opposite, [0.5, 0.5, 0.5]).gap, 0.5 / 5.5)
#       assert graded(long, opposite, [1.0, 1.0, 1.0 / 3.0]).is_optimal
#       assert np.allclose(answer["X"][0, 1], 1.0, atol=1e-3)

# %%
# **Exercise 4.** *10 minutes.* The program ``largest`` above is the dual of the disc, :math:`\min
# t` subject to :math:`t I - C \succeq 0`. Show by hand that its optimum is
# :math:`\lambda_{\max}(C)`, and find the X of the disc among its multipliers. Which t and which
# matrix would you hand to ``graded``?
#
# .. dropdown:: Hint
#
#    The multiplier of a matrix inequality is a matrix, and the dual of the dual is the program.
#
# .. dropdown:: Solution
#
#    :math:`tI - C` has the eigenvalues :math:`t - \lambda_k`, so t is feasible if and only if it is
#    at least the largest. The multiplier of a matrix inequality is a matrix: the dual of the dual
#    is the program itself.
#
#    .. code-block:: python
#
#       answer = sdpdr.solve(largest)
#       assert np.isclose(answer.value, values[-1], rtol=1e-6)
#       assert np.allclose(answer.dual("above"), np.outer(v, v), atol=1e-3)
#       assert graded(largest, values[-1], np.outer(v, v)).is_optimal

# %%
# References
# ----------
# Semidefinite programs and their duals: [BV2004]_, sections 4.6.2 and 5.9; the Vasiloglou thesis,
# section 2.2.1 (see :doc:`/references`), describes how such programs came to be used. Exercise 1 is
# a theorem of Ky Fan; [OW1992]_ has more about it. :doc:`/guide/language` says how to write
# programs in sdpdr, and :doc:`/guide/proofs` how an answer is proved.
