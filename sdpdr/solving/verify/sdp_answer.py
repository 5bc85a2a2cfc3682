"""Proofs of a point and multipliers of a program in standard form."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array
from sdpdr.base.deadline import Deadline
from sdpdr.base.errors import DataError, DataTypeError, ShapeError, UnknownNameError
from sdpdr.base.progress import enter_phase
from sdpdr.certify.answer import Proved
from sdpdr.certify.attained import made_psd
from sdpdr.certify.proof_file import write_proof
from sdpdr.program.face import complete_multipliers
from sdpdr.program.point import Factor, Point, Value
from sdpdr.program.run import GIVEN, Status, Verdict
from sdpdr.program.sdp import SDP
from sdpdr.program.sizes import require_admissible
from sdpdr.program.solution import Solution
from sdpdr.solving.grade import go_on, with_point, with_proofs, with_status
from sdpdr.solving.presolve import presolve, refuted_solution
from sdpdr.solving.proofs import Prover, value_of
from sdpdr.solving.solve import solve_step
from sdpdr.solving.standing import standing_value
from sdpdr.solving.verify.given import UNNAMED, Settings, as_claimed, distance

_SOLVED_FOR = "no multipliers were given: one solve by {} ({} form) found {}"


def verify_point(
    sdp: SDP, given: Point, settings: Settings, *, who: str = UNNAMED, status: str = GIVEN
) -> Solution:
    """What is proved of a point and multipliers, both or one of them.

    Parameters
    ----------
    sdp : SDP
    given : Point
        Without multipliers, one solve finds them.
    settings : Settings
    who, status : str
        Which solver found the answer, and what it said of it.

    Raises
    ------
    DataError, ShapeError, UnknownNameError
        If the point is none of the program, or has numbers that are not finite.
    ModelError
        If a number of the program is out of the range that is computed with.
    """
    given, message = checked_point(require_admissible(sdp), given), ""
    claim, point = value_of(sdp, given), given
    if not given.duals and sdp.labels:
        point, message = _with_multipliers(sdp, given, settings)
    scale = 0.0 if settings.gap_scale is None else settings.gap_scale
    claimed = as_claimed(
        claim,
        settings,
        who=who,
        status=status,
        message=message,
        maximize=sdp.maximize,
        gap_scale=scale,
    )
    clock = Deadline()
    enter_phase(f"proving: what {who} found")
    solution = _on_face(sdp, point, claimed, settings)
    if not settings.repair and solution.status not in (Status.INFEASIBLE, Status.UNBOUNDED):
        solution = _standing(sdp, solution, given)
    moved = None
    if solution.attained is not None and given.values:
        moved = distance(given.values, solution.values) if settings.repair else 0.0
    return replace(
        solution,
        moved=moved,
        timings={"certify": clock.spent},
        prover=partial(go_on, sdp),
        writer=partial(write_proof, sdp),
    )


def _on_face(sdp: SDP, given: Point, claimed: Solution, settings: Settings) -> Solution:
    """Proofs of the program on its faces and in units that suit it, for the program itself."""
    ready = presolve(sdp)
    if ready.refutation is not None:
        refuted = refuted_solution(ready.refutation, {}, settings.tol)
        return replace(refuted, solver=claimed.solver, form=claimed.form, claimed=claimed.claimed)
    seconds = settings.budget()
    scale = claimed.gap_scale
    prover = Prover(ready.sdp, settings.tol, scale, seconds, Deadline(seconds))
    pushed = ready.push(given)
    found, start = _proved(prover, Point(pushed.values, pushed.duals), settings)
    solution = with_status(ready.sdp, with_proofs(ready.sdp, claimed, found, start), Verdict.SOLVED)
    return ready.lift(replace(solution, rigorous=True))


def _proved(prover: Prover, given: Point, settings: Settings) -> tuple[Proved, Point]:
    """Both sides, next to the point; or that there is none, where multipliers say so.

    Without ``repair`` a bound alone.
    """
    sdp = prover.sdp
    start = Point(made_psd(sdp, given.values), complete_multipliers(sdp, given.duals))
    found = prover.of(start, value=settings.repair)
    # Solvers write what proves that there is no solution in the place of one.
    claims = {Verdict.UNBOUNDED: found.bound is None}
    claims[Verdict.INFEASIBLE] = found.bound is None and found.value is None
    for verdict, is_possible in claims.items():
        if is_possible and found.ray is None and not prover.deadline.is_over():
            found = replace(found, ray=prover.of(start, verdict).ray)
    return found, start


def _standing(sdp: SDP, solution: Solution, given: Point) -> Solution:
    """The point as it is, beside the bound, whose multipliers may have moved."""
    value, words = None, "there is no point"
    if given.values:
        value, words = standing_value(sdp, given.values)
    standing = with_point(sdp, solution, Point(given.values, solution.duals))
    standing = replace(standing, attained=value, attained_by=words)
    return with_status(sdp, standing, Verdict.SOLVED)


def _with_multipliers(sdp: SDP, given: Point, settings: Settings) -> tuple[Point, str]:
    """The point with multipliers that one solve finds, and who found them."""
    found = solve_step(sdp, tol=settings.tol, time_limit=settings.budget())
    what = "them" if found.duals else "none"
    # There is none of some constraints on a face.
    duals = {label: np.nan_to_num(y) for label, y in found.duals.items()}
    return Point(given.values, duals), _SOLVED_FOR.format(found.solver, found.form, what)


def checked_point(sdp: SDP, given: Point) -> Point:
    """The point, of arrays of the right shapes and finite numbers.

    Raises
    ------
    DataError, ShapeError, UnknownNameError
        If it is no point of the program.
    """
    values = checked_values(given.values, {v.name: v.extents for v in sdp.variables})
    shapes: dict[str, tuple[int, ...]] = {r.label: (r.m,) for r in sdp.rows}
    shapes |= {lmi.label: (lmi.order, lmi.order) for lmi in sdp.lmis}
    duals = {
        label: np.asarray(_value(label, y, shapes[label]))
        for label, y in given.duals.items()
        if _is_known("label", label, shapes)
    }
    for what, known, all_of in (
        ("variable", values, [v.name for v in sdp.variables]),
        ("constraint", duals, sdp.labels),
    ):
        missing = [name for name in all_of if name not in known]
        if known and missing:
            raise DataError(
                f"{what} {missing[0]!r} is missing: pass all of {', '.join(all_of)}, or none."
            )
    return Point(values, duals)


def checked_values(
    given: Mapping[str, Value], shapes: Mapping[str, tuple[int, ...]]
) -> dict[str, Value]:
    """The values of variables, as arrays of these shapes and finite numbers."""
    return {
        name: _value(name, value, shapes[name])
        for name, value in given.items()
        if _is_known("variable", name, list(shapes))
    }


def _is_known(kind: str, name: str, known: Mapping[str, object] | list[str]) -> bool:
    if name not in known:
        raise UnknownNameError(kind, name, list(known))
    return True


def _value(name: str, value: Value, shape: tuple[int, ...]) -> Value:
    if sp.issparse(value):
        raise DataTypeError(f"{name!r} is sparse: pass an array, or a Factor.")
    if not isinstance(value, Factor):
        value = _in_doubles(name, value)
        value = value.reshape(shape) if value.size == 1 and np.prod(shape) == 1 else value
    if value.shape != shape:
        hint = ""
        if len(shape) == 2 and value.ndim == 2 and value.shape[0] == shape[0]:
            hint = (
                " Positions of points, one a row, are a factor R of R R^T: pass "
                "sdpdr.program.Factor(R), with R.mean(axis=0) subtracted if the program is centred."
            )
        raise ShapeError(f"{name!r} must have shape {shape}; it has shape {value.shape}.{hint}")
    numbers = value.factor if isinstance(value, Factor) else value
    if not np.isfinite(numbers).all():
        place = tuple(int(k) for k in np.argwhere(~np.isfinite(numbers))[0])
        raise DataError(
            f"{name!r} has {numbers[place]} at {place}: pass numbers, or leave out what the solver "
            "did not find."
        )
    return value


def _in_doubles(name: str, value: Any) -> Array:
    """The numbers of a point as doubles, where they are such: a proof is about these."""
    given = np.ma.filled(value, np.nan) if np.ma.isMaskedArray(value) else np.asarray(value)
    if given.dtype.kind not in "biufc":
        raise DataTypeError(f"{name!r} has entries of type {given.dtype}: pass an array of floats.")
    found = np.asarray(given.real, dtype=float)
    # Whole numbers are compared as such, and not as the doubles next to them.
    again = found if given.dtype.kind in "fc" else found.astype(given.dtype)
    same = (again == given) | np.isnan(found)
    if not np.all(same):
        place = tuple(int(k) for k in np.argwhere(~same)[0])
        raise DataError(
            f"{name!r} has {given[place]} at {place}, which is no double: round it to one, and "
            "what is proved is proved of that."
        )
    return found
