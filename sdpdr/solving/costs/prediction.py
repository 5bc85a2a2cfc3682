"""Seconds, memory and the chance of success of a solver in a form, before anything is solved."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import TypeAlias

from sdpdr.solvers.dense.solver import PAIR
from sdpdr.solving.costs import work as memory
from sdpdr.solving.costs.structure import Structure
from sdpdr.solving.costs.work import RATES, Rate, has_detail, least_work, variant, work

# The solver whose constants are taken for those of one that was never measured, such as MOSEK.
STAND_IN = "sdpa"
# Programs near to a solver that was measured, for the forms in which they were not.
LIKE = {
    "csdp": "sdpa",
    "sdpa-file": "sdpa",
    "dsdp": "sdpa",
    "copt": "sdpa",
    "dense": "sdpa",
    "multiprecision": "sdpa",
}
# Solvers that no other is like, whose cost nobody knows.
UNLIKE = ("sdplr", "lorads")
# Times the multiplications of the solver that it is like: hundreds of bits, in software.
SLOWER = {"multiprecision": 200.0}
# The same method by another way; where one falls short, so mostly does the other.
METHOD = {"sdpa-file": "sdpa"}
# Solvers that get whichever of a program and its dual has fewer rows, most of them in files.
FILES = ("csdp", "sdpa-file", "dsdp", "copt")
# That is the same for a program and for its dual, whose multipliers are the unknowns.
FILED = {"gram": "lmi", "chordal": "chordal-lmi"}
# The share of success that it is trusted to have, so that whoever pays for it gets to use it.
TRUST = 0.95
# Times the seconds predicted that must be reckoned with: steps of operator splitting depend on the
# data, and nobody knows their number in advance.
DOUBT = {"scs": 10.0}
# The same of Clarabel where few unknowns meet in each row of a matrix, as in temporal order,
# separation and anchored maps: it splits matrices along cliques, which predicts its steps, but not
# how many they are, nor that they end short of the tolerance. Of 100 to 300 points it took 5 to 30
# times the seconds predicted, where it solved them at all; of fewer than the last three times.
SPLIT_DOUBT, SPLIT_ORDER = 8.0, 60
# Solvers that hand over the point they have reached when their time is up.
KEEP_POINTS = ("lowrank", "ipopt", "scs")
# Share of a time limit that a prediction may fill before it is in danger of being missed.
IN_TIME = 0.5
# Seconds below which nobody minds a difference.
NOTICEABLE = 0.1
# Ten times the seconds that it takes to find cliques, for every row of the matrix.
SEARCH = 1e-3
# Share of success from which on a solver is preferred to all that are less sure.
TRUSTED = 0.5


@dataclass(frozen=True)
class Cost:
    """What solving is predicted to take.

    Attributes
    ----------
    seconds : float
        Of one processor.
    memory : float
        Bytes beyond those of the program.
    reach : float
        Share of the problem library on which the solver reached the tolerance in this form.
    doubt : float, default 1
        How many times as long must be reckoned with.
    keeps_point : bool, default False
        Whether there is a point when it is stopped.
    """

    seconds: float
    memory: float
    reach: float
    doubt: float = 1.0
    keeps_point: bool = False

    def __str__(self) -> str:
        return f"{_brief(self.seconds)} s and {memory.in_words(self.memory)}"

    def words(self) -> str:
        """Seconds, memory and share of success as columns."""
        amount = memory.in_words(self.memory)
        return f"{_brief(self.seconds):>7} s {amount:>10}   share {self.reach:.0%}"


def predict(
    solver: str,
    form: str,
    structure: Structure,
    tol: float = 1e-6,
    rates: Mapping[tuple[str, str], Rate] = RATES,
    *,
    least: bool = False,
) -> Cost | None:
    """Predict what a solver takes in a form; None for a form that was never measured.

    Parameters
    ----------
    solver, form : str
    structure : Structure
    tol : float, default 1e-6
    rates : mapping from (solver, form) to Rate
        By default those of the package's calibration.
    least : bool, default False
        Whether a lower bound will do that needs neither cliques nor fill. Where only cliques would
        tell more, the search for them is added many times over, so that it is left out where it
        is no small part of what it could save.

    Returns
    -------
    Cost or None

    Raises
    ------
    NotAcceptedError
        If there is no such form of the program.

    Examples
    --------
    >>> from sdpdr import graphs, methods
    >>> structure = Structure(methods.mvu(graphs.path([1.0] * 40)).to_sdp())
    >>> low, dense = (predict(s, f, structure) for s, f in (("lowrank", "factor"), ("scs", "gram")))
    >>> low.seconds < dense.seconds
    True
    """
    if solver in UNLIKE:
        return None
    _, form = posed(solver, form)
    ran = variant(solver, form, structure, least=least)
    measured = rates.get((solver, ran)) or rates.get((LIKE.get(solver, solver), ran))
    rate = measured or rates.get((STAND_IN, ran))
    if rate is None:
        return None
    done = (least_work if least else work)(solver, form, structure)
    share = TRUST if measured is None else rate.share(structure.kind, tol)
    start = rate.seconds(0.0)
    seconds = start + SLOWER.get(solver, 1.0) * (rate.seconds(done.multiplications) - start)
    if least and form != "factor" and has_detail(solver, form, structure):
        seconds += SEARCH * max(structure.shape("gram").orders, default=0)
    doubt = DOUBT.get(solver, 1.0)
    splits = solver == "clarabel" and form != "gram" and structure.engine == "interior"
    if splits and max(structure.shape("gram").orders, default=0) > SPLIT_ORDER:
        doubt = SPLIT_DOUBT
    if solver == "dense":
        # Its matrices are known by number, whatever the solver that it is like keeps of them.
        rate = replace(rate, each=float(PAIR))
    return Cost(seconds, rate.memory(done.numbers), share, doubt, solver in KEEP_POINTS)


Priority: TypeAlias = tuple[bool, bool, bool, float]


def priority(cost: Cost | None, time_limit: float = inf) -> Priority:
    """Key that sorts costs: what fits into memory, mostly succeeds, and is done soon, comes first.

    A failure costs its seconds and may cost the answer, so that shares of success count twice. What
    may not end within the time limit, and has nothing to show for it then, comes after what has.
    """
    if cost is None:
        return (False, False, True, float("inf"))
    late = not cost.keeps_point and cost.seconds > IN_TIME * time_limit
    seconds = max(cost.doubt * cost.seconds, NOTICEABLE) / max(cost.reach, 1e-3) ** 2
    return (cost.memory > memory.allowed_memory(), late, cost.reach < TRUSTED, seconds)


def method_of(solver: str) -> str:
    """The same for solvers that are the same method."""
    return METHOD.get(solver, solver)


def posed(solver: str, form: str) -> tuple[str, str]:
    """A pair of solver and form, the same for forms that are the same problem to the solver.

    Examples
    --------
    >>> posed("csdp", "gram") == posed("csdp", "lmi"), posed("scs", "gram") == posed("scs", "lmi")
    (True, False)
    """
    return (solver, FILED.get(form, form) if solver in FILES else form)


def _brief(seconds: float) -> str:
    return f"{seconds:.2g}" if seconds < 99.5 else f"{seconds:.0f}" if seconds < 1e5 else "1e5+"


# Times the seconds predicted, and seconds at least, after which a candidate has stalled.
PATIENCE, AT_LEAST = 5.0, 10.0
# The same of what is kept for a candidate that waits for its turn.
NEED, NEED_AT_LEAST = 2.0, 1.0


def patience(cost: Cost | None) -> float:
    """Seconds after which a candidate has stalled; infinite where nothing is known of its cost."""
    return inf if cost is None else max(AT_LEAST, PATIENCE * cost.seconds)


def crowding() -> float:
    """How many times as long as alone a process is likely to take here and now; at least one.

    Seconds predicted are those of a processor. Where more wants to run than there are processors,
    a candidate must not pass for stalled because others were served.

    Examples
    --------
    >>> crowding() >= 1.0
    True
    """
    if not hasattr(os, "getloadavg"):  # Windows
        return 1.0
    return max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))


def shares(costs: Sequence[Cost | None], seconds: float = inf) -> tuple[float, ...]:
    """Seconds that each of some candidates may take in its turn.

    No candidate gets more than its `patience`, except the last of a finite time, who gets what is
    left. Of a short time at most half is kept for those who wait: as much as twice what they are
    predicted to take. Time that one does not use is there for the others, when they are asked
    about again.

    Parameters
    ----------
    costs : sequence of Cost or None
        In the order of the turns.
    seconds : float, default infinite
        In all.

    Examples
    --------
    >>> quick, slow = Cost(0.1, 0.0, 1.0), Cost(30.0, 0.0, 1.0)
    >>> shares([quick, slow])
    (10.0, 150.0)
    >>> shares([quick, slow, quick], 20.0)
    (10.0, 9.0, 1.0)
    """
    found, left = list[float](), seconds
    for k, cost in enumerate(costs):
        waiting = costs[k + 1 :]
        kept = min(sum(_need(one) for one in waiting), left / 2.0)
        share = left if left < inf and not waiting else min(patience(cost), left - kept)
        found.append(share)
        left -= share if share < inf else 0.0
    return tuple(found)


def _need(cost: Cost | None) -> float:
    return NEED_AT_LEAST if cost is None else max(NEED_AT_LEAST, NEED * cost.seconds)
