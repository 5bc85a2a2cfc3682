"""From a point of any size to a value that is proved attainable."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from sdpdr.base.arrays import Array
from sdpdr.base.deadline import ENDLESS, Deadline, Effort
from sdpdr.certify.equations import UnprovedError
from sdpdr.certify.factor import solved_near
from sdpdr.certify.near import Near, norms_of
from sdpdr.certify.shrink import Trial, layout, shrunk
from sdpdr.linalg.spectral import project_psd
from sdpdr.program.face import is_face_known, onto_face
from sdpdr.program.point import Factor, Value
from sdpdr.program.sdp import SDP

# Order up to which a dense matrix is taken apart into a factor.
_LARGEST = 3000
# Times rows that turn out to be short are solved as equations.
_ROUNDS = 8
# Shares of the tolerance that matrices are raised by, in turn, and the largest that are: their
# factors have a column for every row then.
_RAISED, _LARGEST_RAISED = (0.1, 1.0, 10.0), 2000
ORIGIN = "the origin, which all rows hold at"
SHRUNK = "shrunk until all upper limits hold"
HELD = "every inequality holds by more than its rounding"
SOLVED = "a factor next to which all equations have a solution"


@dataclass(frozen=True, eq=False)
class Attained:
    """A value that some feasible point has.

    Attributes
    ----------
    value : float
        In the sense the person wrote: no less than a minimum, no more than a maximum.
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
        A value, in the sense of the person, that the optimum is near; a proven bound.
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
    if not sdp.psd_variables or not sdp.is_point(values):
        return None
    if not all(is_face_known(sdp, v.name) for v in sdp.psd_variables):
        return None
    given = [values[v.name] for v in sdp.psd_variables]
    if any(not isinstance(x, Factor) and x.shape[0] > _LARGEST for x in given):
        return None
    search = _Search(sdp, values, Effort(deadline))
    with np.errstate(all="ignore"):
        return search.best(None if goal is None else sdp.report(goal), tol)


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
    """Arguments in turn, until one leads near enough to the goal."""

    def __init__(self, sdp: SDP, values: Mapping[str, Value], effort: Effort) -> None:
        self.sdp, self.values, self.effort = sdp, values, effort
        self.layout = layout(sdp)
        self.found: tuple[float, Trial, str] | None = None

    def best(self, goal: float | None, tol: float) -> Attained | None:
        """The best value; of the minimisation, the goal."""
        factors = dict[str, Array]()
        for v in self.sdp.psd_variables:
            factor = Factor.of(self.values[v.name], 0.0).factor
            if not np.isfinite(factor).all():
                return None
            factors[v.name] = onto_face(self.sdp, v.name, factor)
        z = self.layout.scalars(self.values)
        if not np.isfinite(z).all():
            return None
        if self.layout.b.size == 0 or self._may_be_zero():
            self._try({name: 0.0 * R[:, :1] for name, R in factors.items()}, 0.0 * z, ORIGIN)
        self._try(factors, z, "")
        if self._is_far(goal, tol):
            self._solve_short(factors, z)
        is_small = all(v.n <= _LARGEST_RAISED for v in self.sdp.psd_variables)
        for share in _RAISED if is_small else ():
            if self._is_far(goal, tol):
                self._solve_short(self._raised(factors, share * tol), z)
        return self._attained()

    def _raised(self, factors: Mapping[str, Array], share: float) -> dict[str, Array]:
        """Factors of matrices to which a share of their diagonals is added."""
        found = {}
        for name, R in factors.items():
            near = Near.of(R)
            root = np.sqrt(share) * np.maximum(norms_of(R), near.units)
            found[name] = onto_face(self.sdp, name, np.hstack([R, np.diag(root)]))
        return found

    def _may_be_zero(self) -> bool:
        """Whether all rows hold where everything is zero, and the point is no better than that."""
        if not all(np.all(rows.hold_at_zero) for rows in self.sdp.rows):
            return False
        return not self.sdp.primal_value(self.values) < self.sdp.constant

    def _is_far(self, goal: float | None, tol: float) -> bool:
        """Whether nothing is proved, or what is leaves more than half of the tolerance."""
        if self.found is None:
            return True
        return goal is not None and self.found[0] - goal > 0.5 * tol * abs(self.found[0])

    def _try(self, factors: Mapping[str, Array], z: Array, words: str) -> None:
        """The equations solved, and all rows held or shrunk."""
        demands = self.layout.demands
        try:
            exact = solved_near(self.layout, factors, z, demands, self.effort)
        except (UnprovedError, ArithmeticError):
            return
        found = shrunk(exact)
        if found is not None:
            plain = HELD if found[1] == 1.0 else SHRUNK
            self._keep(found[0], words or (SOLVED if demands.any() else plain))

    def _solve_short(self, factors: Mapping[str, Array], z: Array) -> None:
        """Rows that are short solved as equations, and those that are short then, in turn."""
        solved = self.layout.demands
        try:
            for _ in range(_ROUNDS):
                exact = solved_near(self.layout, factors, z, solved, self.effort)
                trial = exact.tried()
                if trial.holds():
                    self._keep(trial, SOLVED)
                    return
                if not trial.short.any():
                    return
                solved = solved | trial.short
        except (UnprovedError, ArithmeticError):
            return

    def _keep(self, trial: Trial, words: str) -> None:
        value = trial.value()
        if np.isfinite(value) and (self.found is None or value < self.found[0]):
            self.found = value, trial, words

    def _attained(self) -> Attained | None:
        """What was found, with dense matrices where the values have dense ones."""
        if self.found is None:
            return None
        value, trial, words = self.found
        point: dict[str, Value] = dict(trial.candidate.layout.split(trial.scalars()[0]))
        for name, near in trial.candidate.points.items():
            factor = Factor(near.factor)
            point[name] = factor if isinstance(self.values[name], Factor) else factor.dense()
        return Attained(self.sdp.report(value), words, point)
