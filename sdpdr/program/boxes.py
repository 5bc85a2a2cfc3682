"""Scalars that act as slack of single rows: the box they put the rows' multipliers in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from sdpdr.base.arrays import Array, Index, largest
from sdpdr.program.backward import relative_slacks
from sdpdr.program.point import Value
from sdpdr.program.rows import Rows
from sdpdr.program.sdp import SDP, remembered

# A row that is missed by no more than this share of its size counts as satisfied.
_ROW_TOLERANCE = 1e-13


@dataclass(frozen=True, eq=False)
class SlackColumn:
    """The part of a vector variable that is slack of a group of rows.

    Attributes
    ----------
    variable : str
    label : str
        The label of the rows.
    row, scalar : arrays of int
        Scalar ``scalar[k]`` appears in row ``row[k]`` and nowhere else.
    coefficient, cost : arrays
        Its coefficient in the row, its cost in the objective.
    curvature : array or None
    """

    variable: str
    label: str
    row: Index
    scalar: Index
    coefficient: Array
    cost: Array
    curvature: Array | None


@remembered
def slack_columns(sdp: SDP) -> list[SlackColumn] | None:
    """All scalars of a program as slack of single rows; None if one is anything else.

    A row may have two that are opposite to each other. Where more could take what is missing, none
    is slack: that is a choice, which is left to solvers and proofs.
    """
    found: list[SlackColumn] = []
    scalars = sdp.vector_variables
    if any(v.is_free or any(v.name in lmi.lhs for lmi in sdp.lmis) for v in scalars):
        return None
    for v in scalars:
        seen = np.zeros(v.size, dtype=int)
        for rows in sdp.rows:
            if v.name not in rows.lhs:
                continue
            entries = rows.lhs[v.name].matrix().tocoo()
            keep = entries.data != 0.0
            scalar = entries.col[keep]
            np.add.at(seen, scalar, 1)
            found.append(
                SlackColumn(
                    variable=v.name,
                    label=rows.label,
                    row=entries.row[keep],
                    scalar=scalar,
                    coefficient=entries.data[keep],
                    cost=np.asarray(sdp.cost(v.name))[scalar],
                    curvature=None if v.curvature is None else v.curvature[scalar],
                )
            )
        if np.any(seen != 1):
            return None
    groups = ([c for c in found if c.label == rows.label] for rows in sdp.rows)
    return None if any(_is_shared(group) for group in groups if group) else found


def _is_shared(group: list[SlackColumn]) -> bool:
    """Whether several scalars could take what a row misses."""
    row = np.concatenate([c.row for c in group])
    curved = np.concatenate([np.full(c.row.size, c.curvature is not None) for c in group])
    rising = np.concatenate([c.coefficient > 0.0 for c in group])
    m = int(np.max(row, initial=-1)) + 1
    up, down, bent = (np.bincount(row[k], minlength=m) for k in (rising, ~rising, curved))
    return bool(np.any((up > 1) | (down > 1) | ((bent > 0) & (up + down > 1))))


def repair(sdp: SDP, values: Mapping[str, Value]) -> Mapping[str, Value]:
    """The nearest point that is exactly feasible, where a closed form gives one.

    Slack takes the cheapest values that satisfy its rows. Where all that is left are upper
    limits on one matrix, homogeneous otherwise, the matrix is shrunk until they hold. In any
    other case the point is returned as it is, and its residuals show it. Rows are never missed by
    more than before, and the value of a point at which all hold never gets worse.

    Examples
    --------
    >>> from sdpdr import minimize, scalar
    >>> w = scalar("w", 2, nonnegative=True)
    >>> above = minimize(w.sum()) + (w >= [1.0, 2.0])
    >>> repair(above.to_sdp(), {"w": np.array([0.5, 2.5])})["w"].tolist()
    [1.0, 2.0]
    """
    if not sdp.is_point(values):
        return values
    columns = slack_columns(sdp)
    if columns is None:
        return values
    repaired = shrink(sdp, values, {c.label for c in columns})
    if not columns:
        return repaired
    repaired = {**repaired, **fill_slack(sdp, repaired, columns)}
    return repaired if _is_no_worse(sdp, repaired, values) else values


def _is_no_worse(sdp: SDP, repaired: Mapping[str, Value], given: Mapping[str, Value]) -> bool:
    """Whether rows and signs are missed by no more, and at no higher cost where none was missed.

    Rounding counts as nothing missed.
    """
    before, after = _missed(sdp, given), _missed(sdp, repaired)
    if before > _ROW_TOLERANCE or after > _ROW_TOLERANCE:
        return after <= before
    value = sdp.primal_value(given)
    return bool(sdp.primal_value(repaired) <= value + _ROW_TOLERANCE * max(1.0, abs(value)))


def _missed(sdp: SDP, values: Mapping[str, Value]) -> float:
    """What rows, and signs of scalars, are missed by at most, relative to their sizes."""
    missed = [-slack for slack in relative_slacks(sdp, values).values()]
    for v in sdp.vector_variables:
        z = values[v.name]
        if v.nonnegative and z.size:
            missed.append(-z / max(largest(z), np.finfo(float).tiny))
    return max((float(np.max(part, initial=0.0)) for part in missed), default=0.0)


def shrink(sdp: SDP, values: Mapping[str, Value], slacked: set[str]) -> Mapping[str, Value]:
    """The point with its one matrix divided until all upper bounds without slack hold."""
    if len(sdp.psd_variables) != 1 or sdp.lmis:
        return values
    name = sdp.psd_variables[0].name
    excess = 1.0
    for r in sdp.rows:
        if r.label in slacked or (r.relation == "==" and not np.any(r.rhs)):
            continue
        if r.relation == "==" or np.any(r.rhs <= 0.0):
            return values
        lhs = r.rhs - sdp.slack(r, values)
        excess = max(excess, float(np.max(lhs / r.rhs, initial=0.0)))
    return {**values, name: values[name] / excess}


def fill_slack(
    sdp: SDP, values: Mapping[str, Value], columns: list[SlackColumn]
) -> dict[str, Value]:
    """The cheapest slack that satisfies the rows."""
    filled: dict[str, Array] = {v.name: np.zeros(v.size) for v in sdp.vector_variables}
    alone = {**values, **{name: np.zeros_like(z) for name, z in filled.items()}}
    for rows in sdp.rows:
        group = [c for c in columns if c.label == rows.label]
        missing = sdp.slack(rows, alone) if group else np.zeros(rows.m)
        for column in group:
            filled[column.variable][column.scalar] = _cheapest(rows, missing, column)
    return dict(filled)


def _cheapest(rows: Rows, missing: Array, column: SlackColumn) -> Array:
    """What slack that is alone in its rows, or has but its opposite beside it, has to be."""
    missing = missing[column.row]
    wanted = missing / column.coefficient
    if rows.relation == "<=":
        # A scalar with a reward takes all that its row leaves, one with a cost what it lacks.
        wanted = np.where((missing < 0.0) | (column.cost < 0.0), wanted, 0.0)
    return np.maximum(wanted, 0.0) if column.curvature is None else wanted
