r"""
Lesson 5: What degenerates, and why
===================================

Small programs about which good solvers err in the first digit, and the one reason for it.

**Goals.** After this lesson you can

- find by hand the optimum of a program about which solvers are wrong;
- explain how a residual of a billionth becomes an error of one half;
- recognise a program without interior, and give it one.

**You need** lessons 2 to 4, above all exercise 1 of lesson 2: :math:`K_{ij}^2 \le K_{ii} K_{jj}`.
"""

# %%
# An optimum that there is not
# ----------------------------
# Begin with a harmless case. Two groups of points, and no edge between them. *What do you expect*
# of the unfolding?

import warnings

import cvxpy as cp
import matplotlib.pyplot as plt
import numpy as np

import sdpdr
from sdpdr import errors, graphs, methods, minimize, psd

two, _ = sdpdr.datasets.two_clusters(20)
try:
    graphs.knn(two, n_neighbors=3)
except errors.DisconnectedGraphError as refusal:
    print(refusal)

# %%
# Nothing holds the groups together, so they fly apart for ever: the variance has no maximum. Move
# one group by t and the other by −t, and the value grows like :math:`t^2`, while no thread is
# stretched. Such a direction, along which a program improves without end, is called a **ray**; it
# is a *proof* of unboundedness that can be checked. In the dual the same fact reads: a disconnected
# network has :math:`\lambda_2 = 0` whatever the springs, so no weights prove any bound.
#
# This is simple, because the program says what it does. The next ones do not.
#
# A program that lies
# -------------------
# The unknown is a positive semidefinite matrix of order four.
#
# .. math::
#
#    \min\ & X_{33} + X_{44} \\
#    \text{subject to}\quad & X_{11} = 0, \quad X_{33} + 2 X_{12} = 1, \quad X_{44} = 1, \\
#    & \operatorname{tr} X \le 10^6, \quad X \succeq 0 .
#
# *By hand, before you read on:* what is the optimum? Use :math:`X_{12}^2 \le X_{11} X_{22}`.
#
# A zero on the diagonal makes its row and column vanish, so :math:`X_{12} = 0`. Then
# :math:`X_{33} = 1`, and the optimum is :math:`1 + 1 = 2`. Every feasible matrix has this value.
#
# Now two good solvers, by way of cvxpy:

X = cp.Variable((4, 4), PSD=True)
lie = cp.Problem(
    cp.Minimize(X[2, 2] + X[3, 3]),
    [X[0, 0] == 0, X[2, 2] + 2 * X[0, 1] == 1, X[3, 3] == 1, cp.trace(X) <= 1e6],
)
for solver in ("CLARABEL", "SCS"):
    lie.solve(solver=solver)
    print(f"{solver:9s} says {lie.status}: {lie.value:.6f}")

# %%
# Both say *optimal*, and both are wrong in the first digit. Have they cheated? Look at the matrix,
# and at how well it satisfies the equations:

lie.solve(solver="CLARABEL")
print("X11 =", f"{X.value[0, 0]:.1e}", "  X12 =", f"{X.value[0, 1]:.3f}")
print("X22 =", f"{X.value[1, 1]:.1e}", "  X33 =", f"{X.value[2, 2]:.1e}")
print("largest violation:", f"{max(float(np.max(c.violation())) for c in lie.constraints):.1e}")

# %%
# They have not. All conditions hold to many digits. The entry that should be zero is not quite, and
# that is enough.
#
# A residual is not an error
# --------------------------
# Let :math:`X_{11} = e` instead of zero. Then the inequality allows
#
# .. math:: |X_{12}| \le (e\, X_{22})^{1/2} ,
#
# the *root* of the error, times the root of whatever :math:`X_{22}` may be. With
# :math:`X_{22} = 10^6`, how small has e to be for :math:`X_{12}` to be below a thousandth?

residual = np.logspace(-18, -2, 100)
fig, axis = plt.subplots(figsize=(6, 3.4))
for room in (1, 1e3, 1e6):
    moved = np.minimum(0.5, np.sqrt(residual * room))
    axis.loglog(residual, 2 * moved, label=f"X22 up to {room:.0e}")
axis.loglog(residual, residual, ":", color="gray", label="what one would hope")
axis.axvline(1e-8, color="tab:red", linewidth=0.8)
axis.set(xlabel="residual of X11 = 0", ylabel="error of the optimum")
axis.legend(frameon=False)
fig.tight_layout()

for room in (1, 1e3, 1e6):
    moved = 2 * np.sqrt(1e-8 * room)
    print(f"X22 up to {room:.0e}: a residual of 1e-08 moves the optimum by {moved:.4f}")

# %%
# At the red line, a usual tolerance, the error is small in the best case and large in the worst.
# For :math:`|X_{12}|` to stay below a thousandth there, e has to be :math:`10^{-12}`, since
# :math:`e \cdot 10^6 \le 10^{-6}`: every digit of the optimum costs two of the residual. *The point
# that a solver returns is always a feasible point of a neighbouring program.* In a good program
# neighbours have similar optima. In this one they do not.
#
# The reason
# ----------
# In lesson 3 a condition was mentioned, Slater's: some feasible X is positive *definite*. Here
# every feasible X has a zero on its diagonal. The slice does not meet the interior of the cone, it
# only touches the boundary, and the slightest shift of the slice makes it miss the cone or cut
# right into it. Where Slater's condition fails, for the program or for its dual, each of the
# following may happen.
#
# *No point attains the optimum.* Minimise :math:`X_{11}` subject to :math:`X_{12} = 1`, of order
# two: :math:`X_{11} X_{22} \ge 1` allows every positive number, and not zero. Here the program has
# an interior, and it is the dual that has none. The matrix that a multiplier y leaves is
#
# .. math:: S = C - y A = \begin{pmatrix} 1 & -y/2 \\ -y/2 & 0 \end{pmatrix} ,
#
# and the zero on its diagonal leaves only :math:`y = 0`. (For a minimum the signs of lesson 3 turn
# round: S is C less the sum, and :math:`b^\top y` a bound from below.)
#
# *There is no point, and nothing proves it.* :math:`X_{11} = 0` and :math:`X_{12} = 1`: infeasible,
# and yet there are matrices that miss the equations by as little as you like (exercise 1).
#
# *The two optima differ.* Weak duality always holds, but the best proof may prove less than what is
# true (exercise 2).
#
# A picture says why. Which pairs :math:`(X_{11}, X_{12})` occur in positive semidefinite matrices
# of order two?

fig, axis = plt.subplots(figsize=(4.4, 3.4))
axis.axvspan(0, 2, color="tab:blue", alpha=0.25)
axis.axvline(0, color="tab:blue", linestyle="--")
axis.plot(0, 0, "o", color="tab:blue")
axis.plot(0, 1, "o", color="tab:red", markerfacecolor="white")
axis.annotate("X₁₁ = 0, X₁₂ = 1", (0, 1), xytext=(0.25, 1.2))
axis.set(xlim=(-0.6, 2), ylim=(-1.6, 1.6), xlabel="X₁₁", ylabel="X₁₂")
fig.tight_layout()

# %%
# All with :math:`X_{11} > 0`, and of the line :math:`X_{11} = 0` only the origin. The shadow of the
# cone lacks its edge, though the cone itself has it. A shadow of a *polyhedron* is always complete,
# which is why linear programs know none of this. The red point is not in the shadow, and as near to
# it as you like.
#
# The cure
# --------
# If all feasible matrices have a zero row, drop the row! What remains are matrices of order three,
# and among them positive definite ones: the program has an interior again. More generally, if some
# positive semidefinite matrix V satisfies :math:`\langle V, X \rangle = 0` for all feasible X, then
# :math:`VX = 0` by the fact of lesson 2: every column of X is in the kernel of V. The matrices of
# this kind are a smaller cone, a **face** of the large one, and the step is called *facial
# reduction* [BorweinWolkowicz1981]_. Here V has a single one, at place 11. The centring :math:`K
# \mathbf 1 = 0` of unfolding is of the same kind, with :math:`V = \mathbf 1 \mathbf 1^\top`; there
# the face can be read off the program, and on it Slater's condition holds, as exercise 5 of lesson
# 4 has shown.
#
# sdpdr looks for faces before it calls a solver, and says which it has found.

Z = psd("X", 4)
program = (
    minimize(Z[2, 2] + Z[3, 3])
    + (Z[0, 0] == 0).named("corner")
    + (Z[2, 2] + 2 * Z[0, 1] == 1).named("sum")
    + (Z[3, 3] == 1).named("one")
    + (Z.trace() <= 1e6).named("room")
)
solution = sdpdr.solve(program)
print(solution)
for exposure in solution.exposures:
    print("-", exposure.words)

# %%
# And the program that has no point:

W = psd("W", 2)
nothing = minimize(W[1, 1]) + (W[0, 0] == 0).named("corner") + (W[0, 1] == 1).named("side")
print(sdpdr.solve(nothing).status)

# %%
# The same in unfolding
# ---------------------
# Three points on a line, at 0, 0.3 and 0.7. Prescribe all three distances *exactly*. *What do you
# expect* if the longest is given with a small error?

for long in (0.7, 0.7 - 1e-6, 0.7 + 1e-6):
    triangle = graphs.from_edges(3, [(0, 1), (1, 2), (0, 2)], [0.3**2, 0.4**2, long**2])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", errors.SdpdrWarning)
        exact = sdpdr.solve(methods.mvu(triangle, "equality"))
    loose = sdpdr.solve(methods.mvu(triangle))
    print(f"{long:.6f}   equal: {exact.status.name:15s} at most: {loose.status.name}")

# %%
# If the points are flat, exact distances leave no room at all. A little shorter, and a thin
# triangle has them. A little too long, and no points do. Between the two, ``OPTIMAL_NEARBY`` says
# that what was found is the optimum of a program whose data differ a little: for the data as they
# are, rounded squares, a bound is proved and no point. (With 1, 1 and 2 nothing is rounded. The
# flat matrices are a face whose basis has whole numbers, and on that face the optimum is proved.)
# With *at most* in the place of *equal* all three programs are good, and the point that Slater's
# condition asks for is the one of exercise 5 in lesson 4. This is one reason why inequalities are
# the default here.
#
# There are two more ways to give such a program an interior. Let every squared length change within
# a **band**, by some share of itself either way. Or let it change at a **price**: half a number
# times the square of the change is taken off the variance. Both have room for errors in the data.

from sdpdr.blocks import Band, Slack

for relation in (Band(0.01), Slack(10.0)):
    for long in (0.7, 0.7 - 1e-6, 0.7 + 1e-6):
        triangle = graphs.from_edges(3, [(0, 1), (1, 2), (0, 2)], [0.3**2, 0.4**2, long**2])
        given = sdpdr.solve(methods.mvu(triangle, relation))
        print(f"{type(relation).__name__:6s}{long:.6f}   {given.status.name}  {given.value:.6f}")

# %%
# The statuses agree, and the values differ as little as the data do. What is paid for that is a
# choice: how wide, how dear? Solutions of one roll of 150 points, for every position of a slider:
#
# .. moving:: film choices.json 2
#
#    The unfolding for bands from narrow to wide: the wider the band, the longer the strip.
#
# .. moving:: film choices.json 1
#
#    The unfolding for prices of slack from low to high: far stretched where slack is cheap.
#
# A right answer to a wrong question
# ----------------------------------
# A program may also be good, its answer proved, and the picture wrong all the same. Join each point
# of that roll to more and more neighbours. Some edges now jump from one layer of the roll to the
# next, and a thread across layers is as binding as any other. We count the edges whose ends are
# more than half a turn apart along the sheet.

X, turned = sdpdr.datasets.swiss_roll(150, seed=0, height=10.0)
for k in (4, 5, 6, 10):
    graph = graphs.knn(X, n_neighbors=k)
    jumps = np.sum(np.abs(np.diff(turned[graph.edges], axis=1)) > np.pi)
    unfolded = sdpdr.solve(methods.mvu(graph))
    print(
        f"k = {k:2d}: {jumps:3d} of {graph.m} edges jump; "
        f"{unfolded.status.name}, variance {unfolded.value:.0f}"
    )

# %%
# .. moving:: film choices.json 0
#
#    The unfolding of a roll for each number of neighbours from four to ten: a strip at four, and
#    folded after that.
#
# Two threads of hundreds suffice to hold the roll together. No certificate tells of that. It says
# that the program was solved, and not that it was the right one. Here the variance tells, and the
# eye, and the springs: threads across layers are among the stiffest.

graph = graphs.knn(X, n_neighbors=5)
w = sdpdr.solve(methods.mvu(graph)).dual("isometry")
jump = np.abs(np.diff(turned[graph.edges], axis=1)).ravel() > np.pi
for number in np.flatnonzero(jump):
    print(f"edge {graph.edges[number]}: {np.sum(w > w[number])} of {graph.m} springs are stiffer")

# %%
#
# A gallery
# ---------
# The package has a collection of such programs, each with its exact answer, and a judge who
# compares any answer with it: an *objection* is a claim of the answer that is false.
# :doc:`/guide/gallery_of_lies` shows them all, and what every solver says.

from sdpdr.testing import find_hard_instance

for name in ("hidden-face-1e6", "gap", "weakly", "ladder-2", "beside-large"):
    told = find_hard_instance(name)
    answer = sdpdr.solve(told.build())
    print(f"{name:18s} {told.truth.verdict:11s} {answer.status.name:15s}", end="")
    print("objections:", len(told.truth.contradictions(answer)))

# %%
# Exercises
# ---------
# **Exercise 1.** Find positive semidefinite matrices of order two with :math:`X_{12} = 1` and
# :math:`X_{11}` as small as you like. Why is no proof of infeasibility possible that consists of
# multipliers alone?
#
# .. dropdown:: Solution
#
#    :math:`X_{11} = e` and :math:`X_{22} = 1/e`. Multipliers :math:`y` that prove that the
#    equations have no solution in the cone would be such that :math:`S = y_1 A_1 + y_2 A_2 \succeq
#    0` and :math:`b^\top y < 0`, for then :math:`0 \le \langle S, X \rangle = b^\top y < 0` would
#    contradict itself. But the same line, for the matrix above, says :math:`0 \le \langle S, X
#    \rangle = y_1 e + y_2`, and with e to zero :math:`b^\top y = y_2 \ge 0`.
#
#    .. code-block:: python
#
#       for e in (1e-3, 1e-6, 1e-12):
#           near = np.array([[e, 1.0], [1.0, 1.0 / e]])
#           assert np.linalg.det(near) >= -1e-9
#           assert abs(near[0, 1] - 1.0) == 0.0 and near[0, 0] == e
#       assert sdpdr.solve(nothing).status is sdpdr.Status.INFEASIBLE

# %%
# **Exercise 2.** The program ``gap``: minimise :math:`X_{33}` subject to :math:`X_{11} = 0` and
# :math:`X_{33} + 2 X_{12} = 1`, of order three. Find its optimum, and the best bound that
# multipliers prove. Then find multipliers that violate the condition of the dual by a millionth and
# "prove" 0.999.
#
# .. dropdown:: Solution
#
#    The optimum is 1, as above. For a bound, :math:`S = C - y_1 A_1 - y_2 A_2 \succeq 0` with
#
#    .. math:: S = \begin{pmatrix} -y_1 & -y_2 & 0 \\ -y_2 & 0 & 0 \\ 0 & 0 & 1 - y_2 \end{pmatrix}
#
#    The zero on the diagonal demands :math:`y_2 = 0`, and the bound :math:`b^\top y = y_2` is zero:
#    a gap of one that no multipliers of this dual can close. (On the face of matrices with a zero
#    in that corner the dual is another, without a gap: so the package proves 1 all the same.) With
#    :math:`y_1 = -10^6` and :math:`y_2 = 0.999` the smallest eigenvalue of S is about :math:`-y_2^2
#    / 10^6`.
#
#    .. code-block:: python
#
#       def slack(y_1, y_2):
#           return np.array([[-y_1, -y_2, 0.0], [-y_2, 0.0, 0.0], [0.0, 0.0, 1.0 - y_2]])
#
#       assert np.linalg.eigvalsh(slack(-1e6, 0.999)).min() >= -1e-6
#       assert np.linalg.eigvalsh(slack(-1.0, 0.0)).min() >= 0.0
#       assert find_hard_instance("gap").truth.value == 1
#       assert sdpdr.solve(find_hard_instance("gap").build()).certified(1e-6)

# %%
# **Exercise 3.** Take the ladder :math:`x_1^2 \le x_2,\ x_2^2 \le x_3,\ \dots,\ x_{k-1}^2 \le x_k`,
# and maximise :math:`x_1` subject to :math:`x_k \le 0`. What is the optimum, and what is it if
# :math:`10^{-9}` stands in the place of the zero? What does a solver with that tolerance say, for k
# from 2 to 6?
#
# .. dropdown:: Solution
#
#    Zero; but with :math:`e` it is :math:`e^{1/2^{k-1}}`, which for k = 6 and a billionth is about
#    one half. Each square is a matrix inequality of order two, and each of them takes another root:
#    *k − 1 steps of facial reduction*, and the error is the residual to the power
#    :math:`1 / 2^{k-1}`.
#
#    .. code-block:: python
#
#       def ladder(k, top):
#           x = cp.Variable(k)
#           rungs = [cp.square(x[i]) <= x[i + 1] for i in range(k - 1)]
#           problem = cp.Problem(cp.Maximize(x[0]), [*rungs, x[k - 1] <= top])
#           problem.solve(solver="CLARABEL")
#           return problem.value
#
#       assert abs(1e-9 ** (1 / 2**5) - 0.52) < 0.01
#       assert abs(ladder(2, 0.0)) < 1e-2
#       assert ladder(6, 0.0) > 0.1

# %%
# **Exercise 4.** Show that the smallest change of the data that ruins the program ``lie`` is
# arbitrarily small, and that Slater's condition excludes this: if X is feasible with smallest
# eigenvalue :math:`\lambda > 0`, and :math:`\operatorname{tr} X = b` is the only equation, how far
# may b surely fall before the program becomes infeasible?
#
# .. dropdown:: Solution
#
#    :math:`X_{11} = -e` is infeasible for every positive e. In the other case add multiples of the
#    identity: :math:`X + tI` has trace :math:`b + nt`, and stays positive semidefinite as long as
#    :math:`t \ge -\lambda`. So b may fall by :math:`n \lambda` at least.
#
#    .. code-block:: python
#
#       definite = np.array([[2.0, 1.0], [1.0, 2.0]])
#       least = np.linalg.eigvalsh(definite).min()
#       moved_in = definite - least * np.eye(2)
#       assert np.linalg.eigvalsh(moved_in).min() > -1e-12
#       assert np.isclose(np.trace(moved_in), np.trace(definite) - 2 * least)

# %%
# References
# ----------
# :doc:`/guide/gallery_of_lies` has the mathematics of this lesson with proofs, and all programs.
# The power of the residual is [Sturm2000]_, facial reduction [BorweinWolkowicz1981]_ and [DW2017]_,
# the distance to the nearest bad program [Renegar1995]_. :doc:`/guide/proofs` says how faces
# are found and proved. Among the documents (:doc:`/references`), the Tong thesis argues with
# Slater's condition in section 2.3.4: its program is strictly feasible, so there is no gap.
# Unfolding with *equal* lengths, as it is printed there, may fail the condition: see "When it
# degenerates" in :doc:`/methods/mvu`.
