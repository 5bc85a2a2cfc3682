"""Labels of a cvxpy problem's own constraints, and where cvxpy's steps take them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import cvxpy as cp

from sdpdr.model.block import relabel
from sdpdr.model.conic.pieces import AUXILIARY, SQUARES

# Names of rows longer than this are no help to a reader.
LONGEST_LABEL = 40


def final_labels(problem: cp.Problem, inverse: list[Any]) -> dict[int, str]:
    """Labels of constraints by what they are called after all steps of cvxpy's."""
    final = _final_identities(inverse)
    return {final.get(c.id, c.id): label for c, label in labels_of(problem)}


def _final_identities(inverse: list[Any]) -> dict[int, int]:
    """What constraints are called after all steps of cvxpy's."""
    found: dict[int, int] = {}
    for step in inverse:
        # One of the steps keeps a tuple, of which this is the last part.
        ids = step[-1] if isinstance(step, tuple) and step else getattr(step, "cons_id_map", {})
        found = {first: ids.get(last, last) for first, last in found.items()} | {
            first: last for first, last in ids.items() if first not in found
        }
    return found


def labels_of(problem: cp.Problem) -> Iterator[tuple[Any, str]]:
    """A label for each constraint: the one it was given, or how it was written if that is short."""
    seen = {AUXILIARY, SQUARES}
    for k, c in enumerate(problem.constraints, start=1):
        given = getattr(c, "label", None)
        label = relabel(given or _written(c) or f"constraint {k}", seen)
        seen.add(label)
        yield c, label


def _written(constraint: Any) -> str | None:
    """How a constraint was written, without numbers of cvxpy's own making; None if it is long."""
    if any(constant.size > 1 for constant in constraint.constants()):
        return None
    written = str(constraint)
    return written if len(written) <= LONGEST_LABEL and "\n" not in written else None
