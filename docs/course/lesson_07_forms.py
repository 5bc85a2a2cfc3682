r"""
Lesson 7: Forms, and comparing solvers fairly
=============================================

One program in three dresses, a factor of a thousand between them, and how to measure it.

**Goals.** After this lesson you can

- write one semidefinite program in three ways, and count the unknowns of each;
- predict which of them will be fast, before anything is solved;
- compare solvers such that nobody can complain.

**You need** lessons 4 and 6: unfolding, its dual, and certificates.
"""

# %%
# The same answer, three questions
# --------------------------------
# Lesson 4 stated two programs with the same optimum, and mentioned the points themselves as
# unknowns. These are three ways to put one question to a solver. We take fifty points of the roll.

import time

import matplotlib.pyplot as plt
import numpy as np

import sdpdr
from sdpdr import graphs, methods, plot


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
# *What do you expect?* With n points, m edges and r columns, how many unknowns has each? Which of
# them grow like the square of n?

for n, r in ((50, 3), (1000, 3)):
    m = roll(n).m
    print(f"n = {n:5d}   Gram {n * (n + 1) // 2:8,d}   weights {m:6,d}   factor {n * r:6,d}")

# %%
# Unknowns are not yet time. An *interior-point method* (Clarabel, MOSEK, SDPA) goes to the optimum
# through the inside of the cone, in few large steps, and solves a linear system for each. (A method
# of *first order*, SCS for one, takes many small and cheap steps instead.) Written for the Gram
# form, the system may carry all :math:`n^2/2` entries of K as unknowns, and elimination costs the
# *cube* of their number unless it is sparse. In the multiplier form the system has order m, with
# :math:`m \approx 2.5\,n` here, and the cost is :math:`m^3 + n^3` or so. In the factor form the
# matrix is as sparse as the graph, and its elimination costs little more than n itself.
#
# Written as powers of n, *what do you expect*: sixth, third, first? We measure.


def solved(n: int, solver: str, form: str) -> tuple[float, float]:
    """Processor time of a whole solve with its certificate, and the gap that is proved."""
    program = methods.mvu(roll(n))
    begin = time.process_time()
    answer = sdpdr.solve(program, solver, form)
    return time.process_time() - begin, answer.gap


solved(10, "clarabel", "gram"), solved(10, "lowrank", "factor")  # imports do not count
sizes = {
    ("clarabel", "gram"): [20, 30, 40],
    ("clarabel", "lmi"): [30, 50, 70],
    ("lowrank", "factor"): [20, 50, 100, 200, 400, 800],
}
times, gaps = {}, []
for pair, several in sizes.items():
    pairs = [solved(n, *pair) for n in several]
    times[pair] = [spent for spent, _ in pairs]
    gaps += [gap for _, gap in pairs]

fig, axis = plt.subplots(figsize=(5.8, 3.8))
for pair, several in sizes.items():
    axis.loglog(several, times[pair], "o-", label=", ".join(pair))
axis.set(xlabel="points", ylabel="seconds of processor time")
axis.set_xticks([20, 50, 100, 200, 400, 800], ["20", "50", "100", "200", "400", "800"])
axis.minorticks_off()
axis.legend(frameon=False)
fig.tight_layout()
print(f"largest gap that is left: {max(gaps):.0e}")

# %%
# No answer has a larger gap than that, so the curves may be compared. The slope in
# logarithms is the power of n:

for pair, several in sizes.items():
    last = slice(-3, None)
    power = np.polyfit(np.log(several[last]), np.log(times[pair][last]), 1)[0]
    print(f"{', '.join(pair):17s} grows like n to the {power:.1f}")

# %%
# The order is as expected, and all powers are below what was counted: at these sizes much of the
# time passes before the first step, or in parts that grow more slowly. Larger programs come nearer
# to the count.
#
# Extend the first line to the largest size of the last one. That is a guess and not a measurement,
# and says only that waiting is no option:

power, start = np.polyfit(np.log(sizes["clarabel", "gram"]), np.log(times["clarabel", "gram"]), 1)
for n in (100, 800):
    expected = np.exp(start + power * np.log(n))
    factor = np.interp(n, sizes["lowrank", "factor"], times["lowrank", "factor"])
    print(f"{n} points: the Gram form would take {expected / factor:,.0f} times as long")

# %%
# Measured factors for a hundred points and more are in the table that ``make bench`` writes, in
# ``benchmarks/RESULTS.md``.
#
# **The choice of form is worth more than the choice of solver.** ``sdpdr.plan`` makes it before
# anything is solved, and gives its reasons:

print(sdpdr.plan(model).explain().split("\n\n")[0])

# %%
# Three solvers, each in its form, on one unfolding of sixty points. Each was stopped after more and
# more steps, and what could be *proved* of its answer is the height of its line. *What do you
# expect?* Who has proved the most when the first step is done, and who in the end?
#
# .. moving:: race race.json
#
#    The proved gap of three solvers over CPU seconds, both on logarithmic scales. The factor
#    form is there first, the interior point method follows, and the third is far from a proof when
#    its steps are used up.
#
# The seconds are of the solver alone, measured once on a small machine. It is a picture of how
# solvers differ, and no benchmark, as the next part explains.
#
# What goes wrong in comparisons
# ------------------------------
# Suppose you want to know which solver is the fastest for your kind of program. Solve a few with
# each, and take the times. *What could be unfair?*
#
# *They stop at different places.* A tolerance means something else to every solver. Here is the
# same solver, asked for more and more, and what it is proved to have found:

from sdpdr.solvers import Scs

small = methods.mvu(roll(12))
for tol in (1e-2, 1e-4, 1e-6):
    answer = sdpdr.solve(small, Scs(tol=tol, max_iter=5_000), "lmi")
    print(f"asked for {tol:.0e}: it says {answer.claimed.status:20s} proved gap {answer.gap:.1e}")

# %%
# So measure every answer by the same rule, on the same program, *after* the solver is done. The
# proved gap of lesson 6 is such a rule.
#
# *They do not do the same work.* Count the whole call: writing the program, reductions, the solve,
# the proof. Use one thread for all, and processor time if others use the machine.
#
# *Failures are left out.* Who gives up on the hard programs has a fine average on the others. Count
# a failure as infinitely slow.
#
# *One program is not a kind of program.* Take several, chosen before you know the outcome.
#
# A performance profile
# ---------------------
# One picture does all of this [DM2002]_. For each instance divide every time by the fastest one.
# For a factor f, draw the share of instances that a contestant solves within f times the fastest.
# At the left is how often it wins; at the right how often it solves at all.

instances = [methods.mvu(roll(n)) for n in (15, 20, 25)]
instances += [methods.mvu(graphs.cycle(n)) for n in (12, 24)]
contestants = [("lowrank", "factor"), ("clarabel", "lmi"), ("clarabel", "gram"), ("scs", "lmi")]
table = np.full((len(instances), len(contestants)), np.inf)
for row, instance in enumerate(instances):
    for column, (name, form) in enumerate(contestants):
        begin = time.process_time()
        answer = sdpdr.solve(instance, name, form, max_iter=400 if name == "scs" else None)
        if answer.certified(1e-6):
            table[row, column] = time.process_time() - begin

factors = table / table.min(axis=1, keepdims=True)
curves = {}
for (name, form), column in zip(contestants, factors.T, strict=True):
    reached = np.sort(column[np.isfinite(column)])
    curves[f"{name}, {form}"] = (reached, np.arange(1, len(reached) + 1) / len(instances))
profile = plot.performance_profile(curves)

for contestant, column in zip(contestants, table.T, strict=True):
    print(f"{', '.join(contestant):17s} solved {np.isfinite(column).sum()} of {len(instances)}")

# %%
# SCS was given few iterations, which is a decision, and has to be said; with more it solves more,
# and later. :doc:`/studies/index` makes such pictures of all solvers on the whole problem library,
# where the instances were fixed beforehand and every answer is graded in the same way.

# %%
# Exercises
# ---------
# **Exercise 1.** Write the multiplier form by hand in the language of lesson 3: one scalar
# :math:`w_{ij} \ge 0` for each edge, and :math:`V^\top L(w) V \succeq I`, where the columns of V
# are an orthonormal basis of the vectors that sum to zero. Find K in the answer.
#
# .. dropdown:: Solution
#
#    V takes away the direction :math:`\mathbf 1`, in which every Laplacian vanishes. The multiplier
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
# **Exercise 2.** For which graphs is the multiplier form *worse* than the Gram form? Count unknowns
# for a complete graph. And what does ``sdpdr.plan`` say about the possible pairs?
#
# .. dropdown:: Solution
#
#    When there are more edges than entries, nearly: a complete graph has :math:`n (n - 1) / 2`
#    edges, as many weights as K has entries off its diagonal. Then all distances are known, and
#    lesson 1 does without any optimisation.
#
#    .. code-block:: python
#
#       points = np.random.default_rng(0).standard_normal((8, 3))
#       everything = graphs.complete(points)
#       assert everything.m == 8 * 7 // 2
#       centred = points - points.mean(axis=0)
#       complete = methods.mvu(everything)
#       assert np.isclose(sdpdr.solve(complete).value, np.sum(centred**2), rtol=1e-5)
#       possible = [pair for pair, why in sdpdr.plan(complete).others.items() if why == "possible"]
#       assert ("clarabel", "gram") in possible and ("clarabel", "lmi") in possible

# %%
# **Exercise 3.** Solver A takes 1 and 100 seconds on two programs, solver B takes 10 and 10. Who is
# faster? Compute the mean of the times, the mean of the ratios A to B and B to A, and the geometric
# mean. Which of these would you report?
#
# .. dropdown:: Solution
#
#    By mean time B is faster. By the mean ratio to the other, *both are five times slower than the
#    other*: means of ratios depend on who is below the line. The geometric mean says that they are
#    equal, whichever way it is taken. None tells the story: A wins one and loses one by a factor of
#    ten each. A profile does.
#
#    .. code-block:: python
#
#       A, B = np.array([1.0, 100.0]), np.array([10.0, 10.0])
#       assert A.mean() > B.mean()
#       assert np.mean(A / B) == np.mean(B / A) == 5.05
#       assert np.isclose(np.exp(np.mean(np.log(A / B))), 1.0)

# %%
# **Exercise 4.** Show that the share at the left end of a profile depends on who else takes part:
# find times with which A beats B when only the two compete, and wins less often than B when C
# joins.
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
# :doc:`/guide/scale`. The cost of interior points for unfolding, often quoted as :math:`O(n^3 +
# m^3)`, is discussed in :doc:`/methods/mvu`; see the Vasiloglou thesis, section 3.2, for the factor
# form (:doc:`/references`). Profiles are due to [DM2002]_; their pitfalls are in [GS2016]_. What a
# study measures is told in :doc:`/guide/measures`.
