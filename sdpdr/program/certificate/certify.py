"""From multipliers of any quality to a bound."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array, Matrix
from sdpdr.base.deadline import ENDLESS, Deadline, Effort
from sdpdr.linalg.outer import Outer
from sdpdr.program.certificate.account import Account
from sdpdr.program.certificate.arithmetic import Arithmetic, Plain, Rigorous
from sdpdr.program.certificate.free import Certificate, Duals, has_no_objective
from sdpdr.program.certificate.general import general, reaches
from sdpdr.program.certificate.lifting import lifted
from sdpdr.program.certificate.rational import rational
from sdpdr.program.certificate.scaling import outweighed, scaled_or_mixed
from sdpdr.program.point import PsdVariable
from sdpdr.program.sdp import SDP

# Multipliers this much smaller than the largest are noise that only underflows.
_NOISE = 1e-100
_Found = TypeVar("_Found")


def certify(
    sdp: SDP,
    duals: Duals,
    *,
    rigorous: bool = False,
    goal: float | None = None,
    deadline: Deadline = ENDLESS,
) -> Certificate:
    r"""Prove a bound on the optimal value of a program from multipliers of any quality.

    Parameters
    ----------
    sdp : SDP
    duals : mapping from label to array
        Multipliers of every group of rows, shape (m,), and of every matrix inequality, shape
        (order, order), as in `sdpdr.program.Point`.
    rigorous : bool, default False
        Account for all rounding, so that the bound is a theorem about the program whose data are
        the doubles stored, in exact arithmetic. It is looser by about 1e-10 for small programs
        and 1e-8 for ten thousand points, and takes a few factorizations more.
    goal : float, optional
        A bound that is good enough, in the sense of the person. Where an argument proves as much,
        no other is tried.
    deadline : Deadline, optional
        No search for strictly feasible multipliers to move to goes on after it. What is proved with
        those given, by a single factorization or in rational numbers, and the best bound so far, is
        proved all the same.

    Returns
    -------
    Certificate

    References
    ----------
    Jansson, Chaykin, Keil, "Rigorous error bounds for the optimal value in semidefinite
    programming", SIAM J. Numer. Anal. 46(1), 2007.

    Examples
    --------
    >>> import numpy as np
    >>> from sdpdr import graphs, methods
    >>> path = methods.mvu(graphs.path([1.0, 1.0])).to_sdp()
    >>> weights = {"isometry": np.ones(2), "centered": np.zeros(3)}
    >>> certificate = certify(path, weights, rigorous=True)
    >>> bool(2.0 <= certificate.bound < 2.0 + 1e-9)
    True
    """
    if not sdp.is_dual_point(duals):
        return Certificate(None, "the solver returned no multipliers")
    if not all(np.isfinite(y).all() for y in duals.values()):
        return Certificate(None, "the multipliers are not finite")
    if has_no_objective(sdp):
        text = "there is no objective, so every feasible point is optimal"
        return Certificate(sdp.report(sdp.constant), text, rigorous)
    arithmetic: Arithmetic = Rigorous() if rigorous else Plain()
    y = {label: _without_noise(np.asarray(duals[label], dtype=float)) for label in sdp.labels}
    quick = None if goal is None else _unless_singular(lifted, sdp, y, arithmetic)
    if quick is not None and quick.bound is not None and reaches(sdp, quick.bound, goal):
        return quick
    found = _unless_singular(scaled_or_mixed, sdp, y, arithmetic) or _better(
        sdp, y, arithmetic, deadline, goal
    )
    return found if found.bound is not None else rational(sdp, y) or found


def by_objective(sdp: SDP, *, rigorous: bool = False) -> Certificate | None:
    """The bound that the objective has by itself, as a sum of squares has: multipliers of zero.

    Parameters
    ----------
    sdp : SDP
    rigorous : bool, default False
        Account for all rounding.

    Returns
    -------
    Certificate or None
        None where the objective has no bound, or none that a factorization proves.

    Examples
    --------
    >>> from sdpdr import minimize, scalar, square
    >>> x = scalar("x", 2)
    >>> by_objective((minimize(square(x[0] - x[1])) + (x >= 1.0)).to_sdp()).bound
    0.0
    """
    arithmetic: Arithmetic = Rigorous() if rigorous else Plain()
    account = Account(replace(sdp, rows=(), lmis=()), arithmetic)
    found = account.certificate([{}], "the objective has this bound by itself")
    if found is None:
        return None
    duals = {r.label: np.zeros(r.m) for r in sdp.rows}
    duals |= {lmi.label: np.zeros((lmi.order, lmi.order)) for lmi in sdp.lmis}
    return replace(found, duals=duals)


def may_bound_itself(sdp: SDP) -> bool:
    """Whether the signs of costs leave the objective a bound of its own, told at next to no cost.

    Examples
    --------
    >>> from sdpdr import minimize, scalar, square
    >>> x = scalar("x")
    >>> [may_bound_itself((minimize(f) + (x >= 1.0)).to_sdp()) for f in (square(x), x)]
    [True, False]
    """
    for v in sdp.variables:
        if v.name not in sdp.objective:
            continue
        cost = sdp.cost(v.name)
        if isinstance(v, PsdVariable):
            if isinstance(cost, Outer):
                continue
            diagonal = cost.diagonal()
            if np.any(diagonal < 0.0) or not (diagonal.any() or _is_zero(cost)):
                return False
        elif v.curvature is None and np.any(cost < 0.0 if v.nonnegative else cost != 0.0):
            return False
    return True


def _is_zero(cost: Matrix) -> bool:
    return not (cost.count_nonzero() if sp.issparse(cost) else np.any(cost))


def _better(
    sdp: SDP, y: Duals, arithmetic: Arithmetic, deadline: Deadline, goal: float | None
) -> Certificate:
    """The better of two arguments, the second of which may be long-winded."""
    found = _unless_singular(outweighed, sdp, y, arithmetic)
    if found is not None and found[1]:
        return found[0]
    try:
        other = general(sdp, y, arithmetic, Effort(deadline), goal)
    except ArithmeticError as error:
        other = Certificate(None, str(error))
    if found is None or found[0].bound is None:
        return other
    if other.bound is None:
        return found[0]
    return found[0] if (found[0].bound < other.bound) == sdp.maximize else other


def _unless_singular(
    argument: Callable[[SDP, Duals, Arithmetic], _Found | None],
    sdp: SDP,
    y: Duals,
    arithmetic: Arithmetic,
) -> _Found | None:
    """What an argument finds; nothing where its matrices are singular to working precision."""
    try:
        return argument(sdp, y, arithmetic)
    except ArithmeticError:
        return None


def _without_noise(y: Array) -> Array:
    return np.where(np.abs(y) < _NOISE, 0.0, y)
