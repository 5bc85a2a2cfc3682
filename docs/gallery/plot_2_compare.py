"""
Every solver and form on one unfolding (MVU)
============================================

One small program, every installed solver, every form that it supports. Each makes a claim, and all
claims are verified in the same way, on the same program.
"""

# %%
# Forty points and their four nearest neighbours are small enough for all solvers.

import sdpdr
from sdpdr import graphs, methods, plot

X, _ = sdpdr.datasets.swiss_roll(40, seed=0)
model = methods.mvu(graphs.knn(X, n_neighbors=4))
plan = sdpdr.plan(model)
print(plan.explain())

# %%
# The plan lists every other pair of solver and form, and whether it is possible. SCS takes many
# cheap steps, so it gets two seconds; the others have no limit. A failure does not stop the
# loop: a solver that gives up, or runs out of time, returns a solution with a status.

pairs = [(plan.solver.name, plan.form)]
pairs += [pair for pair, verdict in plan.others.items() if verdict == "possible"]
solutions = {
    (name, form): sdpdr.solve(model, name, form, time_limit=2.0 if name == "scs" else None)
    for name, form in pairs
}

head = f"{'solver':<10}{'form':<8}{'it claims':<26}{'we find':<16}{'value':>12}{'gap':>10}{'s':>7}"
print(head)
for (name, form), s in solutions.items():
    seconds = sum(s.timings.values())
    print(
        f"{name:<10}{form:<8}{s.claimed.status:<26}{s.status.name:<16}"
        f"{s.value:>12.3f}{s.gap:>10.1e}{seconds:>7.2f}"
    )

# %%
# Note three things. A solver may claim "optimal" with a larger gap than requested.
# The same solver may take many times longer in another form. And a solution that is not
# certified still has a bound, if the solver returned multipliers.

figure = plot.runs(
    [f"{name}, {form}" for name, form in solutions],
    [s.gap for s in solutions.values()],
    [sum(s.timings.values()) for s in solutions.values()],
    tol=1e-6,
    title="solvers and forms of one program",
)

# %%
# `sdpdr.lab.study.compare.compare` runs the same comparison with a process for each run and a
# progress bar, gives reasons for impossible pairs, and returns a pandas frame.
#
# Where the time goes
# -------------------
# Each solution has the seconds of its phases: compiling, solving, and proving.

for pair in [("lowrank", "factor"), ("clarabel", "lmi"), ("clarabel", "gram")]:
    phases = {phase: round(t, 3) for phase, t in solutions[pair].timings.items()}
    print(*pair, phases)
