"""From a point of any quality to a value that is proved attainable."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from sdpdr.base.arrays import Array
from sdpdr.base.deadline import ENDLESS, Deadline, EffortSpentError
from sdpdr.program.attain.approach import (
    SHARES,
    centred,
    finest_first,
    near_path,
    nearest,
    own_share,
)
from sdpdr.program.attain.box import LARGEST, Box, enclose
from sdpdr.program.attain.closed import closed_form
from sdpdr.program.attain.cone import (
    ConeProgram,
    cone_program,
    largest_order,
    require_dense_factors,
)
from sdpdr.program.attain.through import solve_through_factor
from sdpdr.program.certificate import Certificate
from sdpdr.program.face import is_face_known
from sdpdr.program.point import Factor, Point, Value
from sdpdr.program.sdp import SDP

_MANY_ROWS, _FEWER_SHARES = 400, (1e-9, 1e-5, 1.0)
# Tolerances below which doubles hardly lead.
_FINEST = 1e-11
# Gaps of central points, beside the one wanted, that are tried in turn.
_WIDER = (1.0, 10.0, 100.0, 1e3, 1e4)
# What is left of a gap after the shortest step along the path.
_SLOWEST = 0.7
# How near a value must be to the bound for the path to be followed from further inside.
_POLISHED = 1e-3
# Order up to which they take no time to speak of.
_SMALL_ORDER = 150
_ENCLOSED = "a box around it contains a feasible point and lies in the cone"
_UNPROVED = "no point was proved feasible"
INTERRUPTED = "the proof was interrupted"


@dataclass(frozen=True, eq=False)
class Attained:
    """A value that some feasible point has, or the reason why none is proved.

    Attributes
    ----------
    value : float or None
        In the sense the person wrote: no less than a minimum, no more than a maximum.
    argument : str
        How it was proved, or why not.
    values : mapping from variable name to array or Factor
        The feasible point, rounded; the point as given where nothing is proved.
    duals : mapping from label to array
        Those of a point of the central path, where one was found; empty if none was.
    rigorous : bool
        Whether all rounding is accounted for, so that a point of the program whose data are the
        numbers stored has a value at least as good.
    """

    value: float | None
    argument: str
    values: Mapping[str, Value]
    duals: Mapping[str, Array] = field(default_factory=dict)
    rigorous: bool = False


class InterruptedProofError(KeyboardInterrupt):
    """Somebody interrupted a proof; what was proved by then is kept.

    Parameters
    ----------
    attained : Attained
        The best value so far.
    certificate : Certificate, optional
        A bound, and the multipliers that prove it.
    """

    def __init__(self, attained: Attained, certificate: Certificate | None = None) -> None:
        super().__init__(INTERRUPTED)
        self.attained = attained
        self.certificate = certificate or Certificate(None, INTERRUPTED)


def attain(
    sdp: SDP,
    point: Point,
    *,
    goal: float = np.nan,
    tol: float = 1e-6,
    rigorous: bool = False,
    path: bool = True,
    near: bool = False,
    deadline: Deadline = ENDLESS,
) -> Attained:
    r"""Make a point feasible and prove it.

    In turn: an argument special to the program (`closed`), a solution of all equations next to a
    factor, where one is given (`through`), the nearest feasible points to the one given, with its
    small eigenvalues lifted a little, and a point of the central path (`approach`). The last two
    are verified by enclosing a solution of all equations in a box that lies in the cone (`box`).
    The first point that comes near enough to the goal is taken, else the best.

    Parameters
    ----------
    sdp : SDP
    point : Point
        Values of all variables; multipliers, if there are any, serve to find the central path.
    goal : float, optional
        A value, in the sense of the person, that the optimum is near; a proven bound.
    tol : float, default 1e-6
        How near, relative to the value.
    rigorous : bool, default False
        Account for all rounding.
    path : bool, default True
        Whether to look for a point of the central path where the nearest ones are too far.
    near : bool, default False
        Whether a point far from the one given will not do, though its value is no worse.
    deadline : Deadline, optional
        No Newton step and no enclosure begins after it. What is proved without them, by shrinking
        for instance, is proved all the same.

    Returns
    -------
    Attained

    Raises
    ------
    InterruptedProofError
        In place of a KeyboardInterrupt where a value was proved by then.

    References
    ----------
    Jansson, Chaykin, Keil, "Rigorous error bounds for the optimal value in semidefinite
    programming", SIAM J. Numer. Anal. 46(1), 2007, section 4, for the upper bound of a minimum by
    a box around a point in the interior.

    Examples
    --------
    >>> import numpy as np
    >>> from sdpdr.linalg import InnerProduct, Trace
    >>> from sdpdr.program.point import PsdVariable
    >>> from sdpdr.program.rows import Rows
    >>> cost = InnerProduct(np.diag([1.0, 2.0]))
    >>> rows = Rows("trace", "==", {"X": Trace(2)}, np.ones(1))
    >>> sdp = SDP((PsdVariable("X", 2),), {"X": cost}, (rows,))
    >>> found = attain(sdp, Point({"X": np.diag([1.001, -1e-3])}), rigorous=True)
    >>> bool(1.0 <= found.value < 1.01)
    True
    """
    why = _why_hopeless(sdp, point)
    if why is not None:
        return Attained(None, why, point.values)
    closed, found = closed_form(sdp, point.values, rigorous, near=near), None
    known = np.inf if closed is None else closed[0]
    aim = _Aim(sdp.report(goal), max(tol, _FINEST), rigorous, known, path)
    if closed is not None and np.isfinite(closed[0]):
        lowest, values, words = closed
        found = Attained(sdp.report(lowest), words, values, rigorous=rigorous)
        # Shrinking all for the sake of one row may cost more than steps towards that row.
        # Nor can all that is searched for be enclosed where there are many equations.
        if _is_large(sdp) or not aim.is_far(lowest):
            return found
    try:
        value, searched = _searched(sdp, point, aim, deadline)
    except _UnprovedError as error:
        return found or Attained(None, str(error), point.values)
    except InterruptedProofError as error:
        raise InterruptedProofError(better_value(sdp, error.attained, found)) from None
    except KeyboardInterrupt:
        if found is None:
            raise
        raise InterruptedProofError(found) from None
    if closed is None or found is None or value < closed[0]:
        return searched
    return replace(found, duals=searched.duals)


def better_value(sdp: SDP, one: Attained, other: Attained | None) -> Attained:
    """Of two the one with the better value that is proved; the first where neither has one."""
    if other is None or other.value is None:
        return one
    if one.value is None:
        return other
    return one if (one.value > other.value) == sdp.maximize else other


def _is_large(sdp: SDP) -> bool:
    """Whether Newton steps are slow, or there are too many equations to enclose a solution."""
    return largest_order(sdp) > _SMALL_ORDER or sdp.n_rows > LARGEST


class _UnprovedError(Exception):
    """No point was proved feasible; the message says why."""


@dataclass(frozen=True)
class _Aim:
    """A value of the minimisation, how near to it is near enough, and whether rounding counts.

    With the value that is proved already, infinite where none is, and whether the central path is
    looked for.
    """

    goal: float
    tol: float
    exact: bool
    known: float
    path: bool

    def is_far(self, value: float) -> bool:
        """Whether a value leaves more than half of the tolerance to the bound."""
        return value - self.goal > 0.5 * self.tol * abs(value)

    def gains(self, value: float) -> bool:
        """Whether a value is better, by as much, than the one that is proved already."""
        return not self.known < np.inf or self.known - value > 0.5 * self.tol * abs(value)


def _why_hopeless(sdp: SDP, point: Point) -> str | None:
    """Why no argument can prove that some point is feasible; None if one may."""
    if not point.values or not sdp.is_point(point.values):
        return "the solver returned no point"
    if not all(is_face_known(sdp, v.name) for v in sdp.psd_variables):
        return f"{_UNPROVED}: null vectors that rows state nearly depend on others"
    for r in sdp.rows:
        if not r.lhs and not r.hold_at_zero.all():
            return f"no point is feasible: the rows {r.label!r} have no variables and do not hold"
    return None


def _searched(sdp: SDP, point: Point, aim: _Aim, deadline: Deadline) -> tuple[float, Attained]:
    """Value of the minimisation and point, by Newton steps, where dense factorizations are quick.

    Raises
    ------
    _UnprovedError
    InterruptedProofError
        Where a point was proved by then.
    """
    stopped = False
    best: tuple[Box, str] | None = None
    # A point next to the one given may be the better one, and has no multipliers.
    central: tuple[float, Mapping[str, Array]] = (np.inf, {})
    trouble = "no interior point of the feasible set was found"
    try:
        is_narrow = any(isinstance(given, Factor) for given in point.values.values())
        program = cone_program(sdp, deadline, wide=is_narrow)
        if aim.exact and not program.is_exact:
            raise _UnprovedError("the face that the rows state is known to rounding only")
        x = program.vector(point.values)
        if not np.isfinite(x).all():
            raise _UnprovedError("the point has entries that are not finite")
        for box, words, duals in _boxes(program, x, point, aim):
            if isinstance(box, str):
                trouble = box
                continue
            if duals and box.value < central[0]:
                central = (box.value, duals)
            if best is None or box.value < best[0].value:
                best = (box, words)
            if not aim.is_far(box.value):
                break
    except EffortSpentError as error:
        trouble = str(error)
    except KeyboardInterrupt:
        if best is None:
            raise
        stopped = True
    if best is None:
        raise _UnprovedError(f"{_UNPROVED}: {trouble}")
    box, words = best
    values = _values(program, box, point)
    found = Attained(sdp.report(box.value), words, values, central[1], aim.exact)
    if stopped:
        raise InterruptedProofError(found)
    return box.value, found


def _values(program: ConeProgram, box: Box, point: Point) -> dict[str, Value]:
    """Of all variables that the point has; who works with factors gets one back."""
    through = {b.name: b.basis for b in program.blocks if b.name in box.factors}
    values = program.values(box.x, tuple(name for name in point.values if name not in through))
    for name, given in point.values.items():
        if name in through:
            values[name] = Factor(through[name].expanded_factor(box.factors[name]))
        elif isinstance(given, Factor):
            values[name] = Factor.of(values[name], 0.0)
    return values


def _boxes(
    program: ConeProgram, x: Array, point: Point, aim: _Aim
) -> Iterator[tuple[Box | str, str, Mapping[str, Array]]]:
    """Boxes around points of the interior that nearly satisfy the equations, or why there is none.

    The most promising points come first; what leads further from the optimum is tried only where
    what is nearer was in vain. Nothing next to a point is, where it is itself no better than what
    is proved already.
    """
    # Of a matrix that is not written down, no vector tells the objective.
    value = program.sdp.primal_value(point.values) if program.is_narrow else program.value(x)
    gains = aim.gains(value)
    if gains and any(isinstance(given, Factor) for given in point.values.values()):
        box = solve_through_factor(program, x, program.factors(point.values))
        yield box, "a factor next to which all equations have a solution", {}
    require_dense_factors(program.sdp)
    shares = finest_first(aim.tol, SHARES if program.b.size <= _MANY_ROWS else _FEWER_SHARES)
    own = own_share(program, x)
    # A point that lies inside and satisfies the rows need not be moved.
    shares = shares if own is None or own >= shares[0] else (own, *shares)
    for share in shares if gains else ():
        found = nearest(program, x, share)
        if found is not None:
            box = enclose(program, found, exact=aim.exact)
            yield box, f"the nearest point that satisfies all rows; {_ENCLOSED}", {}
            if isinstance(box, Box):
                break
    if not aim.path or not all(r.label in point.duals for r in program.sdp.rows):
        return
    size = abs(aim.goal) if np.isfinite(aim.goal) else abs(program.value(x))
    # Who is far from the optimum gets a proof of what was found, and is not led to the optimum.
    widths = _WIDER if abs(program.value(x) - aim.goal) <= _POLISHED * size else _WIDER[:1]
    # A third of the tolerance is left for the bound, and for rounding.
    gap = aim.tol * size / 3.0
    for box, y in _along_path(program, x, point.duals, gap, widths, aim.exact):
        yield box, f"a point of the central path; {_ENCLOSED}", program.duals(point.duals, y)


def _along_path(
    program: ConeProgram,
    x: Array,
    duals: Mapping[str, Array],
    gap: float,
    widths: tuple[float, ...],
    exact: bool,
) -> Iterator[tuple[Box | str, Array]]:
    """Boxes around points of the central path, towards the gap wanted, and multipliers.

    Where steps towards that one fail, the first is further inside, and the others follow from it.
    """
    for k, wider in enumerate(widths):
        start = near_path(program, x, duals, wider * gap)
        found = None if start is None else centred(program, *start, wider * gap)
        if found is None:
            continue
        box = enclose(program, found[0], exact=exact)
        yield box, found[1]
        if isinstance(box, str):
            continue
        for nearer in reversed(widths[:k]):
            found, reached = _followed(program, found, wider * gap, nearer * gap)
            yield enclose(program, found[0], exact=exact), found[1]
            if reached > nearer * gap:
                return
            wider = nearer
        return


def _followed(
    program: ConeProgram, found: tuple[Array, Array, Array], gap: float, wanted: float
) -> tuple[tuple[Array, Array, Array], float]:
    """The point of the central path with a smaller gap, or where shorter and shorter steps end."""
    pace = wanted / gap
    while gap > wanted and pace < _SLOWEST:
        further = max(pace * gap, wanted)
        centre = centred(program, *found, further)
        if centre is None:
            pace = np.sqrt(pace)
        else:
            found, gap = centre, further
    return found, gap
