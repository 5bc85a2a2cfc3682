r"""
Lesson 6: Certificates, on paper and in code
============================================

An answer that needs no trust: two numbers, each proved, with the optimum in between.

**Goals.** After this lesson you can

- derive a true bound from any weights, however bad;
- scale any centred points until they are feasible, and so prove a value;
- check a certificate without a solver, and say what rounding may still spoil.

**You need** lesson 4: the program of unfolding, and the proof of its bound.
"""

# %%
# Claims and facts
# ----------------
# A solver returns a matrix and says *optimal*. Some such claims are false, as lesson 5 shows. (In
# sdpdr the claim of a solver is kept apart, in ``solution.claimed``.) The remedy is not a better
# solver but a check. For a maximisation two things have to be proved:
#
# - some feasible point has **at least** this value;
# - no feasible point has **more** than that.
#
# The first number is called *attained*, the second *bound*. The optimum lies between. If both are
# close, the program is solved, and it does not matter how.
#
# We do everything for unfolding, by hand.

import matplotlib.pyplot as plt
import numpy as np
from scipy.linalg import ldl

import sdpdr
from sdpdr import graphs, methods

X, _ = sdpdr.datasets.swiss_roll(60, seed=1)
graph = graphs.knn(X, n_neighbors=4)
model = methods.mvu(graph)
i, j = graph.edges.T
print(f"{graph.n} points, {graph.m} edges")

# %%
# From above: any weights will do
# -------------------------------
# In lesson 4, weights :math:`w \ge 0` with :math:`\lambda_2(L(w)) \ge 1` proved the bound
# :math:`d^\top w`. Other weights can be scaled: L(w) is linear in w, so :math:`w / \lambda_2` has a
# second eigenvalue of one. Hence for *every* :math:`w \ge 0` with :math:`\lambda_2 > 0`
#
# .. math:: \operatorname{tr} K \le \frac{d^\top w}{\lambda_2(L(w))} .


def bound(weights: np.ndarray) -> float:
    """The bound that these weights prove: no feasible K has a larger trace."""
    laplacian = graph.laplacian(weights).toarray()
    return float(graph.sqdist @ weights / np.linalg.eigvalsh(laplacian)[1])


# %%
# *What do you expect* of weights that are all one, and of weights drawn at random? Are their bounds
# false, or poor?

rng = np.random.default_rng(0)
print(f"all one   {bound(np.ones(graph.m)):12.2f}")
for _ in range(3):
    print(f"random    {bound(rng.random(graph.m)):12.2f}")

# %%
# The bounds are poor, and true. The proof does not depend on where the weights come from.
#
# From below: any matrix will do
# ------------------------------
# A solver's K may stretch some threads too far. Divide it by the largest ratio of a squared length
# to its upper bound. Then no thread is too long, one is fully stretched, and the matrix stays
# centred and positive semidefinite:
#
# .. math:: K \Big/ \max_{ij} \frac{K_{ii} + K_{jj} - 2 K_{ij}}{d_{ij}} .
#
# The trace of this matrix is attained. This works for :math:`K = Y Y^\top` with every centred Y
# that has a positive length on some edge. If the ratio is below one, the division makes the points
# larger.


def attained(points: np.ndarray) -> float:
    """The variance of the points, scaled until the tightest thread is fully stretched."""
    centred = points - points.mean(axis=0)
    squared = np.sum((centred[i] - centred[j]) ** 2, axis=1)
    return float(np.sum(centred**2) / np.max(squared / graph.sqdist))


print(f"the data themselves {attained(X):12.2f}")
print(f"random points       {attained(rng.standard_normal((graph.n, 2))):12.2f}")

# %%
# The size of the points does not matter: points a hundred times smaller prove the same value. Now
# both together, for the answer of a solver:

solution = sdpdr.solve(model)
below, above = attained(solution.embedding(graph.n - 1)), bound(solution.dual("isometry"))
print(f"attained {below:14.6f}")
print(f"bound    {above:14.6f}")
print(f"gap      {above / below - 1:14.1e}")

# %%
# Nothing was assumed about the solver. If its numbers were garbage, value and bound would be far
# apart, and both would still be true.
#
# Spoil the multipliers
# ---------------------
# *What do you expect* if the weights are only approximate? We change each of them by a random
# relative error, and see how much the bound gets worse.

weights = np.maximum(solution.dual("isometry"), 0.0)
errors = np.logspace(-8, -1, 15)
lost = [
    np.mean([bound(weights * (1 + e * rng.uniform(-1, 1, graph.m))) / below - 1 for _ in range(5)])
    for e in errors
]

fig, axis = plt.subplots(figsize=(5.6, 3.4))
axis.loglog(errors, lost, "o-")
axis.set(xlabel="relative error of the multipliers", ylabel="proved gap")
fig.tight_layout()

# %%
# At the left the gap that the solver left dominates. Beyond that the proved gap grows in proportion
# to the error, with a factor that depends on the graph:

for k in (-1, -5):
    ratio = lost[k] / errors[k]
    print(f"an error of {errors[k]:.0e} gives a gap of {lost[k]:.1e}, {ratio:.2f} times as much")

# %%
# Ten times better multipliers prove about one digit more. A *tight* bound needs good multipliers; a
# *true* bound does not.
#
# What the proof still trusts
# ---------------------------
# The proof has one step that a computer does in floating point: the eigenvalue. If it were
# *over*\ estimated, the bound would be too small, and false. Iterative methods for large matrices
# do approach :math:`\lambda_2` from above! So we do not estimate it; we verify a lower bound.
#
# *Sylvester's law of inertia:* for any invertible M, the matrices A and :math:`M A M^\top` have
# equally many negative eigenvalues. Gaussian elimination writes :math:`A = M B M^\top` with B
# diagonal (or with blocks of order two), where they can be counted. Take :math:`A = L(w) - \sigma
# I` with :math:`\sigma > 0`. Its eigenvalues are those of the Laplacian minus :math:`\sigma`; for
# the vector of ones that is :math:`-\sigma < 0`. So there is *exactly one* negative eigenvalue if
# and only if :math:`\sigma \le \lambda_2`, and every such :math:`\sigma` proves the bound
# :math:`d^\top w / \sigma`.


def negatives(sigma: float) -> int:
    """How many eigenvalues of the Laplacian lie below sigma."""
    _, blocks, _ = ldl(graph.laplacian(weights).toarray() - sigma * np.eye(graph.n))
    return int(np.sum(np.linalg.eigvalsh(blocks) < 0))


lambda_2 = np.linalg.eigvalsh(graph.laplacian(weights).toarray())[1]
for factor in (0.999, 1.001):
    print(f"σ = {factor} times the estimate: {negatives(factor * lambda_2)} below")
print(f"the first σ proves the bound {graph.sqdist @ weights / (0.999 * lambda_2):.2f}")

# %%
# With the first :math:`\sigma` only the vector of ones is below: the bound is proved, a thousandth
# weaker than the estimate. The second is too large. In sdpdr the elimination is *sparse*: for
# unfoldings its cost grows a little faster than the number of points, and not like its cube.

many, _ = sdpdr.datasets.swiss_roll(1000, seed=1)
large = sdpdr.solve(methods.mvu(graphs.knn(many, n_neighbors=4)), "lowrank")
share = large.timings["certify"] / large.timings["solve"]
print(f"{len(many)} points, gap {large.gap:.0e}: the proof took {share:.0%} of the solver's time")

# %%
# Elimination rounds, too, but the size of the rounding is known, and the proof accounts for it.
# With ``rigorous=True`` the answer comes as an interval that contains the optimum of the program
# whose data are the numbers in memory, as a theorem. Its argument says what was done to the
# multipliers.

proved = sdpdr.solve(model, rigorous=True)
low, high = proved.enclosure
print(f"the optimum lies in [{low:.6f}, {high:.6f}]")
print(proved.argument)

# %%
# An exact proof, on paper
# ------------------------
# For small programs nothing need be rounded at all. Four points on a path with threads of length
# one: the line has its points at :math:`-\tfrac32, -\tfrac12, \tfrac12, \tfrac32` and the variance
# 5. By exercise 1 of lesson 4 the weights are :math:`\tfrac32, 2, \tfrac32`, and :math:`d^\top w =
# 5`. It remains to show that :math:`\lambda_2 \ge 1`, in fractions.

from fractions import Fraction


def pivots(matrix: list[list[Fraction]]) -> list[Fraction]:
    """The diagonal of B in M B Mᵀ, by elimination without rounding."""
    rest, found = [row[:] for row in matrix], []
    while rest:
        (pivot, *_), *below_it = rest
        found.append(pivot)
        # A positive semidefinite matrix with a zero on the diagonal has zeros beside it.
        assert pivot or not any(row[0] for row in below_it)
        rest = [
            [
                b - (row[0] * a / pivot if pivot else 0)
                for a, b in zip(rest[0][1:], row[1:], strict=True)
            ]
            for row in below_it
        ]
    return found


w = [Fraction(3, 2), Fraction(2), Fraction(3, 2)]
n = len(w) + 1
shifted = [[Fraction(r == c, 1) * -1 + Fraction(1, n) for c in range(n)] for r in range(n)]  # −J
for e, weight in enumerate(w):
    for r, c, sign in ((e, e, 1), (e + 1, e + 1, 1), (e, e + 1, -1), (e + 1, e, -1)):
        shifted[r][c] += sign * weight
print("pivots of L − J:", *pivots(shifted))

# %%
# No pivot is negative, so :math:`L(w) - J \succeq 0`, where J is the centring matrix of lesson 1.
# That says :math:`\lambda_2 \ge 1`, without any rounding. The variance of four points on such a
# path is at most 5, and this is now as certain as arithmetic.
#
# Programs without such a simple proof
# ------------------------------------
# Scaling the weights works because L(w) is positive definite on all vectors orthogonal to
# :math:`\mathbf 1`, whatever the objective: some multiple of it exceeds any cost there. Scaling the
# points works because the conditions are upper bounds on lengths, which zero satisfies. Other
# programs are proved by one statement, for their points and for their multipliers: near the given
# numbers lies an exact solution of the equations, and the box around it lies in the cone.
# ``solution.argument`` says how the bound was proved. If nothing is proved, the bound is ``None``.
# :doc:`/guide/proofs` follows a small program through the proof.

# %%
# Exercises
# ---------
# **Exercise 1.** *15 minutes.* Somebody sends you the answer of a solver on paper: weights and
# coordinates with two digits after the point, negative weights among them. What do they prove?
# Improve the pair of numbers without any solver, then let ``sdpdr.testing.graded`` say what it is
# worth. (It takes the problem, the matrix K and the weights.)
#
# .. dropdown:: Hint
#
#    Set negative weights to zero, and scale both sides as in the lesson.
#
# .. dropdown:: Solution
#
#    Weights below zero are set to zero; then both are scaled as above. Without the scaling the
#    rounded numbers prove nothing: some threads are too long, and :math:`\lambda_2` is below one.
#
#    .. code-block:: python
#
#       from sdpdr.testing import graded
#
#       sent_points = solution.embedding(3).round(2)
#       sent_weights = np.maximum((solution.dual("isometry") - 1e-3).round(2), 0.0)
#       from_below, from_above = attained(sent_points), bound(sent_weights)
#       assert from_below <= above * (1 + 1e-9) and from_above >= below * (1 - 1e-9)
#       points = sent_points - sent_points.mean(axis=0)
#       assert graded(model, points @ points.T, sent_weights).attained is None
#       points *= np.sqrt((1 - 1e-12) * from_below / np.sum(points**2))
#       scaled = sent_weights * from_above / (graph.sqdist @ sent_weights)
#       grade = graded(model, points @ points.T, scaled * (1 + 1e-9))
#       assert np.isclose(grade.attained, from_below) and np.isclose(grade.bound, from_above)
#       assert grade.gap < 0.05

# %%
# **Exercise 2.** *20 minutes.* Start with weights one and make the bound better by yourself. The
# derivative of :math:`\lambda_2` with respect to :math:`w_{ij}` is :math:`(u_i - u_j)^2`, with u
# the eigenvector of length one. How far does a subgradient method come in 300 steps?
#
# .. dropdown:: Hint
#
#    Take the derivative of the logarithm of the bound.
#
# .. dropdown:: Solution
#
#    The logarithm of the bound, :math:`\log d^\top w - \log \lambda_2`, has the derivative
#    :math:`d_{ij} / d^\top w - (u_i - u_j)^2 / \lambda_2`. Multiply each weight by the exponential
#    of a small step against it, and keep the best bound. It improves fast, then slowly: at the
#    optimum :math:`\lambda_2` is multiple, and the derivative jumps. Every step of the way is a
#    proof.
#
#    .. code-block:: python
#
#       trial, best = np.ones(graph.m), [bound(np.ones(graph.m))]
#       for step in range(300):
#           values, vectors = np.linalg.eigh(graph.laplacian(trial).toarray())
#           u = vectors[:, 1]
#           slope = graph.sqdist / (graph.sqdist @ trial) - (u[i] - u[j]) ** 2 / values[1]
#           size = np.abs(slope * trial).max()
#           trial = trial * np.exp(-0.5 / np.sqrt(step + 1) * slope * trial / size)
#           best.append(min(best[-1], bound(trial)))
#       assert below * (1 - 1e-9) <= best[-1] < best[0]
#       assert best[-1] / below - 1 < 0.5 * (best[0] / below - 1)

# %%
# **Exercise 3.** *15 minutes.* Prove with fractions that the ring of four threads of length one has
# the variance 2 at most. Which K attains it? Is it unique?
#
# .. dropdown:: Hint
#
#    Use equal weights and ``pivots``. A rhombus has four sides of length one, too.
#
# .. dropdown:: Solution
#
#    Equal weights: the Laplacian of the ring has the eigenvalues 0, 2, 2, 4, so
#    :math:`w = \tfrac12` and :math:`d^\top w = 2`. The square attains it, and so does every
#    rhombus: with diagonals :math:`p, q` the variance is :math:`(p^2 + q^2) / 2`, and :math:`p^2 +
#    q^2 = 4` for sides of length one. In the flattest, opposite points coincide.
#
#    .. code-block:: python
#
#       half = Fraction(1, 2)
#       circle = [
#           [
#               Fraction(1, 4) + (2 * half - 1 if r == c else -half if (r - c) % 2 else 0)
#               for c in range(4)
#           ]
#           for r in range(4)
#       ]
#       assert all(pivot >= 0 for pivot in pivots(circle))
#       for p in (0.0, 1.0, np.sqrt(2.0)):
#           q = np.sqrt(4.0 - p**2)
#           rhombus = np.array([[p / 2, 0], [0, q / 2], [-p / 2, 0], [0, -q / 2]])
#           assert np.allclose(np.sum((rhombus - np.roll(rhombus, 1, axis=0)) ** 2, axis=1), 1)
#           assert np.isclose(np.sum(rhombus**2), 2.0)

# %%
# **Exercise 4.** *15 minutes.* Certify something else: :math:`\max \langle C, X \rangle` subject to
# :math:`X_{ii} = 1`, of order n. Which bound follows from any multipliers y? Which feasible matrix
# follows from any positive definite one?
#
# .. dropdown:: Hint
#
#    The trace of every feasible X is n.
#
# .. dropdown:: Solution
#
#    If :math:`S = \operatorname{Diag}(y) - C` has the smallest eigenvalue :math:`-\mu < 0`, add
#    :math:`\mu` to every y: S becomes positive semidefinite, and the bound is
#    :math:`\sum_i y_i + n \mu`. This uses that *the trace is known*: every feasible X has trace n.
#    From below, divide rows and columns by the square roots of the diagonal, so that it becomes
#    one.
#
#    .. code-block:: python
#
#       draw = rng.standard_normal((8, 8))
#       cost = draw + draw.T
#       Z = sdpdr.psd("Z", 8)
#       cut = sdpdr.solve(sdpdr.maximize(Z.inner(cost)) + (Z.diagonal() == 1).named("unit"))
#
#       def proves(y):
#           return y.sum() + 8 * max(0.0, -np.linalg.eigvalsh(np.diag(y) - cost).min())
#
#       noisy = cut.dual("unit") + 0.01 * rng.standard_normal(8)
#       assert cut.value - 1e-4 <= proves(cut.dual("unit")) <= proves(noisy) + 1e-4
#       rough = draw @ draw.T + np.eye(8)
#       feasible = rough / np.sqrt(np.outer(np.diag(rough), np.diag(rough)))
#       assert np.allclose(np.diag(feasible), 1.0)
#       assert np.sum(cost * feasible) <= proves(noisy)

# %%
# References
# ----------
# The bound and its two-line proof: :ref:`certificate`. How any program is proved, and the meaning
# of every status: :doc:`/guide/proofs`; how to read an answer: :doc:`/guide/reading`. Bounds with
# all rounding accounted for are treated in [JCK2007]_. The documents prove no bounds of unfoldings;
# the Vasiloglou thesis (section 3.5.2) reports how long they took, and how many dimensions they
# need (see :doc:`/references`).
