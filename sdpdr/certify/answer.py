"""Proofs by the kernel of a solver's answer to a program in standard form."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass, field
from math import inf

from sdpdr.base.arrays import Array
from sdpdr.certify.attempts import Oracle
from sdpdr.certify.knowledge import BOUND, INFEASIBLE, UNBOUNDED, UNPROVED, VALUE, Knowledge
from sdpdr.certify.path import LARGEST
from sdpdr.certify.prove import prove
from sdpdr.certify.standard import Standard, standard
from sdpdr.certify.units import NOTHING
from sdpdr.program.arrows import arrow_labels
from sdpdr.program.point import Point, Value
from sdpdr.program.ray import Ray
from sdpdr.program.sdp import SDP
from sdpdr.program.sizes import gap_scale as natural_scale

_FACELESS = {
    VALUE: "no point was proved feasible: the program has no interior, and no exact face was found",
    BOUND: "no multipliers were proved: they have no interior, and no exact face was found",
}
# Entries of a point up to which the dense kernel is used: its matrix products then take a second.
_LARGEST_DENSE = 12_000


@dataclass(frozen=True, eq=False)
class Proved:
    """What is proved, in the sense of the user's objective, and how.

    Attributes
    ----------
    value, bound : float or None
    how : mapping from "value" and "bound" to str
        The argument, or why there is none.
    values, duals : mappings
        The point and the multipliers next to exact ones that prove it; empty if there are none.
    ray : Ray or None
        The proof that the program is infeasible or unbounded.
    is_late : bool
        Whether the budget was spent before the two sides met.
    """

    value: float | None = None
    bound: float | None = None
    how: Mapping[str, str] = field(default_factory=dict)
    values: Mapping[str, Value] = field(default_factory=dict)
    duals: Mapping[str, Array] = field(default_factory=dict)
    ray: Ray | None = None
    is_late: bool = False


class ProofInterruptedError(KeyboardInterrupt):
    """A proof was interrupted; it carries what was proved by then.

    Parameters
    ----------
    proved : Proved
    """

    def __init__(self, proved: Proved) -> None:
        super().__init__("the proof was interrupted")
        self.proved = proved


def is_small(sdp: SDP) -> bool:
    """Whether the dense kernel proves a program in about a second.

    It solves for the unknowns or for the multipliers of equations, whichever are fewer.
    """
    matrices = sum(v.size for v in sdp.psd_variables)
    arrows = arrow_labels(sdp)
    limits = (lmi.order if lmi.label in arrows else lmi.constant.size for lmi in sdp.lmis)
    numbers = matrices + sum(limits)
    scalars = sum(v.size * (1 if v.curvature is None else 2) for v in sdp.vector_variables)
    equations = sdp.n_rows + sum(v.size for v in sdp.vector_variables if v.curvature is not None)
    unknowns = min(matrices + scalars, equations + scalars)
    return numbers + scalars + sdp.n_rows <= _LARGEST_DENSE and unknowns <= LARGEST


def is_nothing(sdp: SDP, *values: float | None) -> bool:
    """Whether an enclosure of the optimum contains zero and is negligible in the program's units.

    The enclosure has a value and a bound; False if one is unknown (None). No gap is small relative
    to an optimum of zero, so no further search is worth its time.

    Examples
    --------
    >>> from sdpdr import graphs, methods
    >>> sdp = methods.mvu(graphs.path([1.0, 1.0, 3.0])).to_sdp()
    >>> is_nothing(sdp, 1e-9, -1e-12), is_nothing(sdp, 1e-9, None), is_nothing(sdp, 1e-3)
    (True, False, False)
    """
    known = [value for value in values if value is not None]
    if len(known) < len(values) or min(known) > 0.0 or max(known) < 0.0:
        return False
    unit = standard(sdp).units.cost if is_small(sdp) else natural_scale(sdp)
    return max(map(abs, known)) <= NOTHING * unit


def faceless(sdp: SDP) -> Set[str]:
    """The sides, "value" or "bound", for which the kernel found no interior and no exact face.

    It searched next to answers that were almost feasible, so another solver would not help.

    Examples
    --------
    >>> from sdpdr import graphs, methods
    >>> faceless(methods.mvu(graphs.path([1.0, 1.0])).to_sdp())
    set()
    """
    return standard(sdp).flat.faceless if is_small(sdp) else set()


def prove_answer(
    sdp: SDP,
    point: Point,
    solve: Oracle,
    *,
    tol: float = 1e-6,
    gap_scale: float = 0.0,
    seconds: float = inf,
    claim: str = "",
    beside: Proved | None = None,
    stays: bool = False,
) -> Proved:
    """Prove an answer to a program that `is_small` by the kernel.

    Parameters
    ----------
    sdp : SDP
    point : Point
        Values and multipliers of any quality; none of it is trusted.
    solve : callable of a flat program and seconds
        Proposes faces and rays (`sdpdr.certify.prove`).
    tol, gap_scale, seconds, claim, stays : see `sdpdr.certify.prove.prove`
    beside : Proved, optional
        Sides that are proved already, which are not proved again.

    Raises
    ------
    ProofInterruptedError
        In place of a KeyboardInterrupt, with what was proved by then.

    Examples
    --------
    >>> import numpy as np
    >>> from sdpdr import graphs, methods
    >>> from sdpdr.solvers.flat import ask_clarabel
    >>> sdp = methods.mvu(graphs.path([1.0, 1.0])).to_sdp()
    >>> weights = {"isometry": 1.0001 * np.ones(2), "centered": np.zeros(3)}
    >>> found = prove_answer(sdp, Point({}, weights), ask_clarabel)
    >>> round(found.bound, 4), found.value
    (2.0002, None)
    """
    form = standard(sdp)
    unit = form.units.cost
    known = Knowledge(scale=gap_scale / unit, nothing=NOTHING)
    sides = {} if beside is None else {VALUE: beside.value, BOUND: beside.bound}
    for side, number in sides.items():
        if beside is not None and number is not None:
            known.take(side, sdp.report(number) / unit, None, beside.how[side])
    answer = form.answer(point)
    try:
        prove(
            form.flat,
            answer,
            solve,
            tol=tol,
            seconds=seconds,
            claim=claim,
            stays=stays,
            known=known,
        )
    except KeyboardInterrupt:
        raise ProofInterruptedError(_of_knowledge(form, known)) from None
    return _of_knowledge(form, known)


def _of_knowledge(form: Standard, known: Knowledge) -> Proved:
    sdp = form.sdp
    sides = {VALUE: known.value, BOUND: known.bound}
    unit = form.units.cost
    numbers = {s: sdp.report(unit * x) if s in known.how else None for s, x in sides.items()}
    how = {side: known.how.get(side, _why_not(form, known, side)) for side in sides}
    return Proved(
        numbers[VALUE],
        numbers[BOUND],
        how,
        {} if known.x is None else form.values(known.x),
        {} if known.z is None else form.duals(known.z),
        _ray(form, known),
        known.is_late and known.status == UNPROVED,
    )


def _why_not(form: Standard, known: Knowledge, side: str) -> str:
    """Why a side is not proved: no exact face, the budget, or the last attempt that failed."""
    if side in form.flat.faceless:
        return _FACELESS[side]
    if known.is_late:
        spent = f"not proved within {known.seconds:.2g} CPU seconds"
        return f"{spent}; `solution.prove()` goes on"
    return known.why_not(side) or "nothing was proved"


def _ray(form: Standard, known: Knowledge) -> Ray | None:
    if known.status not in (INFEASIBLE, UNBOUNDED):
        return None
    words, ray, margin = known.how[known.status], known.ray, known.margin(form.flat)
    if known.status == INFEASIBLE:
        return Ray("infeasible", margin, words, duals={} if ray is None else form.duals(ray))
    return Ray("unbounded", margin, words, values={} if ray is None else form.values(ray))
