"""Programs without interior, and others that only look like it, for the tests of faces."""

from __future__ import annotations

import numpy as np

from sdpdr.linalg import SvecMap, VectorMap
from sdpdr.program import SDP, PsdVariable, Rows, VectorVariable


def entries(n, *rows):
    """Rows from lists of (i, j, entry), counted from one."""
    table = [(e, i - 1, j - 1, a) for e, row in enumerate(rows) for i, j, a in row]
    row, i, j, a = (np.array(column) for column in zip(*table, strict=True))
    return SvecMap.from_entries(n, len(rows), row, i, j, a.astype(float))


def program(n, objective, *rows, relation="==", maximize=False, scalars=None, **more):
    """A program in one matrix X, from its objective and rows (entries, right side)."""
    variables = [PsdVariable("X", n)]
    lhs = {"X": entries(n, *(row for row, _ in rows))}
    if scalars is not None:
        matrix, nonnegative = scalars
        lhs["z"] = VectorMap(np.array(matrix, dtype=float))
        variables.append(VectorVariable("z", lhs["z"].n, nonnegative=nonnegative))
    group = Rows("rows", relation, lhs, np.array([side for _, side in rows], dtype=float))
    cost = {"X": entries(n, objective)} if objective else {}
    return SDP(tuple(variables), cost, (group,), maximize=maximize, **more)


def lying(limit=None):
    """min X33 (+ X44), X11 = 0, X33 + 2 X12 = 1 (, X44 = 1, tr X <= limit): 1 (or 2)."""
    rows = [([(1, 1, 1)], 0), ([(3, 3, 1), (1, 2, 1)], 1)]
    if limit is None:
        return program(3, [(3, 3, 1)], *rows)
    rows += [([(4, 4, 1)], 1)]
    base = program(4, [(3, 3, 1), (4, 4, 1)], *rows)
    trace = Rows(
        "trace",
        "<=",
        {"X": entries(4, [(i, i, 1) for i in (1, 2, 3, 4)])},
        np.array([float(limit)]),
    )
    return SDP(base.variables, base.objective, (*base.rows, trace))
