"""Scalars that act as slack of single rows: the box they put the rows' multipliers in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from sdpdr.base.arrays import Array, Index
from sdpdr.program.point import Value
from sdpdr.program.rescale import rescale
from sdpdr.program.rows import Rows
from sdpdr.program.sdp import SDP

# Lower and upper limits of multipliers, by label.
Box: TypeAlias = Mapping[str, tuple[Array, Array]]


@dataclass(frozen=True, eq=False)
class SlackColumn:
    """The part of a vector variable that is slack of a group of rows, one scalar a row at most.

    Attributes
    ----------
    variable : str
    label : str
        Of the rows.
    row, scalar : arrays of int
        Scalar ``scalar[k]`` appears in row ``row[k]`` and nowhere else.
    coefficient, cost : arrays
        Its coefficient in the row, its price in the objective.
    curvature : array or None
    """

    variable: str
    label: str
    row: Index
    scalar: Index
    coefficient: Array
    cost: Array
    curvature: Array | None


def slack_columns(sdp: SDP) -> list[SlackColumn] | None:
    """All scalars of a program as slack of single rows; None if one is anything else."""
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
    return found


def dual_box(sdp: SDP) -> Box | None:
    """Lower and upper limits of every row's multiplier; None where they are not a box.

    A non-negative slack z with cost c and coefficient a in its row demands c + a y >= 0.
    """
    columns = slack_columns(sdp)
    if columns is None:
        return None
    box = {}
    for r in sdp.rows:
        lower = np.full(r.m, 0.0 if r.relation == "<=" else -np.inf)
        box[r.label] = (lower, np.full(r.m, np.inf))
    for column in columns:
        if column.curvature is not None:
            continue
        lower, upper = box[column.label]
        limit = -column.cost / column.coefficient
        down = column.coefficient < 0.0
        np.minimum.at(upper, column.row[down], limit[down])
        np.maximum.at(lower, column.row[~down], limit[~down])
    return box


def within(box: Box, y: Mapping[str, Array]) -> dict[str, Array]:
    """Multipliers moved into a box where they lie outside; all are free that it does not name."""
    return {k: np.clip(part, *box[k]) if k in box else part for k, part in y.items()}


def repair(sdp: SDP, values: Mapping[str, Value]) -> Mapping[str, Value]:
    """The nearest point that is exactly feasible, where a closed form knows one.

    Slack takes the cheapest values that satisfy its rows. Where all that is left are upper
    limits on one matrix, homogeneous otherwise, the matrix is shrunk until they hold. Matrices
    with a fixed diagonal, or one fixed number, are scaled (`sdpdr.program.rescale`). In any
    other case the point is returned as it is, and its residuals tell.
    """
    if not sdp.is_point(values):
        return values
    values = rescale(sdp, values)
    columns = slack_columns(sdp)
    if columns is None:
        return values
    values = shrink(sdp, values, {c.label for c in columns})
    return {**values, **fill_slack(sdp, values, columns)}


def shrink(sdp: SDP, values: Mapping[str, Value], slacked: set[str]) -> Mapping[str, Value]:
    """The point with its one matrix divided until all upper limits without slack hold."""
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
    by_label: dict[str, Rows] = {r.label: r for r in sdp.rows}
    for column in columns:
        rows = by_label[column.label]
        missing = sdp.slack(rows, alone)[column.row]
        wanted = missing / column.coefficient
        if rows.relation == "<=":
            # A scalar with a reward takes all that its row leaves, one with a price what it lacks.
            wanted = np.where((missing < 0.0) | (column.cost < 0.0), wanted, 0.0)
        if column.curvature is None:
            wanted = np.maximum(wanted, 0.0)
        filled[column.variable][column.scalar] = wanted
    return dict(filled)
