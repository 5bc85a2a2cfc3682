"""Grades of answers found by hand, for exercises without an answer key."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import inf, isfinite
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from sdpdr.base import checks
from sdpdr.base.arrays import Array
from sdpdr.base.deadline import ENDLESS, Deadline
from sdpdr.base.keywords import checks_keywords
from sdpdr.certify import as_it_stands, certify
from sdpdr.certify.answer import Proved, is_nothing, is_small
from sdpdr.certify.standard import as_written
from sdpdr.linalg.smallest import smallest_eigenvalue
from sdpdr.model import Model
from sdpdr.program.backward import relative_slacks
from sdpdr.program.face import null_vectors, stated_labels
from sdpdr.program.point import Factor, Point, Value
from sdpdr.program.sdp import SDP
from sdpdr.program.sizes import gap_scale
from sdpdr.program.solution import Solution
from sdpdr.solving.proofs import AT_LEAST, Prover, value_of
from sdpdr.solving.standing import standing_value
from sdpdr.solving.verify.given import distance
from sdpdr.testing.answer import read_answer, visible_labels

if TYPE_CHECKING:
    import cvxpy as cp

Answer: TypeAlias = "Solution | Point | Mapping[str, Value] | Factor | ArrayLike"
Multipliers: TypeAlias = "Mapping[str, ArrayLike] | Sequence[ArrayLike] | ArrayLike"

# How far an answer may move, relatively, and still be the same: rounding to four digits moves it
# less, and a mistake moves it further.
_SAME = 1e-4
# A gap above it is no rounding, so that numbers as far apart are called optimal as zeros only.
_CLOSE = 1e-3
# What a constraint may be missed by, relatively, before it is named, and what a proof may lose.
_SEEN = 1e-9


@dataclass(frozen=True)
class Grade:
    """What an answer is worth; printed, one sentence for each part of it.

    Attributes
    ----------
    missed : mapping from name to float
        By how much the point misses constraints, and cones of variables; what holds to a relative
        1e-9 is left out.
    value : float
        The objective at the point as it was given; ``nan`` without one.
    attained : float or None
        The value of a point that is proved feasible: the given one, moved by its rounding at most.
    bound : float or None
        What the multipliers prove, moved by their rounding at most: no feasible point is better.
    gap : float
        Distance of the bound from the value attained, relative to the larger of both; infinite
        where one of them is missing.
    is_optimal : bool
        Whether the gap is at most the tolerance, or both numbers are zero beside the data.
    sentences : tuple of str
    """

    missed: Mapping[str, float]
    value: float
    attained: float | None
    bound: float | None
    gap: float
    is_optimal: bool
    sentences: tuple[str, ...] = field(repr=False)

    def __str__(self) -> str:
        return "\n".join(self.sentences)


@checks_keywords
def graded(
    problem: cp.Problem | SDP | Model,
    point: Answer | None = None,
    multipliers: Multipliers | None = None,
    *,
    tol: float = 1e-6,
) -> Grade:
    """Say how good an answer is, from the answer alone: no solver runs, and no key is needed.

    A feasible point proves that the optimum is at least as good as its value, and multipliers
    prove that it is no better than their bound. The distance of the two numbers is the mark. Unlike
    `sdpdr.verify`, which looks for the best that can be proved near an answer, this grades the
    answer itself: every variable, and the multipliers of every constraint, move by a relative 1e-4
    at most, the rounding of numbers with four digits, and so do the value and the bound.

    Parameters
    ----------
    problem : Model, SDP or cvxpy.Problem
    point : optional
        The matrix or factor of a single variable, or values by the names of variables; a `Solution`
        has both sides. For a cvxpy problem, values by the names of its variables; by default those
        that it has.
    multipliers : optional
        By the labels of constraints, or an array where there is one constraint; those of K 1 = 0
        and its like may be left out. With the signs that ``solution.dual`` has: of inequalities
        they are not negative. For a cvxpy problem, one array for each constraint in order, with
        cvxpy's signs; by default the dual values that it has.
    tol : float, default 1e-6
        The gap at which an answer counts as optimal.

    Returns
    -------
    Grade

    Raises
    ------
    DataError, DataTypeError, ShapeError, UnknownNameError
        If there is no answer, or it is none of the problem.
    NotAcceptedError
        If functions of the problem, such as norms, add variables or cones, of which the answer has
        no values; `sdpdr.verify` completes them.

    Examples
    --------
    Three points on a line are the best unfolding of a path, and equal weights prove it:

    >>> import numpy as np
    >>> from sdpdr import graphs, methods
    >>> from sdpdr.testing import graded
    >>> path = methods.mvu(graphs.path([1.0, 1.0]))
    >>> y = np.array([-1.0, 0.0, 1.0])
    >>> print(graded(path, np.outer(y, y), [1.0, 1.0]))
    The point satisfies every constraint exactly.
    Its value is 2, so the maximum is 2 at least.
    The multipliers prove that the maximum is 2 at most.
    Value and bound agree to a relative gap of ...: the answer is optimal.

    Mistakes are named:

    >>> print(graded(path, 1.5 * np.outer(y, y), [-1.0, -1.0]))
    The point misses 'isometry' by 0.5, most at index 0.
    Its value would be 3, but no feasible point is proved next to it.
    The multipliers prove no bound: those of ... must not be negative, and number 0 is -1...
    With the other sign they prove 2.
    There is no gap, since the point proves no value and the multipliers prove no bound.
    """
    checks.positive_or_infinite("tol", tol)
    sdp, given = read_answer(problem, point, multipliers)
    exact = standing_value(sdp, given.values)[0] if given.values else None
    misses = _misses(sdp, given.values) if given.values and exact is None else []
    nearby = _Nearby(sdp, given, all(miss.share <= _SAME for miss in misses))
    value = value_of(sdp, given)
    attained = _attained(sdp, given, nearby) if exact is None else exact + 0.0  # not minus zero
    bound, bounded = _bound(sdp, given.duals, nearby)
    gap = _gap(attained, bound)
    is_optimal = gap <= tol or is_nothing(sdp, attained, bound)
    missed = {miss.name: miss.amount for miss in misses if miss.share > _SEEN}
    grade = Grade(missed, value, attained, bound, gap, is_optimal, ())
    sentences = (
        _about_point(given, misses, grade, is_exact=exact is not None),
        _about_value(sdp, value, attained),
        bounded,
        _about_gap(grade, given),
    )
    return replace(grade, sentences=tuple(filter(None, sentences)))


# -- the point ----------------------------------------------------------------------------------


class _Miss(NamedTuple):
    """What a point misses: the name, by how much, by which share of its size, and a sentence."""

    name: str
    amount: float
    share: float
    words: str


def _misses(sdp: SDP, values: Mapping[str, Value]) -> list[_Miss]:
    """What a point misses, the worst first."""
    return sorted(_all_misses(sdp, values), key=lambda miss: -miss.share)


def _all_misses(sdp: SDP, values: Mapping[str, Value]) -> Iterator[_Miss]:
    shares = relative_slacks(sdp, values)
    for rows in sdp.rows:
        missed = sdp.missed(rows, values)
        if missed.size and np.any(missed):
            place, amount = int(np.argmax(missed)), float(np.max(missed))
            where = f", most at index {place}" if missed.size > 1 else ""
            words = f"The point misses {rows.label!r} by {amount:.3g}{where}."
            share = float(np.max(np.abs(shares[rows.label][missed > 0.0])))
            yield _Miss(rows.label, amount, share, words)
    for lmi in sdp.lmis:
        what = f"The matrix of {lmi.label!r} is"
        yield from _below_zero(lmi.label, what, np.linalg.eigvalsh(sdp.lmi_value(lmi, values)))
    for variable in sdp.psd_variables:
        value = values[variable.name]
        if isinstance(value, Factor):
            continue
        what, amount = f"{variable.name!r} is", float(np.max(np.abs(value - value.T)))
        if amount > 0.0:
            words = f"{what} not symmetric, by {amount:.3g}: pass (X + X.T) / 2."
            yield _Miss(variable.name, amount, amount / float(np.max(np.abs(value))), words)
        yield from _below_zero(variable.name, what, np.linalg.eigvalsh((value + value.T) / 2.0))
    for scalars in sdp.vector_variables:
        x = np.asarray(values[scalars.name])
        if scalars.nonnegative and np.any(x < 0.0):
            place = int(np.argmin(x))
            where = f" at index {place}" if x.size > 1 else ""
            words = f"{scalars.name!r} is negative: {x[place]:.3g}{where}."
            yield _Miss(scalars.name, -float(x[place]), -float(x[place]) / np.max(np.abs(x)), words)


def _below_zero(name: str, what: str, spectrum: Any) -> Iterator[_Miss]:
    """A matrix that should be positive semidefinite, and is not."""
    lowest = float(spectrum[0])
    if lowest < 0.0:
        words = f"{what} not positive semidefinite: its smallest eigenvalue is {lowest:.3g}."
        yield _Miss(name, -lowest, -lowest / float(np.max(np.abs(spectrum))), words)


class _Nearby:
    """What is proved next to an answer, when it is first needed."""

    def __init__(self, sdp: SDP, given: Point, is_close: bool) -> None:
        self._sdp, self._given = sdp, given
        # Nothing is the same answer where the point is far from feasible.
        self._is_close = is_close and bool(given.values)

    @cached_property
    def of_both(self) -> Proved:
        """Next to point and multipliers."""
        return self._of(self._given.duals)

    @cached_property
    def of_point(self) -> Proved:
        """Next to the point alone, which multipliers of a bad answer would lead astray."""
        return self._of({label: 0.0 * y for label, y in self._given.duals.items()})

    def _of(self, duals: Mapping[str, Array]) -> Proved:
        if not self._is_close:
            return Proved()
        deadline = Deadline(AT_LEAST)
        prover = Prover(self._sdp, 1e-6, seconds=AT_LEAST, deadline=deadline, stays=True)
        return prover.of(Point(self._given.values, duals))


def _attained(sdp: SDP, given: Point, nearby: _Nearby) -> float | None:
    """The value of a feasible point that is the given one, but for rounding; its own if worse."""
    value = value_of(sdp, given)
    for find in ("of_point", "of_both"):
        found: Proved = getattr(nearby, find)
        if found.value is None or not _is_next_to(sdp, value, found.value):
            continue
        if _is_same(given.values, found.values):
            return min(value, found.value) if sdp.maximize else max(value, found.value)
    return None


def _is_same(given: Mapping[str, Any], moved: Mapping[str, Any]) -> bool:
    """Whether each variable, or each constraint's multipliers, moved by rounding at most."""
    return all(distance({name: x}, {name: moved[name]}) <= _SAME for name, x in given.items())


def _is_next_to(sdp: SDP, number: float, proved: float) -> bool:
    """Whether a number of the objective is a proved one, but for rounding of the answer."""
    size = max(abs(number), abs(proved))
    return abs(number - proved) <= _SAME * size + _SEEN * gap_scale(sdp)


# -- the multipliers ----------------------------------------------------------------------------


def _bound(sdp: SDP, duals: Mapping[str, Array], nearby: _Nearby) -> tuple[float | None, str]:
    """What multipliers prove, and that or the reason why it is nothing in words."""
    if not duals and sdp.labels:
        return None, ""
    bound, side = _proved(sdp, duals, nearby), _side(sdp)
    if bound is not None:
        most = "at most" if sdp.maximize else "at least"
        return bound, f"The multipliers prove that the {side} is {bound:.7g} {most}."
    why = f"The multipliers prove no bound: {_trouble(sdp, duals)}."
    turned = _proved(sdp, {label: -y for label, y in duals.items()})
    if turned is not None:
        return None, f"{why} With the other sign they prove {turned:.7g}."
    for label in visible_labels(sdp):
        turned = _proved(sdp, {**duals, label: -duals[label]})
        if turned is not None:
            return None, f"{why} With the other sign of {label!r} they prove {turned:.7g}."
    return None, why


def _proved(sdp: SDP, duals: Mapping[str, Array], nearby: _Nearby | None = None) -> float | None:
    """The bound of these multipliers, as they are or moved by their rounding."""
    seen = {label: duals[label] for label in visible_labels(sdp)}

    def if_same(bound: float | None, proving: Mapping[str, Array]) -> list[float]:
        moved = {label: proving.get(label, y) for label, y in seen.items()}
        if bound is None or not _is_same(seen, moved) or not _is_next_to(sdp, claimed, bound):
            return []
        return [max(bound, claimed) if sdp.maximize else min(bound, claimed)]

    claimed, bounds = sdp.report(sdp.dual_value(duals)), list[float]()
    # Once its time is over a certificate takes multipliers as they are.
    for deadline in (Deadline(0.0), ENDLESS):
        certificate = certify(sdp, duals, deadline=deadline)
        bounds += if_same(certificate.bound, certificate.duals)
        if any(abs(bound - claimed) <= _SEEN * abs(claimed) for bound in bounds):
            break
    else:
        found = Proved() if nearby is None else nearby.of_both
        bounds += if_same(found.bound, found.duals)
        exact = _exact_bound(sdp, duals) if is_small(sdp) else None
        bounds += [] if exact is None else [exact]
    # All are true; the one next to the dual value is that of these multipliers.
    return min(bounds, key=lambda bound: abs(bound - claimed), default=None)


def _exact_bound(sdp: SDP, duals: Mapping[str, Array]) -> float | None:
    """The bound of multipliers that satisfy every condition of the dual exactly, in fractions.

    Where no multipliers have a margin to the cone, none near these can be verified in doubles.
    """
    form = as_written(sdp)
    flat, z = form.flat, form.answer(Point({}, duals)).z
    given = dict(enumerate(as_it_stands.fractions_of(z)))
    if not as_it_stands.are_dual_feasible(flat, given):
        return None
    right = np.concatenate([flat.f, flat.b])
    return sdp.report(-as_it_stands.cost(right, given, -flat.offset)) + 0.0  # not minus zero


def _trouble(sdp: SDP, duals: Mapping[str, Array]) -> str:
    """The condition on multipliers that is missed by most; conditions on signs come first."""
    for conditions in (_signs(sdp, duals), _slacks(sdp, duals)):
        amount, words = max(conditions, default=(0.0, ""))
        if amount > 0.0:
            return words
    return certify(sdp, duals).argument


def _signs(sdp: SDP, duals: Mapping[str, Array]) -> Iterator[tuple[float, str]]:
    """By how much multipliers of inequalities are negative, and each case in words."""
    for rows in sdp.rows:
        y = duals[rows.label]
        if rows.relation == "<=" and y.size:
            place = int(np.argmin(y))
            words = f"those of the inequality {rows.label!r} must not be negative, and number"
            yield -float(y[place]), f"{words} {place} is {y[place]:.3g}"
    for lmi in sdp.lmis:
        yield _lowest(f"that of {lmi.label!r}", np.linalg.eigvalsh(duals[lmi.label])[0])


def _slacks(sdp: SDP, duals: Mapping[str, Array]) -> Iterator[tuple[float, str]]:
    """By how much the slacks of variables are not in their cones, and each case in words."""
    hidden = stated_labels(sdp)
    seen = {label: y for label, y in duals.items() if label not in hidden}
    for variable in sdp.psd_variables:
        slack = sdp.dual_slack(variable.name, seen)
        lowest = smallest_eigenvalue(slack, null_vectors(sdp, variable.name))[0]
        yield _lowest(f"the slack matrix S that belongs to {variable.name!r}", lowest)
    for scalars in sdp.vector_variables:
        left = np.asarray(sdp.dual_slack(scalars.name, duals))
        if scalars.nonnegative:
            least = float(np.min(left))
            yield -least, f"the slack of {scalars.name!r} must not be negative, and is {least:.3g}"
        elif scalars.is_free:
            most = float(np.max(np.abs(left)))
            yield (
                most,
                f"the cost of {scalars.name!r} differs by {most:.3g} from what they add up to",
            )


def _lowest(what: str, eigenvalue: float) -> tuple[float, str]:
    words = "must be positive semidefinite, and its smallest eigenvalue is"
    return -float(eigenvalue), f"{what} {words} {eigenvalue:.3g}"


# -- words --------------------------------------------------------------------------------------


def _side(sdp: SDP) -> str:
    return "maximum" if sdp.maximize else "minimum"


def _about_point(given: Point, misses: Sequence[_Miss], grade: Grade, *, is_exact: bool) -> str:
    if not given.values:
        return ""
    if grade.missed and grade.attained is None:
        return " ".join(miss.words for miss in misses if miss.name in grade.missed)
    if is_exact:
        return "The point satisfies every constraint exactly."
    amount = max((miss.amount for miss in misses), default=0.0)
    size = f", {amount:.0e}" if amount else ""
    return f"The point satisfies every constraint up to rounding{size}."


def _about_value(sdp: SDP, value: float, attained: float | None) -> str:
    if not isfinite(value):
        return ""
    if attained is None:
        return f"Its value would be {value:.7g}, but no feasible point is proved next to it."
    least = "at least" if sdp.maximize else "at most"
    return f"Its value is {attained:.7g}, so the {_side(sdp)} is {attained:.7g} {least}."


def _gap(attained: float | None, bound: float | None) -> float:
    if attained is None or bound is None:
        return inf
    apart = abs(bound - attained)
    return apart / max(abs(bound), abs(attained)) if apart else 0.0


def _about_gap(grade: Grade, given: Point) -> str:
    lacking = []
    if grade.attained is None:
        lacking.append("the point proves no value" if given.values else "no point was given")
    if grade.bound is None:
        lacking.append(
            "the multipliers prove no bound" if given.duals else "no multipliers were given"
        )
    if lacking:
        return f"There is no gap, since {' and '.join(lacking)}."
    if grade.is_optimal and grade.gap > _CLOSE:
        return "Value and bound are zero beside the numbers of the problem: the answer is optimal."
    if grade.is_optimal:
        return f"Value and bound agree to a relative gap of {grade.gap:.1e}: the answer is optimal."
    low, high = sorted((grade.attained or 0.0, grade.bound or 0.0))
    between = f"{low:.7g} and {high:.7g}"
    return f"The optimum lies between {between}, a gap of {100.0 * grade.gap:.3g} %."
