r"""
Lesson 5: What degenerates, and why
===================================

Small programs about which good solvers err in the first digit, and the one reason for it.

**Goals.** After this lesson you can

- find by hand the optimum of a program about which solvers are wrong;
- explain how a residual of a ten-millionth becomes an error of one;
- recognise a program without interior, and give it one.

**You need** lessons 2 to 4, above all exercise 1 of lesson 2: :math:`K_{ij}^2 \le K_{ii} K_{jj}`.
"""

# %%
# No optimum at all
# -----------------
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
# Nothing holds the groups together, so the variance has no maximum. Move one group by t and the
# other by −t, and the value grows like :math:`t^2`, while no thread is stretched. A direction along
# which a program improves without end is called a **ray**, and it is a *proof* of unboundedness
# that can be checked. In the dual the same fact reads: a disconnected network has
# :math:`\lambda_2 = 0` whatever the springs, so no weights prove any bound.
#
# This case is easy, because the package sees it before it solves. The next ones are harder to see.
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
# Now two good solvers, called through cvxpy:

X = cp.Variable((4, 4), PSD=True)
lie = cp.Problem(
    cp.Minimize(X[2, 2] + X[3, 3]),
    [X[0, 0] == 0, X[2, 2] + 2 * X[0, 1] == 1, X[3, 3] == 1, cp.trace(X) <= 1e6],
)
for solver in ("CLARABEL", "SCS"):
    lie.solve(solver=solver)
    print(f"{solver:9s} says {lie.status}: {lie.value:.6f}")

# %%
# Both say *optimal*, and both values are wrong in the first digit. Look at Clarabel's matrix, and
# at how well it satisfies the conditions. (``PSD=True`` belongs to the variable and is no member of
# ``lie.constraints``, so we compute the smallest eigenvalue ourselves.)

lie.solve(solver="CLARABEL")
missed = max(float(np.max(c.violation())) for c in lie.constraints)
below = -float(np.linalg.eigvalsh(X.value)[0])
print(f"X11 = {X.value[0, 0]:.1e}   X12 = {X.value[0, 1]:.3f}   X22 = {X.value[1, 1]:.1e}")
print(f"largest violation of a constraint: {missed:.1e}")
print(f"smallest eigenvalue:              {-below:.1e}")

# %%
# No condition is missed by much more than :math:`10^{-7}`. But the entry :math:`X_{11}` that should
# be zero is not quite zero, the matrix is not quite positive semidefinite, and that is enough.
#
# A residual is not an error
# --------------------------
# Let :math:`\delta` be the amount by which the smallest eigenvalue lies below zero. Then
# :math:`X + \delta I` is positive semidefinite, and the inequality of lesson 2 holds for it:
#
# .. math:: |X_{12}| \le \bigl( (X_{11} + \delta) (X_{22} + \delta) \bigr)^{1/2} .

allowed = np.sqrt((X.value[0, 0] + below) * (X.value[1, 1] + below))
print(f"X12 may be as large as {allowed:.3f}")

# %%
# This is the one half that the solver uses. With :math:`e = X_{11} + \delta` for both residuals
# together, :math:`X_{12}` may have the size :math:`(e X_{22})^{1/2}`: the *square root* of the
# residual, times the square root of :math:`X_{22}`. With :math:`X_{22} = 10^6`, how small does e
# have to be for :math:`X_{12}` to stay below a thousandth?

residual = np.logspace(-18, -2, 100)
fig, axis = plt.subplots(figsize=(6, 3.4))
for room in (1, 1e3, 1e6):
    moved = np.minimum(0.5, np.sqrt(residual * room))
    axis.loglog(residual, 2 * moved, label=f"X22 up to {room:,.0f}")
axis.loglog(residual, residual, ":", color="gray", label="what one would hope")
axis.axvline(1e-8, color="tab:red", linewidth=0.8)
axis.set(xlabel="residual e", ylabel="error of the optimum", ylim=(1e-10, 3))
axis.legend(frameon=False)
fig.tight_layout()

for room in (1, 1e3, 1e6):
    moved = 2 * np.sqrt(1e-8 * room)
    print(f"X22 up to {room:9,.0f}: a residual of 1e-08 moves the optimum by {moved:.4f}")

# %%
# The red line is a usual tolerance. There the error is 0.0002 where :math:`X_{22}` is at most one,
# and 0.2 where it may be a million. For :math:`|X_{12}|` to stay below a thousandth in the last
# case e has to be :math:`10^{-12}`, since :math:`e \cdot 10^6 \le 10^{-6}`: every digit of the
# optimum costs two of the residual. *The point that a solver returns is always a feasible point of
# a neighbouring program.* In a good program neighbours have similar optima. In this one they do
# not.
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
# two: :math:`X_{11} X_{22} \ge 1` allows every positive value of :math:`X_{11}` and excludes zero.
# Here the program has an interior, and the dual has none. With the signs of lesson 3 for a minimum,
# a multiplier y gives the slack matrix
#
# .. math:: S = C + y A = \begin{pmatrix} 1 & y/2 \\ y/2 & 0 \end{pmatrix} ,
#
# and the zero on its diagonal leaves only :math:`y = 0`.
#
# *There is no point, and no multipliers prove it.* :math:`X_{11} = 0` and :math:`X_{12} = 1`:
# infeasible, and yet some matrices miss the equations by as little as you like (exercise 1).
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
# All pairs with :math:`X_{11} > 0` occur, and on the line :math:`X_{11} = 0` only the origin does.
# The shadow (the projection) of the cone lacks its edge, although the cone itself is closed. The
# shadow of a *polyhedron* is always closed, so linear programs have none of these troubles. The red
# point is not in the shadow, and it is as near to it as you like.
#
# The cure
# --------
# If all feasible matrices have a zero row, drop the row and its column! Matrices of order three
# remain, and some feasible ones among them are positive definite: the program has an interior
# again. More generally, if some positive semidefinite matrix V satisfies
# :math:`\langle V, X \rangle = 0` for all feasible X, then :math:`VX = 0` by the fact of lesson 2:
# every column of X is in the kernel of V. The matrices of this kind are a smaller cone, a **face**
# of the large one, and the step is called *facial reduction* [BorweinWolkowicz1981]_.
#
# *How does one find V?* Among the combinations of the equations. For every feasible X,
# :math:`\langle \sum_i y_i A_i, X \rangle = b^\top y`. So look for y with
# :math:`b^\top y = 0` and :math:`V = \sum_i y_i A_i \succeq 0`, not zero. That is a small
# semidefinite program of its own, and often it can be solved by looking: here the first equation
# alone says :math:`X_{11} = 0`, so V has a single one, at row and column 1. The centring :math:`K
# \mathbf 1 = 0` of unfolding is of the same kind, with :math:`V = \mathbf 1 \mathbf 1^\top`, and on
# that face Slater's condition holds, as exercise 5 of lesson 4 has shown.
#
# sdpdr looks for faces before it calls a solver. ``solution.exposures`` lists those that it found.
# (Python counts from zero, so :math:`X_{11}` is ``Z[0, 0]``.)

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
# It proves 2. And the program that has no point:

W = psd("W", 2)
nothing = minimize(W[1, 1]) + (W[0, 0] == 0).named("corner") + (W[0, 1] == 1).named("side")
print(sdpdr.solve(nothing).status)

# %%
# The same in unfolding
# ---------------------
# Three points on a line, at 0, 0.3 and 0.7. Prescribe all three distances *exactly*: the second
# argument ``"equality"`` of ``methods.mvu`` puts = in the place of ≤. *What do you expect* if the
# longest distance is given with a small error?

for long in (0.7, 0.7 - 1e-6, 0.7 + 1e-6):
    triangle = graphs.from_edges(3, [(0, 1), (1, 2), (0, 2)], [0.3**2, 0.4**2, long**2])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", errors.SdpdrWarning)
        exact = sdpdr.solve(methods.mvu(triangle, "equality"))
    loose = sdpdr.solve(methods.mvu(triangle))
    print(f"{long:.6f}   =: {exact.status.name:15s} ≤: {loose.status.name}")

# %%
# If the points lie on a line, exact distances leave no room at all. If the longest distance is a
# little shorter, a thin triangle has all three. If it is a little longer, no points have them.
# Between the two, ``OPTIMAL_NEARBY`` says that the answer is optimal for a program whose data
# differ a little: for the data as they are stored, rounded squares, a bound is proved and no
# feasible point. (With 1, 1 and 2 nothing is rounded. The flat matrices are a face whose basis has
# whole numbers, and on that face the optimum is proved.) With *at most* in the place of *equal* all
# three programs have an interior: the point that Slater's condition asks for is the one of exercise
# 5 in lesson 4. This is one reason why inequalities are the default here.
#
# There are two more ways to give such a program an interior. ``Band(0.01)`` lets every squared
# length change by one per cent either way. ``Slack(10)`` lets it change by any amount, and
# subtracts a **penalty** from the variance: 10/2 times the square of the change. Both leave room
# for errors in the data.

from sdpdr.blocks import Band, Slack

for relation in (Band(0.01), Slack(10.0)):
    for long in (0.7, 0.7 - 1e-6, 0.7 + 1e-6):
        triangle = graphs.from_edges(3, [(0, 1), (1, 2), (0, 2)], [0.3**2, 0.4**2, long**2])
        given = sdpdr.solve(methods.mvu(triangle, relation))
        print(f"{type(relation).__name__:6s}{long:.6f}   {given.status.name}  {given.value:.6f}")

# %%
# All are solved, and the values differ as little as the data do. Each adds a parameter to choose:
# the width of the band, or the penalty. Solutions of one roll of 150 points, for every position of
# a slider:
#
# .. moving:: film choices.json 2
#
#    The unfolding for bands from narrow to wide: the wider the band, the longer the strip.
#
# .. moving:: film choices.json 1
#
#    The unfolding for penalties from low to high: far stretched where the penalty is low.
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
# Two threads out of 456 hold the roll together: with them the variance is less than a fifth. No
# certificate shows that. A certificate says that the program was solved, and not that it was the
# right one. Here the variance shows it, and the picture, and the springs: threads across layers are
# among the stiffest.

graph = graphs.knn(X, n_neighbors=5)
w = sdpdr.solve(methods.mvu(graph)).dual("isometry")
jump = np.abs(np.diff(turned[graph.edges], axis=1)).ravel() > np.pi
for number in np.flatnonzero(jump):
    print(f"edge {graph.edges[number]}: {np.sum(w > w[number])} of {graph.m} springs are stiffer")

# %%
# A gallery
# ---------
# The package has a collection of such programs, each with its exact answer.
# ``truth.contradictions(answer)`` lists the claims of an answer that are false.
# :doc:`/guide/gallery_of_lies` shows all programs, and the answer of every solver.

from sdpdr.testing import find_hard_instance

for name in ("hidden-face-1e6", "gap", "weakly", "ladder-2", "beside-large"):
    hard = find_hard_instance(name)
    answer = sdpdr.solve(hard.build())
    false = len(hard.truth.contradictions(answer))
    print(f"{name:18s} {hard.truth.verdict:11s} {answer.status.name:15s} false claims: {false}")

# %%
# No claim is false. ``INACCURATE`` is an admission: value and bound are proved, or one of them is,
# and they do not meet.

# %%
# Exercises
# ---------
# **Exercise 1.** *10 minutes.* Find positive semidefinite matrices of order two with :math:`X_{12}
# = 1` and :math:`X_{11}` as small as you like. Why can multipliers alone not prove that the program
# ``nothing`` is infeasible?
#
# .. dropdown:: Hint
#
#    Make :math:`X_{22}` as large as the inequality of lesson 2 requires.
#
# .. dropdown:: Solution
#
#    :math:`X_{11} = e` and :math:`X_{22} = 1/e`. Multipliers y prove infeasibility if
#    :math:`S = y_1 A_1 + y_2 A_2 \succeq 0` and :math:`b^\top y < 0`, for then a feasible X would
#    give the contradiction :math:`0 \le \langle S, X \rangle = b^\top y < 0`. But the matrix above
#    gives :math:`0 \le \langle S, X \rangle = y_1 e + y_2` for every such S, and as e tends to zero
#    :math:`b^\top y = y_2 \ge 0`.
#
#    .. code-block:: python
#
#       for e in (1e-3, 1e-6, 1e-12):
#           near = np.array([[e, 1.0], [1.0, 1.0 / e]])
#           assert np.linalg.det(near) >= -1e-9
#           assert abs(near[0, 1] - 1.0) == 0.0 and near[0, 0] == e
#       assert sdpdr.solve(nothing).status is sdpdr.Status.INFEASIBLE

# %%
# **Exercise 2.** *20 minutes.* The program ``gap``: minimise :math:`X_{33}` subject to
# :math:`X_{11} = 0` and :math:`X_{33} + 2 X_{12} = 1`, of order three. Find its optimum, and the
# best bound that multipliers prove. Then find multipliers that violate the condition of the dual by
# a millionth and "prove" 0.999.
#
# .. dropdown:: Hint
#
#    Write S out. Which entry on its diagonal cannot be changed?
#
# .. dropdown:: Solution
#
#    The optimum is 1, as above. For a bound, :math:`S = C + y_1 A_1 + y_2 A_2 \succeq 0` with
#
#    .. math:: S = \begin{pmatrix} y_1 & y_2 & 0 \\ y_2 & 0 & 0 \\ 0 & 0 & 1 + y_2 \end{pmatrix}
#
#    The zero on the diagonal demands :math:`y_2 = 0`, and the bound :math:`-b^\top y = -y_2` is
#    zero: a gap of one that no multipliers of this dual can close. (On the face of matrices with a
#    zero in that corner the dual is another program, without a gap, so the package proves 1.) With
#    :math:`y_1 = 10^6` and :math:`y_2 = -0.999` the smallest eigenvalue of S is about
#    :math:`-y_2^2 / 10^6`, a millionth below zero. ``graded`` is not taken in.
#
#    .. code-block:: python
#
#       from sdpdr.testing import graded
#
#       def slack(y_1, y_2):
#           return np.array([[y_1, y_2, 0.0], [y_2, 0.0, 0.0], [0.0, 0.0, 1.0 + y_2]])
#
#       assert -1e-6 <= np.linalg.eigvalsh(slack(1e6, -0.999)).min() < 0.0
#       U = psd("U", 3)
#       gap = minimize(U[2, 2]) + (U[0, 0] == 0).named("corner")
#       gap = gap + (U[2, 2] + 2 * U[0, 1] == 1).named("sum")
#       point = np.diag([0.0, 0.0, 1.0])
#       honest = graded(gap, point, {"corner": [1.0], "sum": [0.0]})
#       assert honest.attained == 1.0 and abs(honest.bound) < 1e-9
#       assert graded(gap, point, {"corner": [1e6], "sum": [-0.999]}).bound is None
#       assert sdpdr.solve(gap).certified(1e-6)

# %%
# **Exercise 3.** *10 minutes.* Take the ladder :math:`x_1^2 \le x_2,\ x_2^2 \le x_3,\ \dots,\
# x_{k-1}^2 \le x_k`, and maximise :math:`x_1` subject to :math:`x_k \le 0`. What is the optimum,
# and what is it if :math:`10^{-9}` stands in the place of the zero? What does Clarabel answer for k
# = 2 and k = 6?
#
# .. dropdown:: Hint
#
#    Follow the inequalities from the last one to the first.
#
# .. dropdown:: Solution
#
#    Zero; but with :math:`e` it is :math:`e^{1/2^{k-1}}`, which for k = 6 and a billionth is about
#    one half. Each square is a matrix inequality of order two, and each takes another square root:
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
# **Exercise 4.** *10 minutes.* Show that an arbitrarily small change of the data makes the program
# ``lie`` infeasible, and that Slater's condition excludes this: if X is feasible with smallest
# eigenvalue :math:`\lambda > 0`, and :math:`\operatorname{tr} X = b` is the only equation, by how
# much may b fall before the program becomes infeasible?
#
# .. dropdown:: Hint
#
#    Add a multiple of the identity to X.
#
# .. dropdown:: Solution
#
#    :math:`X_{11} = -e` is infeasible for every positive e. In the other case add multiples of the
#    identity: :math:`X + tI` has trace :math:`b + nt`, and stays positive semidefinite as long as
#    :math:`t \ge -\lambda`. So b may fall by at least :math:`n \lambda`.
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
# The power of the residual is treated in [Sturm2000]_, facial reduction in [BorweinWolkowicz1981]_
# and [DW2017]_, the distance to the nearest bad program in [Renegar1995]_. :doc:`/guide/proofs`
# says how faces are found and proved. Among the documents (:doc:`/references`), the Tong thesis
# argues with Slater's condition in section 2.3.4: its program is strictly feasible, so there is no
# gap. Unfolding with *equal* lengths, as it is printed there, may fail the condition: see "When it
# degenerates" in :doc:`/methods/mvu`.
