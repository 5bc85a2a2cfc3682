"""Values that are proved attainable near a given point, at any size."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from sdpdr.base.arrays import Array
from sdpdr.base.deadline import ENDLESS, Deadline, Effort
from sdpdr.certify.equations import UnprovedError
from sdpdr.certify.factor import solved_near
from sdpdr.certify.near import Near
from sdpdr.certify.shrink import shrunk
from sdpdr.certify.slack import layout
from sdpdr.linalg.spectral import project_psd
from sdpdr.program.face import is_face_known, onto_face
from sdpdr.program.point import Factor, PsdVariable, Value
from sdpdr.program.sdp import SDP

# Order up to which a dense matrix is factorized.
_LARGEST = 3000
# Most rounds in which violated rows are added to the equations that are solved.
_ROUNDS = 8
_ORIGIN = "the origin, which all rows hold at"
_SHRUNK = "shrunk until all upper limits hold"
_HELD = "every inequality holds by more than its rounding"
_SOLVED = "a factor next to which all equations have a solution"


@dataclass(frozen=True, eq=False)
class Attained:
    """A value that some feasible point has.

    Attributes
    ----------
    value : float
        In the sense of the user: no less than a minimum, no more than a maximum.
    argument : str
        How it was proved.
    values : mapping from variable name to array or Factor
        The feasible point, rounded.
    """

    value: float
    argument: str
    values: Mapping[str, Value]


def attained(
    sdp: SDP,
    values: Mapping[str, Value],
    *,
    goal: float | None = None,
    tol: float = 1e-6,
    deadline: Deadline = ENDLESS,
) -> Attained | None:
    """The best value that is proved near a point, at any size; None if no argument applies.

    The point is kept as it is or shrunk (`sdpdr.certify.shrink`), with all equations solved next to
    its factors (`sdpdr.certify.factor`). If that fails, or the value is far from the goal, rows
    that do not hold by more than rounding are solved as equations as well.

    Parameters
    ----------
    sdp : SDP
    values : mapping from variable name to array or Factor
    goal : float, optional
        A value that the optimum is near, such as a proved bound; in the sense of the user.
    tol : float, default 1e-6
        Relative distance from the goal at which no further argument is tried.
    deadline : Deadline, optional
        No factorization begins after it; proofs without a factorization are still tried.

    Examples
    --------
    >>> from sdpdr import graphs, methods
    >>> sdp = methods.mvu(graphs.path([1.0, 1.0])).to_sdp()
    >>> found = attained(sdp, {"K": Factor(np.array([[-1.001], [0.0], [1.001]]))})
    >>> round(found.value, 6), found.argument
    (2.0, 'shrunk until all upper limits hold')
    """
    if not sdp.variables or not sdp.is_point(values):
        return None
    if not all(is_face_known(sdp, v.name) for v in sdp.psd_variables):
        return None
    for v in sdp.variables:
        value = values[v.name]
        numbers = value.factor if isinstance(value, Factor) else value
        if numbers is value and value.shape[0] > _LARGEST and isinstance(v, PsdVariable):
            return None
        if not np.isfinite(numbers).all():
            return None
    # Without a goal, the first proof is enough.
    aim = np.inf if goal is None else sdp.report(goal)
    best: tuple[float, str, Mapping[str, Near], Array] | None = None
    with np.errstate(all="ignore"):
        for found in _proved(sdp, values, Effort(deadline)):
            if np.isfinite(found[0]) and (best is None or found[0] < best[0]):
                best = found
            if best is not None and best[0] - aim <= 0.5 * tol * abs(best[0]):
                break
    if best is None:
        return None
    number, words, points, z = best
    proved: dict[str, Value] = dict(layout(sdp).split(z))
    for name, near in points.items():
        factor = Factor(near.factor)
        proved[name] = factor if isinstance(values[name], Factor) else factor.dense()
    return Attained(sdp.report(number), words, proved)


def _proved(
    sdp: SDP, values: Mapping[str, Value], effort: Effort
) -> Iterator[tuple[float, str, Mapping[str, Near], Array]]:
    """Yield feasible points: values of the minimisation, arguments, factors, scalars.

    Equations are solved first, and then also the rows that are violated there.
    """
    found = layout(sdp)
    z, solved = found.scalars(values), found.demands
    factors = {
        v.name: onto_face(sdp, v.name, Factor.of(values[v.name], 0.0).factor)
        for v in sdp.psd_variables
    }
    if _holds_at_zero(sdp) and not sdp.primal_value(values) < sdp.constant:
        zeros = {name: Near.of(np.zeros_like(R)) for name, R in factors.items()}
        yield sdp.constant, _ORIGIN, zeros, np.zeros(z.size)
    for k in range(_ROUNDS):
        try:
            point = solved_near(found, factors, z, solved, effort)
        except (UnprovedError, ArithmeticError):
            return
        smaller = None if k else shrunk(point)
        if smaller is not None:
            held, divisor = smaller
            plain = _HELD if divisor == 1.0 else _SHRUNK
            yield held.value(), _SOLVED if solved.any() else plain, held.points, held.scalars()[0]
        elif point.holds():
            yield point.value(), _SOLVED, point.points, point.scalars()[0]
        if not point.short.any():
            return
        solved = solved | point.short


def _holds_at_zero(sdp: SDP) -> bool:
    """Whether all rows hold at the origin, and matrix inequalities have no constant."""
    rows_hold = all(np.all(rows.hold_at_zero) for rows in sdp.rows)
    return rows_hold and not any(np.any(lmi.constant) for lmi in sdp.lmis)


def made_psd(sdp: SDP, values: Mapping[str, Value]) -> Mapping[str, Value]:
    """The values, with negative eigenvalues of matrices replaced by zero.

    Examples
    --------
    >>> from sdpdr import minimize, psd
    >>> X = psd("X", 2)
    >>> made_psd((minimize(X[0, 0]) + (X[1, 1] == 1)).to_sdp(), {"X": np.diag([-1.0, 1.0])})["X"]
    array([[0., 0.],
           [0., 1.]])
    """
    found = dict(values)
    for v in sdp.psd_variables:
        value = values.get(v.name)
        if value is None or isinstance(value, Factor) or not np.isfinite(value).all():
            continue
        symmetric = (np.asarray(value) + np.asarray(value).T) / 2.0
        try:
            np.linalg.cholesky(symmetric)
        except np.linalg.LinAlgError:
            symmetric = project_psd(symmetric)
        found[v.name] = symmetric
    return found
