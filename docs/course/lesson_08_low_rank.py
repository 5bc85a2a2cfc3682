r"""
Lesson 8: Low rank, and when it is safe
=======================================

Giving up convexity for speed, and finding out from the multipliers whether that was a mistake.

**Goals.** After this lesson you can

- write a semidefinite program in terms of a factor with few columns, and say what is lost;
- find a local maximum that is not global, and the direction that leads out of it;
- decide with the multipliers whether an answer of low rank is optimal among all ranks.

**You need** lessons 3 and 6: complementarity, and certificates from any multipliers.
"""

# %%
# Few columns
# -----------
# Solutions often have low rank: an unrolled roll is flat. So why carry a matrix of :math:`n^2`
# entries? Write :math:`X = Y Y^\top` with Y of n rows and r columns, and optimise over Y. There are
# nr unknowns, and :math:`X \succeq 0` holds by itself [BM2003]_.
#
# The cost: a linear function of X is a *quadratic* function of Y, and so are the conditions. The
# problem is not convex any more. *What do you expect?* Can a local maximum be worse than the global
# one?
#
# A local maximum that is not global
# ----------------------------------
# Unfold the path of three points from lesson 4, 0–1–2 with threads of length one, *on a line*:
# :math:`r = 1`. The best arrangement is −1, 0, 1. Now take the folded one, with both ends at the
# same place: :math:`y = (\tfrac13, -\tfrac23, \tfrac13)`. Both threads are stretched. Can it be
# improved by small movements? On a line a stretched thread cannot turn, so none is possible: *it is
# a strict local maximum* among the centred arrangements on the line, of variance :math:`\tfrac23`
# instead of 2.

import matplotlib.pyplot as plt
import numpy as np

import sdpdr
from sdpdr import graphs, methods, plot

path = graphs.path([1.0, 1.0])
folded = np.array([[1.0], [-2.0], [1.0]]) / 3.0
print("variance of the folded path:", round(float(np.sum(folded**2)), 4))

# %%
# Look at the springs. If the folded path were optimal, there would be optimal weights with
# :math:`L(w) y = y`, by lesson 4. For the first point, :math:`w_{01} (\tfrac13 + \tfrac23) =
# \tfrac13`, and likewise for the last, so :math:`w = \tfrac13` on both threads: these are the only
# weights that balance the forces. But a proof requires more, namely :math:`\lambda_2(L(w)) \ge 1`.

w = np.array([1.0, 1.0]) / 3.0
L = path.laplacian(w).toarray()
print("balance:", np.abs(L @ folded - folded).max().round(12))
eigenvalues, vectors = np.linalg.eigh(L)
print("eigenvalues of L:", eigenvalues.round(4))
print("vector of the second:", vectors[:, 1].round(4))

# %%
# The second eigenvalue is one third. The balanced weights are the only candidates for a proof, and
# they prove none, so the folded path is *not optimal*. (Scaled, they prove the bound
# :math:`d^\top w / \lambda_2 = 2`, three times its value.) The eigenvector u shows what to do: move
# the points along u *in a new dimension*. Let :math:`Y = (y, t u)`. Squared lengths grow by
# :math:`t^2 (u_i - u_j)^2`. Moving into the new dimension gains :math:`t^2` of variance; restoring
# the lengths, by shrinking y, costs :math:`t^2\, u^\top L u = \tfrac13 t^2`. So it pays.
# Geometrically: take one end and swing it around the middle point, out of the line.

swing = np.linspace(0, np.pi, 7)
fig, axis = plt.subplots(figsize=(8, 1.9))
for place, angle in enumerate(swing):
    points = np.array([[1, 0], [0, 0], [np.cos(angle), np.sin(angle)]])
    points = points - points.mean(axis=0)
    axis.plot(points[:, 0] + 2.4 * place, points[:, 1], "o-", color=plt.cm.viridis(angle / np.pi))
axis.set(aspect="equal", title="one end swings around the middle point, in steps of 30 degrees")
axis.set_axis_off()
variances = [2.0 - 4.0 / 3.0 * np.cos(angle / 2) ** 2 for angle in swing]
print("variance on the way:", np.round(variances, 3))

# %%
# It grows all the way. **With one more column the local maximum is only a saddle point.**
#
# The principle
# -------------
# This is a general principle. Take a program :math:`\max \langle C, X \rangle` subject to
# :math:`\langle A_i, X \rangle = b_i`. For numbers :math:`\mu_i`, the **Lagrangian** of the factor
# is
#
# .. math:: \ell(Y) = \langle C, YY^\top \rangle - \sum_i \mu_i (\langle A_i, YY^\top \rangle - b_i)
#    = \sum_i \mu_i b_i - \langle S, YY^\top \rangle, \qquad S = \sum_i \mu_i A_i - C .
#
# At feasible Y it is the objective. The factor is *stationary* if for some multipliers the
# derivative of the Lagrangian, :math:`-2 S Y`, vanishes. Then :math:`SX = 0`, the complementarity
# of lesson 3. Only one condition of optimality is missing, :math:`S \succeq 0`.
#
# - If :math:`S \succeq 0`, then X is optimal among *all* positive semidefinite matrices, of all
#   ranks. That is the certificate of lesson 3.
# - If not, the eigenvector of a negative eigenvalue is a new column along which the objective
#   grows.
#
# .. admonition:: Fact
#
#    Let Y be a local maximum at which the gradients of the constraints, the matrices :math:`A_i Y`,
#    are linearly independent (so that Y has multipliers). If Y has a column of zeros (more
#    generally, dependent columns), then :math:`S \succeq 0`, and Y is a global maximum of the
#    semidefinite program.
#
# *Proof.* Let the last column of Y be zero, u any vector, and move along :math:`u` in that column.
# The derivative of every :math:`\langle A_i, Y Y^\top \rangle` in this direction, :math:`2 \langle
# A_i, Y\, (0 \dots u)^\top \rangle`, is zero, because the column that moves is zero. So the
# direction is tangent to the constraints, and the second-order condition of a local maximum says
# that the Lagrangian does not grow along it: its second derivative there is
# :math:`-2 u^\top S u \le 0`. Dependent columns can be multiplied by an orthogonal matrix such that
# one of them becomes zero, which does not change X. :math:`\blacksquare`
#
# So the algorithm is: solve with few columns; if the multipliers do not prove the answer, add
# columns and go on. It ends at n columns at the latest.
#
# How many columns are needed?
# ----------------------------
# A semidefinite program with m equations has an optimal X (if it has any) whose rank satisfies
# :math:`r (r + 1) / 2 \le m` [Pat1998]_. And with *more* columns than that,
# :math:`r (r + 1) / 2 > m`, for almost all C every local maximum is global, if the constraints
# are as regular as those of the next program (Boumal, Voroninski and Bandeira, 2016).
#
# An experiment. The program: :math:`\max \langle C, X \rangle` subject to
# :math:`X_{ii} = 1`, so the rows of Y have length one. One row at a time can be optimised exactly:
# :math:`\langle C, YY^\top \rangle` depends on row i through
# :math:`2\, y_i^\top g_i` with :math:`g_i = \sum_{j \ne i} C_{ij} y_j`, so :math:`y_i = g_i /
# |g_i|`.

n = 24
rng = np.random.default_rng(3)
noise = rng.standard_normal((n, n))
C = noise + noise.T
np.fill_diagonal(C, 0.0)


def ascend(r: int, sweeps: int = 400) -> np.ndarray:
    """A local maximum with r columns, from a random start, one row at a time."""
    Y = rng.standard_normal((n, r))
    Y /= np.linalg.norm(Y, axis=1, keepdims=True)
    for _ in range(sweeps):
        for i in range(n):
            g = C[i] @ Y
            Y[i] = g / np.linalg.norm(g)
    return Y


X = sdpdr.psd("X", n)
convex = sdpdr.solve(sdpdr.maximize(X.inner(C)) + (X.diagonal() == 1).named("unit"))
rank = int(np.sum(convex.spectrum() > 1e-4 * n))
enough = next(r for r in range(1, n) if r * (r + 1) / 2 > n)
print(f"optimum {convex.attained:.6f} of rank {rank}; r (r + 1) / 2 > {n} from r = {enough} on")

# %%
# *What do you expect?* For each number of columns we start ten times at random.

found = {r: [float(np.sum(C * (Y @ Y.T))) for Y in (ascend(r) for _ in range(10))]
         for r in (1, 2, 3, 4, enough)}  # fmt: skip

fig, axis = plt.subplots(figsize=(5.6, 3.4))
for r, several in found.items():
    axis.plot(np.full(len(several), r), several, "o", color="tab:blue", alpha=0.5)
axis.axhline(convex.bound, color="tab:red", linewidth=1, label="proved bound")
axis.set(xlabel="columns", ylabel="value of a local maximum")
axis.legend(frameon=False, loc="lower right")
fig.tight_layout()
for r, several in found.items():
    reached = np.sum(np.array(several) > convex.attained * (1 - 1e-4))
    print(f"r = {r}: {reached:2d} of {len(several)} starts end at the optimum")

# %%
# With fewer columns than the rank of the optimum, the optimum is out of reach, and with one column
# (all :math:`y_i = \pm 1`, a hard problem) the starts end at many different values. With three
# columns and more all of these starts end at the optimum, earlier than the theorem promises. And we
# need not count columns, because the multipliers decide. At a stationary point, :math:`S Y = 0`
# determines them: :math:`\mu_i = |g_i|`.


def gap(Y: np.ndarray) -> float:
    """The distance of a local maximum from the bound of its multipliers, relative to its value."""
    S = np.diag(np.linalg.norm(C @ Y, axis=1)) - C
    value = np.sum(C * (Y @ Y.T))
    # Adding −λ to every multiplier makes S positive semidefinite, and costs n times that.
    return float(-n * min(np.linalg.eigvalsh(S)[0], 0.0) / value)


for r in (1, 2, enough):
    print(f"r = {r}: proved gap {gap(ascend(r, 3000)):.1e}")

# %%
# A small gap proves that the point is optimal. A large gap proves nothing: the point may be bad, or
# only the multipliers. (For the folded path we knew more, because no other multipliers existed.) In
# both cases more columns are the next step.
#
# What the solver does
# --------------------
# The solver ``lowrank`` follows this algorithm, with Newton steps in the place of our ascent. It
# usually begins with enough columns. Here we make it begin with three, on a roll whose optimum
# needs four.

from sdpdr.solvers import LowRank

roll, _ = sdpdr.datasets.swiss_roll(200, seed=0)
narrow = LowRank(options={"rank": 3})
solution = sdpdr.solve(methods.mvu(graphs.knn(roll, n_neighbors=6)), narrow)
columns = [step["rank"] for step in solution.history]
first = next(step for step in solution.history if step["bound"] is not None)
print(solution)
print(f"with {columns[0]} columns: value {first['value']:.0f}, proved bound {first['bound']:.0f}")
print(f"then {max(columns)} columns; rank of the answer {np.sum(solution.spectrum() > 1e-3)}")
history = plot.convergence(solution.history)

# %%
# A triangle in the upper panel is a bound that the multipliers of that step prove. At the first
# triangle the method has converged with three columns, and the bound lies above the value: columns
# are added. At the second one both agree, and the answer is optimal among all ranks.
#
# When is it safe?
# ----------------
# *Always*, in this sense: an answer whose gap is closed is optimal among all ranks, and one whose
# gap is open is marked as such. The algorithm may take long if a program has no optimal X of low
# rank, or if multipliers are not unique and hard to find (lesson 5).

# %%
# Exercises
# ---------
# **Exercise 1.** *10 minutes.* Show that the folded path is *not* a local maximum in the plane, and
# compute the variance when the threads enclose the angle :math:`\alpha`.
#
# .. dropdown:: Hint
#
#    Put the middle point at the origin, and subtract the centre.
#
# .. dropdown:: Solution
#
#    With the middle at the origin the ends are unit vectors a and b, and the variance is
#    :math:`|a|^2 + |b|^2 - |a + b|^2 / 3`, since the centre is :math:`(a + b)/3`. With
#    :math:`|a + b| = 2 \cos(\alpha/2)` it is :math:`2 - \tfrac43 \cos^2(\alpha / 2)`, which grows
#    from :math:`\tfrac23` at zero to 2 at 180 degrees.
#
#    .. code-block:: python
#
#       for alpha in np.linspace(0, np.pi, 9):
#           bent = np.array([[1, 0], [0, 0], [np.cos(alpha), np.sin(alpha)]])
#           spread = np.sum((bent - bent.mean(axis=0)) ** 2)
#           assert np.isclose(spread, 2 - 4 / 3 * np.cos(alpha / 2) ** 2)
#       assert np.all(np.diff(variances) > 0)

# %%
# **Exercise 2.** *10 minutes.* Every stationary Y of the last program with :math:`S \succeq 0` is
# optimal. Prove it in one line, and check it with the best of the local maxima.
#
# .. dropdown:: Hint
#
#    Insert :math:`C = \operatorname{Diag}(\mu) - S` into the objective.
#
# .. dropdown:: Solution
#
#    For feasible Z, :math:`\langle C, Z \rangle = \sum_i \mu_i - \langle S, Z \rangle \le \sum_i
#    \mu_i`, with equality for :math:`Z = Y Y^\top`, as :math:`S Y = 0`.
#
#    .. code-block:: python
#
#       from sdpdr.testing import graded
#
#       best = max((ascend(enough, 3000) for _ in range(2)), key=lambda Y: np.sum(C * (Y @ Y.T)))
#       assert -1e-9 <= gap(best) < 1e-4
#       value = float(np.sum(C * (best @ best.T)))
#       assert value <= convex.bound * (1 + 1e-9)
#       assert np.isclose(value, convex.attained, rtol=1e-4)
#       cut = sdpdr.maximize(X.inner(C)) + (X.diagonal() == 1).named("unit")
#       multipliers = np.linalg.norm(C @ best, axis=1)
#       assert graded(cut, best @ best.T, multipliers + 1e-4).gap < 1e-3

# %%
# **Exercise 3.** *20 minutes.* Leave a local maximum that is not global. Take the worst of some
# local maxima with one column, add a column along the eigenvector of the smallest eigenvalue of S,
# go on from there, and compare.
#
# .. dropdown:: Hint
#
#    Normalise the rows after the new column is added.
#
# .. dropdown:: Solution
#
#    Rows must keep their length, so Y becomes :math:`(y, t u)`, normalised. The value grows in this
#    direction, so the ascent ends higher.
#
#    .. code-block:: python
#
#       low = min((ascend(1) for _ in range(5)), key=lambda Y: np.sum(C * (Y @ Y.T)))
#       S = np.diag((low * (C @ low)).ravel()) - C
#       values, directions = np.linalg.eigh(S)
#       assert values[0] < -1e-6
#       wider = np.hstack([low, 0.01 * directions[:, :1]])
#       wider /= np.linalg.norm(wider, axis=1, keepdims=True)
#       assert np.sum(C * (wider @ wider.T)) > np.sum(C * (low @ low.T))
#       for _ in range(400):
#           for row in range(n):
#               pull = C[row] @ wider
#               wider[row] = pull / np.linalg.norm(pull)
#       assert np.sum(C * (wider @ wider.T)) > 1.001 * np.sum(C * (low @ low.T))

# %%
# **Exercise 4.** *10 minutes.* What does :math:`r (r + 1) / 2 \le m` say about unfolding a path of
# n points? And about a ring? (Centring counts as no equation, after the reduction of lesson 5.)
#
# .. dropdown:: Hint
#
#    Count the edges of both graphs.
#
# .. dropdown:: Solution
#
#    A path has :math:`n - 1` edges, so there is an optimal K of rank at most about
#    :math:`(2n)^{1/2}`; the true rank is one. For the ring the bound is of the same size, and the
#    true rank is two. This bound does not use the graph; [GHW2008]_ has one by its tree-width,
#    which is at most one more than the true rank for both.
#
#    .. code-block:: python
#
#       line = sdpdr.solve(methods.mvu(graphs.path(np.ones(9)))).spectrum()
#       circle = sdpdr.solve(methods.mvu(graphs.cycle(10))).spectrum()
#       assert [int(np.sum(s > 1e-3 * s[0])) for s in (line, circle)] == [1, 2]
#       assert 3 * 4 / 2 <= 9 < 4 * 5 / 2

# %%
# References
# ----------
# The factor is due to [BM2003]_; for unfolding see the Vasiloglou thesis, sections 3.2 and 3.5
# (:doc:`/references`), and :doc:`/methods/ncmvu`. The rank of optimal matrices is [Pat1998]_. That
# enough columns suffice: N. Boumal, V. Voroninski and A. S. Bandeira, "The non-convex
# Burer-Monteiro approach works on smooth semidefinite programs", NIPS 29, 2016. How the package
# uses it: :doc:`/guide/scale`.
