"""Scalars that act as slack of single rows: the box they put the rows' multipliers in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from sdpdr.base.arrays import Array, Index
from sdpdr.program.point import Value
from sdpdr.program.rows import Rows
from sdpdr.program.sdp import SDP, remembered


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


def fill_slack(sdp: SDP, values: Mapping[str, Value]) -> dict[str, Value]:
    """The values with the cheapest slack that satisfies the rows, where all scalars are slack.

    Examples
    --------
    >>> from sdpdr import minimize, scalar
    >>> w = scalar("w", 2, nonnegative=True)
    >>> above = minimize(w.sum()) + (w >= [1.0, 2.0])
    >>> fill_slack(above.to_sdp(), {"w": np.array([0.5, 2.5])})["w"].tolist()
    [1.0, 2.0]
    """
    columns, found = slack_columns(sdp) or [], dict(values)
    found |= {c.variable: np.zeros(np.shape(values[c.variable])) for c in columns}
    alone = dict(found)
    for rows in sdp.rows:
        group = [c for c in columns if c.label == rows.label]
        missing = sdp.slack(rows, alone) if group else np.zeros(rows.m)
        for column in group:
            filled = np.array(found[column.variable])
            filled[column.scalar] = _cheapest(rows, missing, column)
            found[column.variable] = filled
    return found


def _cheapest(rows: Rows, missing: Array, column: SlackColumn) -> Array:
    """What slack that is alone in its rows, or has but its opposite beside it, has to be."""
    missing = missing[column.row]
    wanted = missing / column.coefficient
    if rows.relation == "<=":
        # A scalar with a reward takes all that its row leaves, one with a cost what it lacks.
        wanted = np.where((missing < 0.0) | (column.cost < 0.0), wanted, 0.0)
    return np.maximum(wanted, 0.0) if column.curvature is None else wanted
