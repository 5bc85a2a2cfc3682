"""Constraints that contradict each other, as few as still do."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from functools import partial

import numpy as np

from sdpdr.base.arrays import Array, Index
from sdpdr.base.progress import enter_phase
from sdpdr.certify.proof_file.flat import FlatFileProgram
from sdpdr.certify.proof_file.steps import CONTRADICTION, step_near
from sdpdr.certify.units import Units
from sdpdr.program.run import Status
from sdpdr.program.summary import contradicting
from sdpdr.solving.diagnosis.finding import Finding, Kind, Severity
from sdpdr.solving.diagnosis.subsets import Mask, Proved, fewest, some_rows, split
from sdpdr.solving.diagnosis.view import UndecidedError, View, quoted

# Weights that a sentence has room for.
_SHOWN = 4
# Steps of a proof, faces and a ray.
_PROOF_STEPS = 4
# Rows of constraints whose multipliers become fractions in less than a second.
_ROWS = 60


def find_conflicts(view: View) -> Iterator[Finding]:
    """Find one smallest set of constraints that no point satisfies."""
    named, solution = view.stated, view.answered.solution
    if solution.attained is not None:
        return
    every = np.ones(named.owned.size, dtype=bool)
    proved = view.refuted(every, _PROOF_STEPS) if view.is_small else None
    if proved is None and solution.status is not Status.INFEASIBLE:
        raise UndecidedError("neither a feasible point was proved nor that there is none")
    if proved is None:
        yield _finding(view, _as_solved(view, every), is_complete=False)
        return
    enter_phase("diagnosing: leaving constraints out of a conflict")
    # Where no face is needed at first, none is looked for: that takes several times as long.
    most = _PROOF_STEPS if np.isnan(proved.multipliers).any() else 1
    prove, cones = partial(view.refuted, most=most), named.cones
    proved, _ = fewest(proved, list(named.constraints.values()), cones, prove, view.deadline)
    entries = _entries(view, proved.kept)
    proved, is_complete = fewest(proved, entries, cones, prove, view.deadline)
    is_irreducible = is_complete and _is_irreducible(view, proved.kept)
    if is_complete and not is_irreducible and most < _PROOF_STEPS:
        # What is left may contradict itself on a face alone.
        prove, entries = partial(view.refuted, most=_PROOF_STEPS), _entries(view, proved.kept)
        proved, is_complete = fewest(proved, entries, cones, prove, view.deadline)
        is_irreducible = is_complete and _is_irreducible(view, proved.kept)
    yield _finding(view, proved, is_complete=is_complete, is_irreducible=is_irreducible)


def _as_solved(view: View, every: Mask) -> Proved:
    """The constraints that the proof of the solve combines; all of them if it does not say."""
    named, kept = view.stated, every.copy()
    known = set(contradicting(view.answered.solution)) & set(named.constraints)
    for label, rows in named.constraints.items():
        kept[rows] = label in known or not known
    return Proved(kept, np.where(kept, np.nan, 0.0))


def _is_irreducible(view: View, kept: Mask) -> bool:
    """Whether some point is proved to satisfy the constraints once any one of them is left out."""
    for rows in _entries(view, kept):
        fewer = kept.copy()
        fewer[rows] = False
        if view.deadline.is_over() or not view.is_feasible(fewer):
            return False
    return True


def _entries(view: View, kept: Mask) -> list[Index]:
    """Rows that can be left out one by one; cones of several rows only as a whole."""
    return split(np.flatnonzero(kept & view.stated.owned), view.stated.cones)


def _finding(
    view: View, proved: Proved, *, is_complete: bool, is_irreducible: bool = False
) -> Finding:
    named, kept = view.stated, proved.kept
    rows = named.labels_of(kept)
    labels, several = tuple(rows), sum(at.size for at in rows.values()) > 1
    some = {k: at for k, at in rows.items() if at.size < named.constraints[k].size}
    which = quoted(labels) if labels else "the cones of the variables"
    says = f"No point satisfies {which}{' together' * (len(labels) > 1)}"
    says += f" ({named.rows_in_words(some)})" if some else ""
    data: dict[str, object] = {"rows": rows}
    if not np.isnan(proved.multipliers).any():
        z = view.units.given_multipliers(proved.multipliers)
        z /= abs(float(named.right @ z))
        exact = _exact_multipliers(view, kept, z)
        data["multipliers"] = exact or {label: z[named.constraints[label]] for label in labels}
        says += _sum(view, rows, exact) if exact else ""
    if not is_complete:
        says += "; whether fewer contradict each other was not found out"
    elif several and is_irreducible:
        says += "; none of them can be left out"
    elif several:
        says += "; no proof was found with fewer"
    return Finding(
        Kind.CONFLICT,
        Severity.ERROR,
        labels,
        named.variables_in(kept & named.owned),
        f"{says}.",
        _instead(view, labels, is_complete=is_complete),
        is_proved=True,
        data=data,
    )


def _exact_multipliers(view: View, kept: Mask, z: Array) -> dict[str, list[Fraction]] | None:
    """Multipliers of constraints that prove the conflict without rounding, next to some; or None.

    The least of them is one. Those of cones of variables follow from them.
    """
    named = view.stated
    is_rounded = any(radii is not None for radii in named.program.around)
    if is_rounded or not 0 < np.count_nonzero(kept & named.owned) <= _ROWS:
        return None
    rows = named.busy(kept)
    program = some_rows(named.program, rows)
    P = FlatFileProgram(program, program, Units.given(program)).read()
    step = step_near(P, np.r_[0.0, z[rows]], CONTRADICTION)
    if step is None:
        return None
    places = np.flatnonzero(rows).tolist()
    exact = {places[row - 1]: Fraction(y) for row, y in zip(*step["y"], strict=True)}
    sizes = [abs(weight) for k, weight in exact.items() if named.owned[k]]
    if not sizes:
        return None
    return {
        label: [exact.get(int(k), Fraction(0)) / min(sizes) for k in at]
        for label, at in named.constraints.items()
        if kept[at].any()
    }


def _sum(view: View, rows: Mapping[str, Index], exact: Mapping[str, list[Fraction]]) -> str:
    """The contradiction in numbers, where it is short."""
    weights = [exact[label][k] for label, at in rows.items() for k in at]
    if len(weights) > _SHOWN or len(weights) < 2:
        return ""
    right = sum(
        (
            w * Fraction(float(b))
            for label, at in view.stated.constraints.items()
            if label in exact
            for w, b in zip(exact[label], view.stated.right[at], strict=True)
        ),
        Fraction(0),
    )
    shown = ", ".join(str(w) for w in weights)
    return (
        f": with weights {shown} their left sides add up to what is never negative, and their "
        f"right sides to {float(right):.6g}"
    )


def _instead(view: View, labels: tuple[str, ...], *, is_complete: bool) -> str:
    which = "one of them" if is_complete else "one of those that the contradiction needs"
    which = which if len(labels) > 1 else "it"
    if view.of_model:
        return (
            f"Remove {which}, move a right-hand side, or let it be missed at a cost: "
            "`soften(block, weight)`, or `constraint.penalized(weight)` for a comparison."
        )
    return f"Remove {which}, or move a right-hand side."
