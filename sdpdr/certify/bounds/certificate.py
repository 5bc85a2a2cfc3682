"""From multipliers of any quality to a bound."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field

import numpy as np

from sdpdr.base.arrays import Array
from sdpdr.base.deadline import ENDLESS, Deadline
from sdpdr.certify.bounds.dual_form import DualForm
from sdpdr.certify.bounds.inwards import Way, shares, ways
from sdpdr.certify.equations import UnprovedError
from sdpdr.program.sdp import SDP

Duals = Mapping[str, Array]
# A loss, relative to the dual value of the multipliers, that is not worth another way: a tenth of
# the tolerance that solves have by default.
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
        without a bound.
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
        A bound that is good enough, in the sense of the objective as it was written. Once as much
        is proved, no other multipliers are tried.
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
    search = _BestBound(sdp.remembered(DualForm), duals, deadline)
    with np.errstate(all="ignore"):
        search.run(goal)
    return search.certificate()


class _BestBound:
    """The best bound so far, and why other multipliers proved none."""

    def __init__(self, form: DualForm, duals: Duals, deadline: Deadline) -> None:
        self._form, self._deadline = form, deadline
        # Ways begin where free scalars have no slack, so that no step back leaves the cones.
        self._y = y = np.clip(form.stack(duals), *form.box)
        with suppress(UnprovedError):
            self._y = np.clip(form.onto_equations(y)[0], *form.box)
        self._best: tuple[float, str, Array] | None = None
        self._troubles: list[str] = []

    def run(self, goal: float | None) -> None:
        """Multipliers in turn, until some are good enough or the time is up."""
        form, y = self._form, self._y
        claimed = form.sdp.dual_value(form.named(y))
        enough = claimed - _GOOD * abs(claimed)
        if goal is not None:
            enough = min(enough, form.sdp.report(goal))
        if self._deadline.is_over():
            self._take(y, "multipliers as they are")
            return
        if not form.has_objective:
            # Every feasible point is optimal, unless there is none.
            self._take(np.zeros(y.size), "there is no objective")
        for way in ways(form, y):
            self._move(way)
            if self._is_over(enough):
                return
        self._take(y, "multipliers as they are")
        if self._best is None:
            self._take(np.zeros(y.size), "the objective has this bound by itself")

    def _move(self, way: Way) -> None:
        """Keep multipliers that are moved by the least share that verifies."""
        try:
            first, *others, last = shares(self._form, self._y, way)
        except (UnprovedError, ArithmeticError, np.linalg.LinAlgError) as reason:
            self._troubles.append(f"{way.words}: {reason}")
            return
        if self._moved(way, first) or not self._moved(way, last):
            return  # Where the largest share fails, those in between do.
        any(self._moved(way, share) for share in others)

    def _moved(self, way: Way, share: float) -> bool:
        """Keep multipliers that are moved by a share; whether they prove a bound."""
        return self._take(np.clip(way.at(self._y, share), *self._form.box), way.words)

    def _is_over(self, enough: float) -> bool:
        """Whether the best bound is good enough, or the time is up."""
        return self._deadline.is_over() or (self._best is not None and self._best[0] >= enough)

    def _take(self, y: Array, words: str) -> bool:
        """Keep multipliers that prove a better bound; whether they prove any."""
        try:
            y, radius = self._form.onto_equations(y)
            value = self._form.bound(y, radius)
        except (UnprovedError, ArithmeticError, np.linalg.LinAlgError) as reason:
            self._troubles.append(f"{words}: {reason}")
            return False
        if self._best is None or value > self._best[0]:
            self._best = value, words, y
        return True

    def certificate(self) -> Certificate:
        """What is proved."""
        form = self._form
        if self._best is None:
            return Certificate(None, "; ".join(dict.fromkeys(self._troubles)))
        value, words, y = self._best
        return Certificate(form.sdp.report(value), f"{words}; {_RIGOROUS}", form.duals(y))
