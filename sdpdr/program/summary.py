"""A solution in a sentence or two: whether it worked, how good it is, and what to do next."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import floor, isfinite, log10
from textwrap import shorten
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from sdpdr.base.advice import at_command_line, either
from sdpdr.base.rows import enumerated
from sdpdr.program.run import GIVEN, Status, shown

if TYPE_CHECKING:
    from sdpdr.program.solution import Solution

# Constraints that a sentence names; `Solution.report` has the others.
_NAMED = 3
# Solvers that support exponential and power cones.
OVER_ALL_CONES = ("clarabel", "scs", "mosek")
# Digits of a value that is proved to the default tolerance.
_DIGITS = ".6g"
# Characters of what a solver says of its failure, about two lines.
_LONGEST = 160
# A larger relative gap is too large for a tolerance.
_LOOSE = 0.1
# A tolerance that is advised, relative to the gap: with a looser one, proofs stop sooner, and lose
# up to a tenth of it.
_ROOM = 1.25


def summary(solution: Solution) -> str:
    """Say whether a solve worked, how good the answer is, and what to do next.

    Parameters
    ----------
    solution : Solution

    Returns
    -------
    str

    Examples
    --------
    >>> import sdpdr
    >>> from sdpdr import graphs, methods
    >>> solution = sdpdr.solve(methods.mvu(graphs.path([1.0, 2.0])))
    >>> print(summary(solution))
    SOLVED: the maximum is 4.66667, proved optimal to a relative gap of ... (1e-06 requested).
    """
    said = f"{solution.status.name}: {_OUTCOMES[solution.status](solution)}"
    return " ".join(filter(None, (said, _narrower(solution), _claim(solution), advice(solution))))


def advice(solution: Solution) -> str:
    """Say what to do next; empty where everything that was requested is proved.

    Parameters
    ----------
    solution : Solution

    Returns
    -------
    str
    """
    found = _ADVICE[solution.status]
    said = found if isinstance(found, str) else found(solution)
    words = f"{said} {_cause(solution)}".rstrip()
    if not solution.unfinished or solution.certified():
        return words
    return f"{_unfinished(solution)} {words}".rstrip()


# -- the outcome ----------------------------------------------------------------------------------


def _solved(solution: Solution) -> str:
    """The optimum and how closely it is proved."""
    return (
        f"the {_optimum(solution)} is {shown(solution.attained, _DIGITS)}, proved optimal to a "
        f"{_gap(solution)}."
    )


def _optimal_nearby(solution: Solution) -> str:
    """How near data have to be for the answer to be exact, and what is proved for those given."""
    return (
        f"the value {shown(solution.value, _DIGITS)} is optimal for data within "
        f"{shown(solution.epsilon, '.1e')} of those given, relatively; for the data as given, "
        f"{_sides(solution)}."
    )


def _infeasible(solution: Solution) -> str:
    """Which constraints contradict each other."""
    names = [repr(label) for label in contradicting(solution)]
    which = enumerated(names, _NAMED) or "all constraints"
    which += " together" * (len(names) > 1)
    # Constraints of a cvxpy problem on single variables are the cones of variables here.
    is_read = bool(names) and not solution.of_model
    beside = " beside the cones and signs of the variables" if is_read else ""
    return f"no point satisfies {which}{beside} ({_how(solution)})."


def _unbounded(solution: Solution) -> str:
    """Say that the objective has no bound."""
    grows = "increases" if solution.maximize else "decreases"
    return (
        f"there is no {_optimum(solution)}, the objective {grows} without bound ({_how(solution)})."
    )


def _how(solution: Solution) -> str:
    """The proof that there is no optimum."""
    if solution.solver == "none" and (solution.ray is None or solution.ray.kind == "infeasible"):
        means = "facial reduction" if solution.exposures else "presolve"
        return f"proved by {means} before any solver ran"
    return "proved" if solution.ray is None else f"proved by {solution.ray.argument}"


def _unverified(solution: Solution) -> str:
    """What the solver claims."""
    claim = solution.claimed.verdict or solution.claimed.status
    if claim == "infeasible" and solution.bound is not None:
        side = "above" if solution.maximize else "below"
        return (
            f"{solution.solver} says that the program is infeasible, which is not proved; it is "
            f"proved that no feasible point has a value {side} {shown(solution.bound, '.8g')}."
        )
    return (
        f"{solution.solver} says that the program is {claim}, and nothing proves or refutes that."
        if claim in ("infeasible", "unbounded")
        else f"{solution.solver} claims an answer ({claim}), and nothing proves or refutes it."
    )


def _stopped(solution: Solution) -> str:
    """Why the solve ended early, and what is proved by then."""
    # A solver that was not even started says why.
    why = "" if solution.values else solution.claimed.message
    words = f" ({_on_one_line(why)})" if why else ""
    return f"{_STOPPED[solution.status]}{words}; {_sides(solution)}."


def _failed(solution: Solution) -> str:
    """What the solver said of its failure."""
    words = _on_one_line(solution.claimed.message or solution.claimed.status)
    return f"{solution.solver} found no answer ({words})."


def _on_one_line(words: str) -> str:
    """What a solver said, shortened."""
    return shorten(words, _LONGEST).rstrip(".")


def _sides(solution: Solution) -> str:
    """What is proved of the optimal value."""
    attained, bound = solution.attained, solution.bound
    if attained is not None and bound is not None:
        low, high = sorted((attained, bound))
        return (
            f"the {_optimum(solution)} is proved to lie between {shown(low, '.8g')} and "
            f"{shown(high, '.8g')}, a {_gap(solution)}"
        )
    if attained is not None:
        return f"a feasible point of value {shown(attained, '.8g')} is proved, and no bound"
    if bound is not None:
        side = "at most" if solution.maximize else "at least"
        return (
            f"the {_optimum(solution)} is proved to be {side} {shown(bound, '.8g')}, and no "
            "feasible point is proved"
        )
    if solution.values:
        return f"nothing is proved about the value {shown(solution.value, '.8g')} of the best point"
    return "there is no point and no bound"


def _narrower(solution: Solution) -> str:
    """What is proved of the narrower program that was solved."""
    narrow = solution.narrower
    if narrow is None or solution.certified():
        return ""
    return f"In the narrower program that was solved, {_OUTCOMES[narrow.status](narrow)}"


def _is_given(solution: Solution) -> bool:
    """Whether the answer was found elsewhere, and verified only."""
    return solution.form == GIVEN


def _claim(solution: Solution) -> str:
    """What the solver of a given answer claimed, beside what is proved."""
    claimed = solution.claimed
    is_empty = claimed.verdict in ("infeasible", "unbounded")
    if not _is_given(solution):
        return ""
    if claimed.value is None and not is_empty:
        return f"{claimed.message[:1].upper()}{claimed.message[1:]}." if claimed.message else ""
    verdict = "is refuted" if solution.is_refuted else "nothing contradicts"
    if is_empty:
        what = f"that it is {claimed.verdict}"
    elif isfinite(claimed.value or 0.0):
        what = shown(claimed.value, ".9g")
    else:
        what = "a point at which the objective is not finite"
    said = f"{solution.solver} claimed {what}, which {verdict}"
    if solution.moved:
        said += f"; the point proved differs from the one given by {solution.moved:.1e}, relatively"
    return f"{said}."


def _optimum(solution: Solution) -> str:
    """The word for the optimal value."""
    return "maximum" if solution.maximize else "minimum"


def _gap(solution: Solution) -> str:
    """The gap, what it is relative to, and what was requested."""
    is_absolute = abs(solution.attained or 0.0) < solution.gap_scale
    kind = f"gap relative to gap_scale={solution.gap_scale:g}" if is_absolute else "relative gap"
    gap = abs(solution.gap)
    size = f"{gap:.1e}" if isfinite(gap) else "infinity"
    return f"{kind} of {size} ({solution.tol:.0e} requested)"


def contradicting(solution: Solution) -> tuple[str, ...]:
    """Labels of the constraints that the proof of infeasibility combines, the largest first."""
    duals = {} if solution.ray is None else solution.ray.duals
    sizes = {label: np.max(np.abs(y), initial=0.0) for label, y in duals.items()}
    used = [label for label in sorted(sizes, key=lambda one: -sizes[one]) if sizes[label] > 0.0]
    # On a face, the constraints that expose it are part of the contradiction.
    steps = reversed(solution.exposures)
    exposing = (label for step in steps for label, _, _ in step.multipliers)
    return tuple(dict.fromkeys([*used, *exposing]))


# -- what to do next ------------------------------------------------------------------------------


def _unfinished(solution: Solution) -> str:
    """What solving and proving took, and how to continue."""
    solving, proving = (solution.timings.get(phase, 0.0) for phase in ("solve", "certify"))
    more = "--time-limit gives them more."
    further = either('pass proof="full" for no budget.', more)
    if _is_given(solution):
        further = either("pass a larger `seconds`.", more)
    if solution.prover is not None:
        further = either("`solution.prove()` continues them.", more)
    return (
        f"Proofs were stopped by their budget, after {proving:.1f} s beside {solving:.1f} s of "
        f"solving: {further}"
    )


def _others(solution: Solution) -> str:
    """Where another answer may come from."""
    if _is_given(solution):
        return "an answer of another solver, or of the same one to a smaller tolerance"
    if solution.form == "landmark":  # what is lost to the landmarks no solver brings back
        return "more `landmarks`"
    if solution.form == "cvxpy" and solution.prover is None:  # over exponential or power cones
        others = [f"solver={name!r}" for name in OVER_ALL_CONES if name != solution.solver]
        return f"another solver, {' or '.join(others)}"
    return either(
        "another solver (`sdpdr.plan(model).explain()` lists those that accept the program)",
        "another --solver (`sdpdr doctor` lists them)",
    )


def _try_others(solution: Solution) -> str:
    """Advise another answer."""
    return f"Try {_others(solution)}."


def _use_or_relax(solution: Solution) -> str:
    """Whether to accept an answer for data nearby, and how to give the program an interior."""
    relaxed = solution.of_model and not at_command_line()
    how = "`relax(block, band)`" if relaxed else "two inequalities with room between them"
    return (
        "Use it if the data are no more exact than that. Otherwise the feasible set may have no "
        f"interior: replace an equation by a band, {how}."
    )


def _closer(solution: Solution) -> str:
    """How to close the gap, or to accept it."""
    attained, bound = solution.attained, solution.bound
    if solution.narrower is not None and bound is None:
        return "Leave out the step that narrows it for a bound of the whole program."
    if attained is None or bound is None or solution.certified():
        return _try_others(solution)
    if attained * bound <= 0.0:
        gap = abs(attained - bound)
        return (
            "The optimum may be zero, where no relative gap is small: if a difference of "
            f"{gap:.2g} is negligible to you, pass gap_scale={_rounded_up(gap / solution.tol)}, "
            "relative to which the gap is measured."
        )
    if abs(solution.gap) <= _LOOSE:
        enough = _rounded_up(_ROOM * abs(solution.gap))
        return f"If that is enough, pass tol={enough}; otherwise try {_others(solution)}."
    return _try_others(solution)


def _loosen(solution: Solution) -> str:
    """How to make constraints that contradict each other compatible."""
    # Multipliers of interior points do not vanish on constraints that nothing needs.
    is_one = len(contradicting(solution)) == 1
    which = "it" if is_one else "one of those that the contradiction needs"
    if not solution.of_model or at_command_line():
        return f"Remove {which}, or move its right-hand side."
    return (
        f"Soften {which} (`soften(block, weight)`; `constraint.penalized(weight)` for a "
        "comparison), or relax an equation (`relax(block, band)`)."
    )


def _bound_it(solution: Solution) -> str:
    """How to limit the objective."""
    if not solution.of_model:
        return "Add a constraint that bounds it, or check the sign of the objective."
    words = "Add a constraint that bounds every variable of the objective, or check its sign."
    if solution.edges:
        words += (
            " In an unfolding, check that the graph is connected, that the points are centred, and "
            "that the penalty on slack is not too low."
        )
    return words


def _rounded_up(number: float) -> str:
    """The next number of one digit, which is no less.

    Examples
    --------
    >>> _rounded_up(3.2e-5), _rounded_up(4.0)
    ('4e-05', '5e+00')
    """
    unit = 10.0 ** floor(log10(number))
    return f"{(floor(number / unit) + 1) * unit:.0e}"


def _cause(solution: Solution) -> str:
    """Where the cause of a failure is found; empty where nothing failed."""
    if solution.status in (Status.SOLVED, Status.INTERRUPTED):
        return ""
    # No command diagnoses the program of a table.
    command = "" if solution.of_model else "`sdpdr diagnose` looks for the cause."
    return either("`sdpdr.diagnose(model)` looks for the cause.", command)


_STOPPED = {
    Status.TIME_LIMIT: "the time limit was reached",
    Status.ITERATION_LIMIT: "the iteration limit was reached",
    Status.INTERRUPTED: "the solve was interrupted",
}

_OUTCOMES: Mapping[Status, Callable[[Solution], str]] = MappingProxyType(
    {
        Status.SOLVED: _solved,
        Status.OPTIMAL_NEARBY: _optimal_nearby,
        Status.INACCURATE: lambda solution: f"not proved optimal; {_sides(solution)}.",
        Status.UNVERIFIED: _unverified,
        Status.INFEASIBLE: _infeasible,
        Status.UNBOUNDED: _unbounded,
        Status.TIME_LIMIT: _stopped,
        Status.ITERATION_LIMIT: _stopped,
        Status.INTERRUPTED: _stopped,
        Status.FAILED: _failed,
    }
)

_ADVICE: Mapping[Status, str | Callable[[Solution], str]] = MappingProxyType(
    {
        Status.SOLVED: "",
        Status.OPTIMAL_NEARBY: _use_or_relax,
        Status.INACCURATE: _closer,
        Status.UNVERIFIED: _try_others,
        Status.INFEASIBLE: _loosen,
        Status.UNBOUNDED: _bound_it,
        Status.TIME_LIMIT: "Pass a larger `time_limit` for a better answer.",
        Status.ITERATION_LIMIT: "Pass a larger `max_iter` for a better answer.",
        Status.INTERRUPTED: "Solve again for a better answer.",
        Status.FAILED: _try_others,
    }
)
