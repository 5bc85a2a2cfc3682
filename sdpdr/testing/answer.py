"""The answer to a problem, as it is handed in, as a point of the standard form."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

from sdpdr.base.arrays import Array
from sdpdr.base.errors import DataError, DataTypeError, NotAcceptedError, ShapeError
from sdpdr.model import Block, Model
from sdpdr.program.face import complete_multipliers, stated_labels
from sdpdr.program.point import Point
from sdpdr.program.sdp import SDP
from sdpdr.solving.options import has_other_cones
from sdpdr.solving.verify.sdp_answer import checked_point
from sdpdr.solving.verify.verify import answer_in_rows, lacks_only_added, point_of

_COMPLETED = (
    "{} has functions or cones that add variables or multipliers, of which an answer by hand has "
    "none: use sdpdr.verify({}), which completes them."
)


def read_answer(problem: Any, point: Any, multipliers: Any) -> tuple[SDP, Point]:
    """The problem in standard form, and the answer as a point of it."""
    if isinstance(problem, Block):
        problem = Model((problem,))
    if not isinstance(problem, (SDP, Model)):
        return _read_problem(problem, point, multipliers)
    if isinstance(problem, Model):
        point = answer_in_rows(problem, point)
        if not problem.has_standard_form or lacks_only_added(problem, point):
            raise NotAcceptedError(_COMPLETED.format("the model", "model, point"))
    sdp = problem if isinstance(problem, SDP) else problem.to_sdp()
    given = point_of(sdp, point, _by_label(sdp, multipliers))
    return sdp, checked_point(sdp, Point(given.values, _completed(sdp, given.duals)))


def _by_label(sdp: SDP, multipliers: Any) -> Mapping[str, Any] | None:
    """Multipliers by label, of which an array alone needs none."""
    if multipliers is None or isinstance(multipliers, Mapping):
        return multipliers
    labels = visible_labels(sdp)
    if len(labels) != 1:
        known = ", ".join(map(repr, labels))
        raise DataTypeError(
            f"one array of multipliers was passed for the constraints {known}: pass a mapping from "
            "their labels."
        )
    return {labels[0]: multipliers}


def _completed(sdp: SDP, duals: Mapping[str, Any]) -> Mapping[str, Any]:
    """Multipliers with those of constraints such as K 1 = 0, which follow from the others."""
    if set(visible_labels(sdp)) - set(duals) or sdp.is_dual_point(duals):
        return duals
    try:
        arrays = {label: np.asarray(y, dtype=float) for label, y in duals.items()}
        return complete_multipliers(sdp, arrays)
    except ValueError:
        # Arrays of a wrong shape or type are refused with their names.
        return duals


def visible_labels(sdp: SDP) -> list[str]:
    """Labels of the constraints whose multipliers matter."""
    hidden = stated_labels(sdp)
    return [label for label in sdp.labels if label not in hidden]


def _read_problem(problem: Any, point: Any, multipliers: Any) -> tuple[SDP, Point]:
    """The same of a cvxpy problem, which has its answer in its variables and constraints."""
    if not (hasattr(problem, "variables") and hasattr(problem, "constraints")):
        raise DataTypeError(
            f"{type(problem).__name__!r} was passed as the problem: pass a model, an SDP or a "
            "cvxpy.Problem first, then the point and the multipliers."
        )
    from sdpdr.model.conic.problem import read_problem

    if has_other_cones(problem):
        raise NotAcceptedError(_COMPLETED.format("the problem", "problem"))
    with _answered(problem, point, multipliers):
        sdp = read_problem(problem)
        given = sdp.kept()
        found = [y.value is not None for c in problem.constraints for y in c.dual_variables]
    has_multipliers = bool(found) and all(found)
    if given is not None and (given.duals or not has_multipliers):
        return sdp, given
    missing = [v.name() for v in problem.variables() if v.value is None]
    if missing and point is None:
        raise DataError(
            f"variable {missing[0]!r} has no value: pass values by name, or solve the problem."
        )
    raise NotAcceptedError(_COMPLETED.format("the problem", "problem"))


@contextmanager
def _answered(problem: Any, point: Any, multipliers: Any) -> Iterator[None]:
    """A problem that has an answer for as long as it takes to read it."""
    leaves = [*problem.variables(), *(y for c in problem.constraints for y in c.dual_variables)]
    before = [(leaf, leaf.value) for leaf in leaves]
    try:
        if point is not None:
            _save_values(problem, point)
        if multipliers is not None:
            _save_multipliers(problem, multipliers)
        yield
    finally:
        for leaf, value in before:
            leaf.save_value(value)


def _save_values(problem: Any, point: Any) -> None:
    known = {v.name(): v for v in problem.variables()}
    if not isinstance(point, Mapping):
        if len(known) != 1:
            raise DataTypeError(
                f"one value was passed for the variables {', '.join(map(repr, known))}: pass a "
                "mapping from their names."
            )
        point = {next(iter(known)): point}
    if set(point) != set(known):
        raise DataError(
            f"values of {', '.join(map(repr, point))} were passed: pass those of "
            f"{', '.join(map(repr, known))}."
        )
    for name, value in point.items():
        known[name].save_value(_shaped(repr(name), value, known[name].shape))


def _save_multipliers(problem: Any, multipliers: Any) -> None:
    constraints = problem.constraints
    if len(constraints) == 1 and _is_one(multipliers, constraints[0]):
        multipliers = [multipliers]
    if isinstance(multipliers, Mapping) or len(multipliers) != len(constraints):
        raise ShapeError(
            "pass a list with one array of multipliers for each constraint, in their order; "
            f"constraints: {len(constraints)}."
        )
    for k, (constraint, y) in enumerate(zip(constraints, multipliers, strict=True)):
        if len(constraint.dual_variables) != 1:
            raise NotAcceptedError(
                f"constraint {k} is a cone with several multipliers: save them in its "
                "dual_variables, and use sdpdr.verify(problem)."
            )
        dual = constraint.dual_variables[0]
        dual.save_value(_shaped(f"the multiplier of constraint {k}", y, dual.shape))


def _is_one(multipliers: Any, constraint: Any) -> bool:
    """Whether the multipliers of a single constraint are passed without a list around them."""
    if isinstance(multipliers, np.ndarray):
        return True
    shape = constraint.dual_variables[0].shape
    return not isinstance(multipliers, Mapping) and np.asarray(multipliers, object).shape == shape


def _shaped(what: str, value: Any, shape: tuple[int, ...]) -> Array:
    found = np.asarray(value, dtype=float)
    if found.size == 1 and np.prod(shape) == 1:
        return found.reshape(shape)
    if found.shape != shape:
        raise ShapeError(f"{what} must have shape {shape}; it has shape {found.shape}.")
    return found
