"""Seconds, memory and the chance of success of a solver in a form, before anything is solved."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from sdpdr.costs.rate import Rate
from sdpdr.costs.rates import RATES
from sdpdr.costs.structure import Structure
from sdpdr.costs.work import Work, has_detail, least_work, work

# Solvers that nobody could measure, and those whose constants are taken for theirs.
ALIKE = {"mosek": "sdpa"}
# Seconds below which nobody minds a difference.
NOTICEABLE = 0.2
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
    """

    seconds: float
    memory: float
    reach: float

    def __str__(self) -> str:
        return f"{_brief(self.seconds)} s, {_size(self.memory)}"


def predict(
    solver: str,
    form: str,
    structure: Structure,
    tol: float = 1e-6,
    rates: Mapping[tuple[str, str], Rate] = RATES,
) -> Cost | None:
    """Predict what a solver takes in a form; None for a solver that was never measured.

    Parameters
    ----------
    solver, form : str
    structure : Structure
    tol : float, default 1e-6
    rates : mapping from (solver, form) to Rate
        By default those of the package's calibration.

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
    return _cost(solver, form, structure, tol, rates, work)


def predict_least(
    solver: str,
    form: str,
    structure: Structure,
    tol: float = 1e-6,
    rates: Mapping[tuple[str, str], Rate] = RATES,
) -> Cost | None:
    """A lower bound on the prediction that needs neither cliques nor fill; as `predict`."""
    return _cost(solver, form, structure, tol, rates, least_work)


def is_least(solver: str, form: str, structure: Structure) -> bool:
    """Whether `predict_least` is the prediction itself."""
    return not has_detail(solver, form, structure)


def priority(cost: Cost | None) -> tuple[bool, bool, float]:
    """Key that sorts costs: what fits into memory, mostly succeeds, and is done soon, comes first.

    A solver that fails is followed by another one, so seconds count for every success.
    """
    if cost is None:
        return (False, True, float("inf"))
    seconds = max(cost.seconds, NOTICEABLE) / max(cost.reach, 1e-3)
    return (cost.memory > available_memory(), cost.reach < TRUSTED, seconds)


def available_memory() -> float:
    """Bytes that a process may have: those of the machine, or its own limit if that is less."""
    limits = [float("inf")]
    if hasattr(os, "sysconf") and "SC_PHYS_PAGES" in os.sysconf_names:
        limits.append(float(os.sysconf("SC_PAGE_SIZE")) * os.sysconf("SC_PHYS_PAGES"))
    try:
        from resource import RLIM_INFINITY, RLIMIT_AS, getrlimit
    except ImportError:  # Only POSIX has it.
        return min(limits)
    soft = getrlimit(RLIMIT_AS)[0]
    return min([*limits, *([] if soft == RLIM_INFINITY else [float(soft)])])


def _cost(
    solver: str,
    form: str,
    structure: Structure,
    tol: float,
    rates: Mapping[tuple[str, str], Rate],
    count: Callable[[str, str, Structure], Work],
) -> Cost | None:
    # The two engines of the low-rank solver, and its luck, differ by the kind of program.
    variant = structure.kind if form == "factor" else form
    rate = rates.get((ALIKE.get(solver, solver), variant))
    if rate is None:
        return None
    done = count(solver, form, structure)
    share = rate.share(structure.kind, tol)
    return Cost(rate.seconds(done.multiplications), rate.memory(done.numbers), share)


def _brief(seconds: float) -> str:
    return f"{seconds:.2g}" if seconds < 99.5 else f"{seconds:.0f}" if seconds < 1e5 else "1e5+"


def _size(memory: float) -> str:
    unit, size = ("GiB", 2**30) if memory >= 2**30 else ("MiB", 2**20)
    number = memory / size
    return f"{number:.2g} {unit}" if number < 99.5 else f"{number:.0f} {unit}"
