r"""Multipliers that no feasible point can agree with.

For the program without objective, multipliers that are dual feasible prove a bound like for any
other (`sdpdr.program.certificate.account`). Where it is positive, there is no feasible point,
since the objective of one would be zero. So what a solver's multipliers lack may be paid for by
limits on traces and scalars, and they may be shifted along multipliers v with
:math:`A^*(v) \succ 0`, exactly as for bounds.

Where matrices are free to grow, the dual slack of a ray must be singular, and no factorization
tells singular from indefinite. `sdpdr.program.rays.relax` leaves out what is not needed for the
contradiction, so that the rest can be positive definite.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeAlias

import numpy as np

from sdpdr.base.arrays import Array
from sdpdr.base.deadline import ENDLESS, Deadline
from sdpdr.linalg.magnitudes import adjoint_magnitude
from sdpdr.linalg.rounding import near_powers
from sdpdr.linalg.smallest import smallest_eigenvalue
from sdpdr.linalg.svec import svec
from sdpdr.program.certificate.account import Account
from sdpdr.program.certificate.arithmetic import Arithmetic, Plain, Rigorous
from sdpdr.program.certificate.free import Duals, on_equations
from sdpdr.program.certificate.moving import direction, distance, size
from sdpdr.program.certificate.rational import rational
from sdpdr.program.face import null_vectors, visible_rows
from sdpdr.program.limits import VariableLimits
from sdpdr.program.rays.faces import on_faces
from sdpdr.program.rays.ray import Ray
from sdpdr.program.rays.relax import WeakerProgram, relaxations, without_objective
from sdpdr.program.sdp import SDP

Lifts: TypeAlias = Mapping[str, float] | None

# How far beyond the boundary multipliers are moved, relatively, to be seen inside.
_MARGINS = (1e-12, 1e-10, 1e-8, 1e-6, 1e-4)
# A contradiction smaller than this, relatively, may be rounding where that is not accounted for.
_ROUNDING = 1e-12
# Likewise an eigenvalue of the dual slack, relative to the size of the terms it is the sum of.
_BLUR = 1e-13
# A contradiction smaller than this leaves nothing to pay with for what multipliers lack.
_HOPE = 1e-9


def prove_infeasible(
    sdp: SDP, duals: Duals, rigorous: bool = False, deadline: Deadline = ENDLESS
) -> Ray | str:
    r"""Prove from multipliers of any quality that a program has no feasible point.

    Parameters
    ----------
    sdp : SDP
    duals : mapping from label to array
        Multipliers of every group of rows, shape (m,), and of every matrix inequality, shape
        (order, order), of any scale. Those that are missing count as zero.
    rigorous : bool, default False
        Accept a proof only if all rounding is accounted for. Such a proof is tried first in
        any case, and `Ray.rigorous` tells.
    deadline : Deadline, optional
        After it no other relaxation is tried than the first, and no limits on variables are
        looked for.

    Returns
    -------
    Ray or str
        The ray, or why these multipliers prove nothing. A program that is only weakly
        infeasible has no ray.

    References
    ----------
    Jansson, Chaykin, Keil, "Rigorous error bounds for the optimal value in semidefinite
    programming", SIAM J. Numer. Anal. 46(1), 2007, section 5.

    Examples
    --------
    A path of lengths one and one cannot be stretched to three.

    >>> import numpy as np
    >>> from sdpdr.linalg import SquaredEdgeLengths
    >>> from sdpdr.program.rows import Rows
    >>> from sdpdr.program.sdp import SDP
    >>> from sdpdr.program.point import PsdVariable
    >>> lengths = SquaredEdgeLengths(3, [[0, 1], [1, 2], [0, 2]])
    >>> rows = Rows("lengths", "==", {"K": lengths}, np.array([1.0, 1.0, 9.0]))
    >>> sdp = SDP((PsdVariable("K", 3),), {}, (rows,))
    >>> ray = prove_infeasible(sdp, {"lengths": np.array([2.1, 2.1, -1.0])})
    >>> ray.kind, ray.rigorous, ray.check(sdp)
    ('infeasible', True, True)
    """
    try:
        y = complete(sdp, duals)
    except ArithmeticError as error:
        return str(error)
    trouble = ""
    for relaxation in _relaxed(without_objective(sdp), y, deadline, rigorous=rigorous):
        kinds: tuple[Arithmetic, ...] = (Rigorous(),) if relaxation.is_exact else ()
        kinds = kinds if rigorous else (*kinds, Cautious())
        try:
            found = _prove(relaxation.sdp, relaxation.duals, kinds, deadline)
        except (ArithmeticError, np.linalg.LinAlgError) as error:
            found = str(error)
        if isinstance(found, str):
            trouble = found
            if deadline.is_over():
                break
            continue
        moved, value, words, arithmetic = found
        proof = relaxation.lift(moved)
        margin = min(1.0, value / _size(sdp, proof))
        words = f"{words}; {arithmetic.words}"
        return Ray("infeasible", margin, words, arithmetic.rigorous, duals=proof)
    return _rational(sdp, y) or trouble or "the multipliers are zero"


def _relaxed(sdp: SDP, y: Duals, deadline: Deadline, *, rigorous: bool) -> Iterator[WeakerProgram]:
    """The whole program, the faces on which a ray near these multipliers may lie, and less."""
    less = relaxations(sdp, y, rigorous, deadline)
    yield next(less)
    yield from on_faces(sdp, y)
    yield from less


def _rational(sdp: SDP, y: Duals) -> Ray | None:
    """Multipliers whose combination is positive semidefinite in exact arithmetic only."""
    flat = without_objective(sdp)
    found = rational(flat, y)
    if found is None or found.bound is None or not flat.report(found.bound) > 0.0:
        return None
    margin = min(1.0, flat.report(found.bound) / _size(sdp, found.duals))
    return Ray("infeasible", margin, found.argument, rigorous=True, duals=found.duals)


class Cautious(Plain):
    """Inertia decides, of dual slack from which more than rounding can be worth is taken off."""

    def is_positive(self, sdp: SDP, name: str, y: Duals, around: Duals, lift: float = 0.0) -> bool:
        """Whether the dual slack plus ``lift`` I is positive definite on the face, clearly."""
        seen = {r.label: y[r.label] for r in visible_rows(sdp) if r.label in y}
        sizes = [adjoint_magnitude(a, u) for a, u in sdp.column(name, seen)]
        blur = _BLUR * sum(float(np.max(size.diagonal(), initial=0.0)) for size in sizes)
        return super().is_positive(sdp, name, y, around, lift - blur)


def complete(sdp: SDP, duals: Duals) -> dict[str, Array]:
    """All multipliers, of a size where their products with the right sides add up to about one.

    Raises
    ------
    ArithmeticError
        If they are not finite, or all such products vanish.
    """
    y = {r.label: np.asarray(duals.get(r.label, np.zeros(r.m)), dtype=float) for r in sdp.rows}
    for lmi in sdp.lmis:
        z = np.asarray(duals.get(lmi.label, np.zeros((lmi.order, lmi.order))), dtype=float)
        y[lmi.label] = (z + z.T) / 2.0
    if not all(np.isfinite(part).all() for part in y.values()):
        raise ArithmeticError("the multipliers are not finite")
    for r in sdp.rows:
        if r.relation == "<=":
            y[r.label] = np.maximum(y[r.label], 0.0)
    size = _size(sdp, y)
    if not 1e-280 < size < 1e280:
        raise ArithmeticError("the multipliers say nothing about the right sides")
    # A power of two changes no digit.
    scale = 1.0 / float(near_powers(np.asarray(size)))
    return {label: scale * part for label, part in y.items()}


def _size(sdp: SDP, y: Duals) -> float:
    """The size of the terms of the dual value."""
    size = sum(float(np.abs(r.rhs) @ np.abs(y[r.label])) for r in sdp.rows if r.label in y)
    for lmi in sdp.lmis:
        size += float(np.abs(lmi.constant) @ np.abs(svec(y[lmi.label])))
    return size


def _prove(
    sdp: SDP, y: Duals, kinds: tuple[Arithmetic, ...], deadline: Deadline
) -> tuple[Mapping[str, Array], float, str, Arithmetic] | str:
    """Multipliers of a positive bound, the bound, how it is proved; or why none is."""
    trouble = "the multipliers do not contradict the right sides"
    limits: VariableLimits | None = None
    for candidate, lifts, words in _candidates(sdp, y):
        if lifts is not None and limits is None:
            if deadline.is_over():
                break
            limits = sdp.remembered(VariableLimits)
        needed = _ROUNDING * _size(sdp, candidate)
        if sdp.dual_value(candidate) <= needed:
            continue
        for arithmetic in kinds:
            account = Account(sdp, arithmetic, limits)
            try:
                value = account.value(candidate, lifts)
            except ArithmeticError as error:
                trouble = str(error)
                continue
            if value is None:
                trouble = account.trouble
            elif value > (0.0 if arithmetic.rigorous else needed):
                return candidate, value, words, arithmetic
    return trouble


def _candidates(sdp: SDP, y: Duals) -> Iterator[tuple[dict[str, Array], Lifts, str]]:
    """Multipliers, what their slack has to be lifted by (None: they claim no limits), and words."""
    y = on_equations(sdp, y)
    yield y, None, "multipliers as they are"
    largest = max((size(sdp.dual_slack(v.name, y)) for v in sdp.psd_variables), default=0.0)
    if sdp.dual_value(y) <= _HOPE * _size(sdp, y):
        return
    along = direction(sdp)
    needed = np.inf if along is None else distance(sdp, y, along)
    if along is not None and np.isfinite(needed):
        for margin in _MARGINS:
            t = needed * (1.0 + margin) + margin * (largest or 1.0)
            yield on_equations(sdp, along.apply(y, t)), None, along.words
    lows = {v.name: _lowest(sdp, v.name, y) for v in sdp.psd_variables}
    for margin in _MARGINS:
        lifts = {k: max(0.0, margin * max(largest, abs(low)) - low) for k, low in lows.items()}
        yield y, lifts, "paid for by limits on the variables"


def _lowest(sdp: SDP, name: str, y: Duals) -> float:
    return smallest_eigenvalue(sdp.dual_slack(name, y), null_vectors(sdp, name))[0]
