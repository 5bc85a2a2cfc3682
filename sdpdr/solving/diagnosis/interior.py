"""Programs without an interior: the face that holds all points, and constraints that force it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from sdpdr.base.arrays import Array, Index
from sdpdr.base.progress import enter_phase
from sdpdr.certify.exposing import Exposed, exposing
from sdpdr.certify.faces import PRIMAL
from sdpdr.certify.flat import NONNEGATIVE
from sdpdr.certify.margin import inside
from sdpdr.certify.proof import value_proof
from sdpdr.solving.diagnosis.finding import Finding, Kind, Severity
from sdpdr.solving.diagnosis.subsets import Mask, Proved, fewest, some_rows
from sdpdr.solving.diagnosis.view import UNPROVED, Named, UndecidedError, View, quoted


def find_no_interior(view: View) -> Iterator[Finding]:
    """Find a face of the cones that holds every feasible point, and what forces it."""
    if not view.is_small:
        raise UndecidedError(f"{view.solved.program.c.size} numbers are too many for a quick proof")
    if _has_interior(view):
        return
    enter_phase("diagnosing: leaving constraints out of a face")
    named = view.solved

    def prove(kept: Mask) -> Proved | None:
        found = _exposed(view, kept)
        return None if found is None else Proved.by(kept, found.at)

    proved = prove(np.ones(named.owned.size, dtype=bool))
    if proved is None:
        raise UndecidedError("neither a point in the interior was proved nor a face of all points")
    labels = list(named.constraints.values())
    proved, is_complete = fewest(proved, labels, named.cones, prove, view.deadline)
    found = _exposed(view, proved.kept)
    if found is not None:
        yield _finding(view, proved, found, is_complete=is_complete)


def _has_interior(view: View) -> bool:
    """Whether a point inside of all cones is proved to exist."""
    program = view.solved.program
    try:
        y = inside(program, PRIMAL, view.solve)
        at = value_proof(program, program.b - program.A @ y).near(y).at
    except UNPROVED:
        return False
    return program.all_inside(program.b - program.A @ at)


def _exposed(view: View, kept: Mask) -> Exposed | None:
    """The face that some rows expose."""
    try:
        return exposing(some_rows(view.solved.program, kept), PRIMAL, view.solve)
    except UNPROVED:
        return None


def _finding(view: View, proved: Proved, found: Exposed, *, is_complete: bool) -> Finding:
    named, kept, m = view.solved, proved.kept, view.solved.program.f.size
    labels = tuple(named.labels_of(kept))
    tight, orders = np.zeros(kept.size, dtype=bool), dict[str, tuple[int, int]]()
    # The smaller program has the cones of which rows are kept.
    parts = [part for part in named.program.parts if kept[m + part.rows].any()]
    for part, basis in zip(parts, (face.basis for face in found.faces), strict=False):
        rows = m + part.rows
        if part.kind == NONNEGATIVE:
            tight[rows] = proved.counts[rows]
        elif basis is not None and basis.shape[1] < part.size:
            orders[_owner(named, rows)] = (basis.shape[1], int(part.size))
    zero = named.variables_in(tight & ~named.owned)
    matrices = tuple(name for name in orders if name in named.variables)
    force = f"{quoted(labels) if labels else 'the cones'} force{'s' * (len(labels) == 1)}"
    return Finding(
        Kind.NO_INTERIOR,
        Severity.WARNING,
        labels,
        tuple(dict.fromkeys([*matrices, *zero])) or named.variables_in(kept & named.owned),
        f"No feasible point is in the interior: {force} "
        f"{_where(named, orders, zero, tuple(named.labels_of(tight)))}"
        f"{'' if is_complete else '; fewer constraints may do the same'}.",
        "If that is meant, write `==` for inequalities that hold with equality, and a smaller "
        "matrix for one that is singular; otherwise leave room: replace an equation by two "
        "inequalities"
        f"{', `relax(block, band)`' if view.of_model else ''}.",
        is_proved=True,
        data={"multipliers": _multipliers(named, proved.multipliers, labels), "orders": orders},
    )


def _multipliers(named: Named, z: Array, labels: tuple[str, ...]) -> dict[str, Array]:
    given = named.units.given_multipliers(z)
    return {label: given[named.constraints[label]] for label in labels}


def _where(
    named: Named,
    orders: dict[str, tuple[int, int]],
    zero: tuple[str, ...],
    equal: tuple[str, ...],
) -> str:
    """Where all feasible points lie."""
    said = []
    for name, (r, n) in orders.items():
        which = repr(name) if name in named.variables else f"the matrix of {name!r}"
        said.append(f"{which} onto a face of order {r} of {n}")
    said += [f"entries of {quoted(zero)} to vanish"] if zero else []
    said += [f"equality in {quoted(equal)}"] if equal else []
    return ", and ".join(said)


def _owner(named: Named, rows: Index) -> str:
    """The matrix inequality, or the variable, that rows of a cone belong to."""
    for label, at in named.constraints.items():
        if rows[0] in at:
            return label
    unknown = named.rows[[rows[0]]].indices[0]
    return next((name for name, at in named.variables.items() if unknown in at), "a matrix")
