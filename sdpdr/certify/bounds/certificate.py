"""From multipliers of any quality to a bound."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np

from sdpdr.base.arrays import Array
from sdpdr.base.deadline import ENDLESS, Deadline
from sdpdr.certify.bounds.checker import DualBoundChecker
from sdpdr.certify.bounds.dual_form import DualForm
from sdpdr.certify.bounds.lifting import Lifted, lifted
from sdpdr.certify.bounds.limits import VariableLimits
from sdpdr.certify.bounds.scaling import scaled
from sdpdr.certify.equations import UnprovedError
from sdpdr.program.sdp import SDP

Duals = Mapping[str, Array]
# A loss, relative to the dual value of the multipliers, that is not worth another argument: a tenth
# of the tolerance that solves have by default.
_GOOD = 1e-7
_RIGOROUS = "proved with all rounding accounted for"


@dataclass(frozen=True)
class Certificate:
    """A proved bound on the optimal value, or the reason why there is none.

    Attributes
    ----------
    bound : float or None
        In the sense of the objective as it was written: an upper bound of a maximum, a lower bound
        of a minimum. All rounding is accounted for: the bound is a theorem about the program whose
        data are the doubles that are stored.
    argument : str
        A sentence that says how it is proved, or why not.
    duals : mapping from label to array
        The multipliers that prove it, of all constraints that do not merely state a face; empty
        without a bound. Limits on variables pay for what they lack, where the argument says so.
    """

    bound: float | None
    argument: str
    duals: Duals = field(default_factory=dict, repr=False, compare=False)


def certify(
    sdp: SDP, duals: Duals, *, goal: float | None = None, deadline: Deadline = ENDLESS
) -> Certificate:
    r"""Prove a bound on the optimal value of a program from multipliers of any quality.

    Parameters
    ----------
    sdp : SDP
    duals : mapping from label to array
        Multipliers of every group of rows, shape (m,), and of every matrix inequality, shape
        (order, order), as in `sdpdr.program.Point`.
    goal : float, optional
        A bound that is good enough, in the sense of the objective as it was written. Where an
        argument proves as much, no other is tried.
    deadline : Deadline, optional
        After it the multipliers are tried once more as they are, and nothing else.

    Returns
    -------
    Certificate

    References
    ----------
    Jansson, Chaykin, Keil, "Rigorous error bounds for the optimal value in semidefinite
    programming", SIAM J. Numer. Anal. 46(1), 2007.

    Examples
    --------
    >>> from sdpdr.certify import certify
    >>> import numpy as np
    >>> from sdpdr import graphs, methods
    >>> path = methods.mvu(graphs.path([1.0, 1.0])).to_sdp()
    >>> certificate = certify(path, {"isometry": np.ones(2), "centered": np.zeros(3)})
    >>> bool(2.0 <= certificate.bound < 2.0 + 1e-9)
    True
    """
    if not sdp.is_dual_point(duals):
        return Certificate(None, "the solver returned no multipliers")
    if not all(np.isfinite(y).all() for y in duals.values()):
        return Certificate(None, "the multipliers are not finite")
    form = sdp.remembered(DualForm)
    checker = DualBoundChecker(form, sdp.remembered(VariableLimits))
    search = _Search(form, checker, form.stack(duals))
    with np.errstate(all="ignore"):
        search.run(goal, deadline)
    return search.certificate()


class _Search:
    """The best bound so far, and why arguments proved none."""

    def __init__(self, form: DualForm, checker: DualBoundChecker, y: Array) -> None:
        self._form, self._checker, self._y = form, checker, y
        self._best: tuple[float, str, Array] | None = None
        self._troubles: list[str] = []
        self._is_scaled = False

    def run(self, goal: float | None, deadline: Deadline) -> None:
        """All arguments, until one is good enough or the time is up."""
        form, y = self._form, self._y
        claimed = form.sdp.dual_value(form.named(y))
        enough = claimed - _GOOD * abs(claimed)
        if goal is not None:
            enough = min(enough, form.sdp.report(goal))
        # Without an objective every feasible point is optimal.
        arguments = [self._scaled, self._lifted] if form.has_objective else []
        for argument in (*arguments, self._objective):
            is_late = deadline.is_over()
            try:
                self._as_given() if is_late else argument()
            except (UnprovedError, ArithmeticError, np.linalg.LinAlgError) as reason:
                self._troubles.append(str(reason))
            if is_late or (self._best is not None and self._best[0] >= enough):
                return
            if self._is_scaled and goal is None:
                return

    def _as_given(self) -> None:
        self._take([Lifted(self._y, 0.0, {})], "multipliers as they are")

    def _scaled(self) -> None:
        found = scaled(self._form, self._y)
        if found is not None:
            self._take((Lifted(y, 0.0, {}) for y in found.candidates), found.words)
            self._is_scaled = found.are_multiples and self._best is not None

    def _lifted(self) -> None:
        self._take(lifted(self._form, self._y), "multipliers as they are")

    def _objective(self) -> None:
        """The bound that the objective has by itself, as a sum of squares has."""
        if self._best is None:
            nothing = Lifted(np.zeros(self._y.size), 0.0, {})
            self._take([nothing], "the objective has this bound by itself")

    def _take(self, candidates: Iterable[Lifted], words: str) -> None:
        """Keep the first of some multipliers that prove a bound, if it is better."""
        trouble = words
        for y, radius, lifts in candidates:
            value = self._checker.value(y, radius, lifts)
            if value is not None:
                if self._best is None or value > self._best[0]:
                    self._best = value, words + self._limits(lifts), y
                return
            trouble = self._checker.trouble
        self._troubles.append(trouble)

    def _limits(self, lifts: Mapping[str, float]) -> str:
        """Words for the limits that pay for what slack lacks."""
        limits = [f"tr {k} <= {self._checker.limits.trace(k):.6g}" for k, t in lifts.items() if t]
        shown = [*limits[:2], f"{len(limits) - 2} more"] if len(limits) > 3 else limits
        return f", lifted and paid for by limits ({', '.join(shown)})" if shown else ""

    def certificate(self) -> Certificate:
        """What is proved."""
        form = self._form
        if self._best is None:
            reasons = dict.fromkeys(reason for reason in self._troubles if reason)
            return Certificate(None, "; ".join(reasons) or "no argument applies")
        value, words, y = self._best
        return Certificate(form.sdp.report(value), f"{words}; {_RIGOROUS}", form.duals(y))
