"""From a point of any size to a value that is proved attainable."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from sdpdr.base.arrays import Array
from sdpdr.base.deadline import ENDLESS, Deadline, Effort
from sdpdr.certify.equations import UnprovedError
from sdpdr.certify.factor import solved_near
from sdpdr.certify.near import Near
from sdpdr.certify.shrink import Candidate, shrunk
from sdpdr.certify.slack import layout
from sdpdr.linalg.spectral import project_psd
from sdpdr.program.face import is_face_known, onto_face
from sdpdr.program.point import Factor, PsdVariable, Value
from sdpdr.program.sdp import SDP

# Order up to which a dense matrix is taken apart into a factor.
_LARGEST = 3000
# Times rows that turn out to be short are solved as equations.
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
    """The best value that is proved near a point, at any size; None where no argument applies.

    The point is held as it is or shrunk (`sdpdr.certify.shrink`), with all equations solved next to
    its factors (`sdpdr.certify.factor`). Where that leads nowhere, or away from the goal, rows that
    do not hold by more than rounding are solved as equations instead.

    Parameters
    ----------
    sdp : SDP
    values : mapping from variable name to array or Factor
    goal : float, optional
        A value that the optimum is near, such as a proved bound; in the sense of the user.
    tol : float, default 1e-6
        How near, relative to the value: no further argument is tried then.
    deadline : Deadline, optional
        No factorization begins after it. What is proved without is proved all the same.

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
    # Without a goal, whatever is proved is near enough.
    aim = np.inf if goal is None else sdp.report(goal)
    with np.errstate(all="ignore"):
        return _Search(sdp, values, aim, tol, Effort(deadline)).run()


def made_psd(sdp: SDP, values: Mapping[str, Value]) -> Mapping[str, Value]:
    """The values with negative eigenvalues of matrices taken as zero.

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


class _Search:
    """Arguments in turn, until one leads near enough to the goal; all of the minimisation."""

    def __init__(
        self, sdp: SDP, values: Mapping[str, Value], goal: float, tol: float, effort: Effort
    ) -> None:
        self._sdp, self._values, self._goal, self._tol = sdp, values, goal, tol
        self._effort, self._layout = effort, layout(sdp)
        self._value, self._best, self._words = np.inf, dict[str, Value](), ""

    def run(self) -> Attained | None:
        """The best value."""
        sdp = self._sdp
        factors = {
            v.name: onto_face(sdp, v.name, Factor.of(self._values[v.name], 0.0).factor)
            for v in sdp.psd_variables
        }
        z = self._layout.scalars(self._values)
        self._at_origin(factors)
        self._near(factors, z)
        if not self._words:
            return None
        return Attained(sdp.report(self._value), self._words, self._best)

    def _is_far(self) -> bool:
        """Whether nothing is proved, or what is leaves more than half of the tolerance."""
        if not self._words:
            return True
        return not self._value - self._goal <= 0.5 * self._tol * abs(self._value)

    def _at_origin(self, factors: Mapping[str, Array]) -> None:
        """Keep the origin where all rows hold there, and the point is no better than that."""
        sdp = self._sdp
        holds = all(np.all(rows.hold_at_zero) for rows in sdp.rows)
        holds = holds and not any(np.any(lmi.constant) for lmi in sdp.lmis)
        if holds and not sdp.primal_value(self._values) < sdp.constant:
            zeros = {name: Near.of(np.zeros_like(R)) for name, R in factors.items()}
            self._take(sdp.constant, zeros, np.zeros(self._layout.cost.size), _ORIGIN)

    def _near(self, factors: Mapping[str, Array], z: Array) -> None:
        """Solve equations, and in turn rows that are short then; keep points at which all hold."""
        solved = self._layout.demands
        for k in range(_ROUNDS):
            try:
                point = solved_near(self._layout, factors, z, solved, self._effort)
            except (UnprovedError, ArithmeticError):
                return
            found = None if k else shrunk(point)
            if found is not None:
                plain = _HELD if found[1] == 1.0 else _SHRUNK
                self._keep(found[0], _SOLVED if solved.any() else plain)
            elif point.holds():
                self._keep(point, _SOLVED)
            if not point.short.any() or not self._is_far():
                return
            solved = solved | point.short

    def _keep(self, point: Candidate, words: str) -> None:
        """Keep a point at which all rows hold, where it is better."""
        self._take(point.value(), point.points, point.scalars()[0], words)

    def _take(self, value: float, points: Mapping[str, Near], z: Array, words: str) -> None:
        """Keep a point that is better, with dense matrices where the values have dense ones."""
        if not value < self._value or not np.isfinite(value):
            return
        best: dict[str, Value] = dict(self._layout.split(z))
        for name, near in points.items():
            factor = Factor(near.factor)
            best[name] = factor if isinstance(self._values[name], Factor) else factor.dense()
        self._value, self._best, self._words = value, best, words
