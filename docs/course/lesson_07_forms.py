r"""
Lesson 7: Forms, and comparing solvers fairly
=============================================

One program written in three forms, and how to measure which of them is fast.

**Goals.** After this lesson you can

- write one semidefinite program in three ways, and count the unknowns of each;
- predict which of them will be fast, before anything is solved;
- compare solvers fairly, and say what a comparison does not show.

**You need** lessons 4 and 6: unfolding, its dual, and certificates.
"""

# %%
# One question, three forms
# -------------------------
# Lesson 4 stated two programs with the same optimum, and mentioned the points themselves as
# unknowns. These are three ways to put one question to a solver. We take fifty points of the roll.
#
# Numerical libraries start several threads, and then processor time counts all of them. For a fair
# measurement every solver gets one thread, which the first cell sets.

import time

import matplotlib.pyplot as plt
import numpy as np
from threadpoolctl import threadpool_limits

import sdpdr
from sdpdr import graphs, methods, plot
from sdpdr.program.backward import backward_error
from sdpdr.reduce import Composed
from sdpdr.solvers import Clarabel, LowRank, Scs

one_thread = threadpool_limits(1)


def roll(n: int) -> graphs.NeighborGraph:
    """Graph of n points on the swiss roll, each joined to its four nearest."""
    X, _ = sdpdr.datasets.swiss_roll(n, seed=0)
    return graphs.knn(X, n_neighbors=4)


graph = roll(50)
model = methods.mvu(graph)
print(f"{graph.n} points, {graph.m} edges")

# %%
# **Gram form.** The unknown is the matrix K, as we wrote it.
#
# **Multiplier form** (LMI, for *linear matrix inequality*). The unknowns are the weights w, and a
# matrix that depends linearly on them has to be positive semidefinite. The Gram matrix comes out as
# the multiplier of that inequality.
#
# **Factor form.** The unknown is Y itself, with few columns: :math:`K = Y Y^\top`. This is no
# longer convex; lesson 8 says why it is safe all the same.
#
# *What do you expect?* With n points, m edges and r columns, how many unknowns does each form have?
# Which of the numbers grows like the square of n?

for n, r in ((50, 3), (1000, 3)):
    m = roll(n).m
    print(f"n = {n:5d}   Gram {n * (n + 1) // 2:8,d}   weights {m:6,d}   factor {n * r:6,d}")

# %%
# The number of unknowns is not yet the time. An *interior-point method* (Clarabel, MOSEK, SDPA)
# goes to the optimum through the interior of the cone, in few large steps, and solves a linear
# system in each. (A *first-order method*, such as SCS, takes many small and cheap steps instead.)
# In the Gram form the system may have all :math:`n^2/2` entries of K as unknowns, and elimination
# costs the *cube* of their number unless it is sparse. In the multiplier form the system has order
# m, with
# :math:`m \approx 2.5\,n` here, and the cost is about :math:`m^3 + n^3`. In the factor form the
# matrix is as sparse as the graph, and its elimination costs little more than n itself.
#
# As powers of n: *do you expect* sixth, third, first? We measure.


def solved(n: int, solver: str, form: str) -> tuple[float, float]:
    """CPU seconds of a whole solve with its certificate, the median of three, and the gap."""
    spent = []
    for _ in range(3):
        program = methods.mvu(roll(n))
        begin = time.process_time()
        answer = sdpdr.solve(program, solver, form)
        spent.append(time.process_time() - begin)
    return float(np.median(spent)), answer.gap


solved(10, "clarabel", "gram"), solved(10, "lowrank", "factor")  # imports do not count
sizes = {
    ("clarabel", "gram"): [20, 30, 40],
    ("clarabel", "lmi"): [20, 40, 80],
    ("lowrank", "factor"): [20, 40, 100, 400, 1600],
}
times, gaps = {}, []
for pair, several in sizes.items():
    pairs = [solved(n, *pair) for n in several]
    times[pair] = [spent for spent, _ in pairs]
    gaps += [gap for _, gap in pairs]

fig, axis = plt.subplots(figsize=(5.8, 3.8))
for pair, several in sizes.items():
    axis.loglog(several, times[pair], "o-", label=", ".join(pair))
axis.set(xlabel="points", ylabel="CPU seconds")
axis.set_xticks([20, 40, 100, 400, 1600], ["20", "40", "100", "400", "1600"])
axis.minorticks_off()
axis.legend(frameon=False)
fig.tight_layout()
print(f"largest gap that is left: {max(gaps):.0e}")

# %%
# No answer has a larger gap than that, so the curves may be compared. The slope through the last
# three points, in logarithms, is the power of n:

for pair, several in sizes.items():
    power = np.polyfit(np.log(several[-3:]), np.log(times[pair][-3:]), 1)[0]
    print(f"{', '.join(pair):17s} grows like n to the {power:.1f}")
at_40 = [times[pair][several.index(40)] for pair, several in sizes.items()]
print(f"at 40 points: {at_40[0]:.2f}, {at_40[1]:.2f} and {at_40[2]:.2f} seconds")

# %%
# The order is as expected. The powers need not be those that were counted: at these sizes part of
# the time passes before the first step, and the number of steps changes from one program to the
# next. Do not extend the lines. A power that is measured between twenty points and forty says
# little about a thousand; ``make bench`` measures larger programs, and ``benchmarks/RESULTS.md``
# has the table.
#
# **The choice of form can matter more than the choice of solver.** ``sdpdr.plan`` makes it before
# anything is solved, and gives its reasons:

print(sdpdr.plan(model).explain().split("\n\n")[0])

# %%
# A race
# ------
# Three solvers, each in its form, on one unfolding of sixty points. Each is stopped after more and
# more steps. ``sdpdr.solve`` would repair every answer before it is graded, and then all would look
# alike. So here the solver runs alone, and its answer is measured **as it is**: by how much its
# value differs from the optimum, or by how much it misses a constraint, both relative; the larger
# counts. (``plan`` holds the solver and the reductions of the program, which lift the answer back.)


def claim(program: sdpdr.Model, solver, form: str, optimum: float) -> tuple[float, float]:
    """CPU seconds of a solver alone, and the error of its answer as it is."""
    plan = sdpdr.plan(program, solver, form)
    reduced = Composed(plan.reductions).apply(plan.sdp)
    begin = time.process_time()
    outcome = plan.solver.run(reduced.sdp)
    spent = time.process_time() - begin
    values = reduced.lift(outcome.point).values
    value = plan.sdp.report(plan.sdp.primal_value(values))
    return spent, max(abs(value / optimum - 1.0), backward_error(plan.sdp, values))


sixty = methods.mvu(roll(60))
optimum = sdpdr.solve(sixty, tol=1e-9).bound
stops = {
    LowRank: ("factor", [1, 2, 4, 8, 12, 16, 20]),
    Clarabel: ("lmi", [1, 5, 10, 15, 20, 25, 30]),
    Scs: ("lmi", [1, 10, 100, 500, 1000]),
}

fig, axis = plt.subplots(figsize=(5.8, 3.8))
for kind, (form, steps) in stops.items():
    seconds, errors = zip(
        *(claim(sixty, kind(max_iter=k), form, optimum) for k in steps), strict=True
    )
    axis.loglog(seconds, errors, "o-", label=f"{kind.__name__}, {form}")
    end = f"{seconds[-1]:.2f} s, error {errors[-1]:.0e}"
    print(f"{kind.__name__:8s} after {steps[-1]:4d} steps: {end}")
axis.set(xlabel="CPU seconds of the solver", ylabel="error of the answer")
axis.legend(frameon=False)
fig.tight_layout()

# %%
# *What do you expect* of a value that is better than the optimum? It belongs to a point that is not
# feasible, and so the error counts both. The picture shows how these solvers differ on one program.
# It is no benchmark, as the next part explains.
#
# What goes wrong in comparisons
# ------------------------------
# Suppose you want to know which solver is the fastest for your kind of program. Solve a few with
# each, and take the times. *What could be unfair?*
#
# *They stop at different accuracies.* A tolerance means something else to every solver. Here are
# two with the same tolerance, and the errors of their answers:

small = methods.mvu(roll(12))
truth = sdpdr.solve(small, tol=1e-9).bound
for tol in (1e-2, 1e-4, 1e-6):
    by_scs = claim(small, Scs(tol=tol, max_iter=5_000), "lmi", truth)[1]
    by_clarabel = claim(small, Clarabel(tol=tol), "lmi", truth)[1]
    print(f"tolerance {tol:.0e}: SCS is off by {by_scs:.0e}, Clarabel by {by_clarabel:.0e}")

# %%
# So measure every answer by the same rule, on the same program, *after* the solver is done: the
# error of the answer as it is, or the proved gap of lesson 6. Say which of the two. The gap of a
# solution of ``sdpdr.solve`` is the merit of the solver and of the repair together.
#
# *They do not do the same work.* Count the whole call: writing the program, reductions, the solve,
# the proof. Use one thread for all, and CPU seconds if others use the machine.
#
# *Failures are left out.* A solver that gives up on the hard programs has a good average on the
# others. Count a failure as infinitely slow.
#
# *One program is not a kind of program.* Take several, chosen before you know the outcome.
#
# A performance profile
# ---------------------
# One picture does all of this [DM2002]_. For each instance divide every time by the fastest one.
# For a factor f, draw the share of instances that a contestant solves within f times the fastest.
# At the left is how often it wins; at the right how often it solves at all. Here an instance counts
# as solved if the error of the answer, as it is, is below :math:`10^{-4}`.

instances = [methods.mvu(roll(n)) for n in (15, 20, 25)]
instances += [methods.mvu(graphs.cycle(n)) for n in (12, 24)]
optima = [sdpdr.solve(instance).bound for instance in instances]
few = 2_000  # iterations of SCS
contestants = {
    "LowRank, factor": (LowRank(), "factor"),
    "Clarabel, lmi": (Clarabel(), "lmi"),
    "Clarabel, gram": (Clarabel(), "gram"),
    "SCS, gram": (Scs(max_iter=few), "gram"),
}
table = np.full((len(instances), len(contestants)), np.inf)
for row, (instance, best) in enumerate(zip(instances, optima, strict=True)):
    for column, (solver, form) in enumerate(contestants.values()):
        spent, error = claim(instance, solver, form, best)
        if error < 1e-4:
            table[row, column] = spent

factors = table / table.min(axis=1, keepdims=True)
edge = 1.5 * factors[np.isfinite(factors)].max()  # where all curves end
curves = {}
for name, column in zip(contestants, factors.T, strict=True):
    reached = np.sort(column[np.isfinite(column)])
    shares = np.arange(1, len(reached) + 1) / len(instances)
    # From zero, and on to the right edge.
    curves[name] = np.r_[1.0, reached, edge], np.r_[0.0, shares, shares[-1:]]
    print(f"{name:15s} solved {len(reached)} of {len(instances)}")
profile = plot.performance_profile(curves)
profile.axes[0].set_xlabel("times the fastest")

# %%
# SCS was given 2,000 iterations. That is a decision, and a report has to state it: with more SCS
# solves more, and takes longer. :doc:`/studies/index` makes such pictures of all solvers on the
# whole problem library, where the instances were fixed beforehand and every answer is graded in the
# same way.

# %%
# Exercises
# ---------
# **Exercise 1.** *20 minutes.* Write the multiplier form by hand in the language of lesson 3: one
# scalar :math:`w_{ij} \ge 0` for each edge, and :math:`V^\top L(w) V \succeq I`, where the columns
# of V are an orthonormal basis of the vectors that sum to zero. Find K in the answer. (For a list
# of matrices of one order, ``w @ matrices`` is the sum of :math:`w_e` times matrix e. The function
# ``graph.laplacian`` takes numbers only: L(w) is this sum for the Laplacians of single edges.)
#
# .. dropdown:: Hint
#
#    The columns of V come from a QR factorization of a matrix whose first column is constant.
#
# .. dropdown:: Solution
#
#    V removes the direction :math:`\mathbf 1`, in which every Laplacian vanishes. The multiplier
#    M of the inequality is positive semidefinite of order :math:`n - 1`, and
#    :math:`K = V M V^\top` is the unfolding: complementarity is
#    :math:`(V^\top L V - I) M = 0`.
#
#    .. code-block:: python
#
#       ring = graphs.cycle(6)
#       V = np.linalg.qr(np.column_stack([np.ones(6), np.eye(6)[:, :5]]))[0][:, 1:]
#       w = sdpdr.scalar("w", ring.m, nonnegative=True)
#       springs = [ring.laplacian(unit).toarray() for unit in np.eye(ring.m)]
#       pieces = [V.T @ spring @ V for spring in springs]
#       stiff = sdpdr.minimize(w.sum()) + (w @ pieces >> np.eye(5)).named("stiff")
#       found = sdpdr.solve(stiff)
#       assert np.isclose(found.value, sdpdr.solve(methods.mvu(ring)).value, rtol=1e-5)
#       K = V @ found.dual("stiff") @ V.T
#       lengths = [K[a, a] + K[b, b] - 2 * K[a, b] for a, b in ring.edges]
#       assert np.allclose(lengths, 1.0, atol=1e-3)

# %%
# **Exercise 2.** *10 minutes.* On a graph with few edges the multiplier form is smaller by far.
# Count the unknowns of both forms for a *complete* graph, and measure both with Clarabel for 8, 15
# and 20 points of your choice. Does the multiplier form keep its advantage?
#
# .. dropdown:: Hint
#
#    Count edges and entries, then use ``time.process_time`` as in the lesson.
#
# .. dropdown:: Solution
#
#    A complete graph has :math:`n (n - 1) / 2` edges, so there are nearly as many weights as K has
#    entries, :math:`n (n + 1) / 2`, and the times are about the same. (All distances are known
#    then, and lesson 1 needs no optimisation.)
#
#    .. code-block:: python
#
#       for order in (8, 15, 20):
#           points = np.random.default_rng(0).standard_normal((order, 3))
#           everything = graphs.complete(points)
#           assert everything.m == order * (order - 1) // 2
#           centred = points - points.mean(axis=0)
#           for written in ("gram", "lmi"):
#               begin = time.process_time()
#               answer = sdpdr.solve(methods.mvu(everything), "clarabel", written)
#               print(f"{order} points, {written}: {time.process_time() - begin:.2f} s")
#               assert np.isclose(answer.value, np.sum(centred**2), rtol=1e-5)

# %%
# **Exercise 3.** *10 minutes.* Solver A takes 1 and 100 seconds on two programs, solver B takes 10
# and 10. Which is faster? Compute the mean of the times, the mean of the ratios A to B and B to A,
# and the geometric mean. Which of these would you report?
#
# .. dropdown:: Hint
#
#    Compute all three by hand.
#
# .. dropdown:: Solution
#
#    By mean time B is faster. By the mean ratio, *each is five times slower than the other*: means
#    of ratios depend on which solver is in the denominator. The geometric mean says that they are
#    equal, whichever way it is taken. None of these shows that A wins one and loses one by a factor
#    of ten each. A profile does.
#
#    .. code-block:: python
#
#       A, B = np.array([1.0, 100.0]), np.array([10.0, 10.0])
#       assert A.mean() > B.mean()
#       assert np.mean(A / B) == np.mean(B / A) == 5.05
#       assert np.isclose(np.exp(np.mean(np.log(A / B))), 1.0)

# %%
# **Exercise 4.** *10 minutes.* Show that the share at the left end of a profile depends on the
# other contestants: find times with which A beats B when only the two compete, and wins less often
# than B when C joins.
#
# .. dropdown:: Hint
#
#    Let C be the fastest where A was.
#
# .. dropdown:: Solution
#
#    C takes wins away from A and none from B. So read the left end as "how often the fastest of
#    these", and compare two contestants in a profile of the two [GS2016]_.
#
#    .. code-block:: python
#
#       A, B, C = np.array([[1.0, 1, 1, 9, 9], [2.0, 2, 2, 1, 1], [0.5, 0.5, 0.5, 9, 9]])
#       assert np.sum(A < B) > np.sum(B < A)
#       fastest = np.argmin([A, B, C], axis=0)
#       assert np.sum(fastest == 0) < np.sum(fastest == 1)

# %%
# References
# ----------
# Forms, and how they are chosen: :ref:`forms` and :doc:`/guide/solvers`; how far they go:
# :doc:`/guide/scale`. The cost of interior-point methods for unfolding, often quoted as
# :math:`O(n^3 + m^3)`, is discussed in :doc:`/methods/mvu`; see the Vasiloglou thesis, section 3.2,
# for the factor form (:doc:`/references`). Profiles are due to [DM2002]_; their pitfalls are in
# [GS2016]_. What a study measures: :doc:`/guide/measures`.
