r"""Looking for combinations of rows that expose a face, by an auxiliary program.

.. math::

    \max_y\ -r(y) \ \text{ s.t. } \ W_k(y) \succeq 0, \quad s(y) \ge 0
    \ (= 0 \text{ on free scalars}), \quad
    \textstyle\sum_k \operatorname{tr} W_k(y) + \sum_j s_j(y) + \sum_{e \in \le} y_e = 1,

with the notation of `sdpdr.reduce.facial.faces`. Its value is negative if the program has a
strictly feasible point, zero if it has none, and positive if it has no feasible point at all. What
the solver finds is a suggestion only; `sdpdr.reduce.facial.rounding` makes a proof of it, or not.

References
----------
Permenter, Friberg and Andersen, SIAM J. Optim. 27(3), 2017; Cheung, Schurr and Wolkowicz,
"Preprocessing and regularization for degenerate semidefinite programs", 2013.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array, from_places
from sdpdr.linalg import VectorMap
from sdpdr.linalg.exact import Mask
from sdpdr.linalg.svec import SQRT2, svec_index, svec_pairs, svec_size
from sdpdr.program.point import Point, VectorVariable, as_dense
from sdpdr.program.rows import Lmi, Relation, Rows
from sdpdr.program.sdp import SDP
from sdpdr.reduce.facial.faces import Faces, Line
from sdpdr.reduce.facial.scan import Place, left_to_face

Lent: TypeAlias = "Callable[[SDP], Point]"
# Sizes up to which the auxiliary program takes a second at most.
_ORDER, _LINES = 60, 300
# A value below means that there is a strictly feasible point.
_INTERIOR = -1e-6


def lines_of(faces: Faces) -> dict[Place, Line]:
    """Every row on the faces known so far that says something, and is known exactly."""
    sdp, found = faces.sdp, dict[Place, Line]()
    skipped = left_to_face(sdp)
    places = [(r.label, e) for r in sdp.rows if r.label not in skipped for e in range(r.m)]
    for lmi in sdp.lmis:
        i, j = svec_pairs(np.arange(svec_size(lmi.order)))
        places += [(lmi.label, int(p)) for p in np.flatnonzero((i == j) | faces.lost(lmi))]
    for place in places:
        line = faces.line(*place)
        if line is not None and not (line.is_void and line.equality and not line.side):
            found[place] = line
    return found


def direction(faces: Faces, lend: Lent) -> dict[Place, float]:
    """Multipliers that nearly expose something; none if the program is large or has interior."""
    sdp = faces.sdp
    if max((v.n for v in sdp.psd_variables), default=0) > _ORDER or sdp.n_rows > _LINES:
        return {}
    lines = lines_of(faces)
    if not lines or len(lines) > 2 * _LINES:
        return {}
    auxiliary = _auxiliary(faces, lines)
    point = lend(auxiliary)
    if "y" not in point.values and "p" not in point.values:
        return {}
    y = _joined(lines, point)
    sides = np.array([float(line.side) for line in lines.values()])
    if not np.all(np.isfinite(y)) or -float(sides @ y) < _INTERIOR:
        return {}
    return dict(zip(lines, y.tolist(), strict=True))


def _joined(lines: dict[Place, Line], point: Point) -> Array:
    free = np.array([line.equality for line in lines.values()])
    y = np.zeros(free.size)
    for name, chosen in (("y", free), ("p", ~free)):
        if chosen.any():
            y[chosen] = as_dense(point.values[name])
    return y


def _auxiliary(faces: Faces, lines: dict[Place, Line]) -> SDP:
    every = list(lines.values())
    free = np.array([line.equality for line in every])
    sides = np.array([float(line.side) for line in every])
    total = (~free).astype(float)
    rows, lmis = list[Rows](), list[Lmi]()
    for v in faces.sdp.psd_variables:
        matrix = _matrix(faces, v.name, v.n, every)
        order = int((np.sqrt(8 * matrix.shape[0] + 1) - 1) / 2 + 0.5)
        if matrix.nnz:
            diagonal = svec_index(np.arange(order), np.arange(order))
            total += np.asarray(matrix[diagonal].sum(axis=0)).ravel()
            zeros = np.zeros(matrix.shape[0])
            lmis.append(Lmi(f"W.{v.name}", order, _split(matrix, free), zeros))
    for z in faces.sdp.vector_variables:
        matrix = _scalars(z.name, z.size, every)
        if matrix.nnz:
            relation: Relation = "<=" if z.nonnegative else "=="
            if z.nonnegative:
                total += np.asarray(matrix.sum(axis=0)).ravel()
            lhs = _split(-matrix, free)
            rows.append(Rows(f"s.{z.name}", relation, lhs, np.zeros(z.size)))
    rows.append(Rows("scale", "==", _split(sp.csr_array(total[None, :]), free), np.ones(1)))
    # A program without feasible points has no other limit.
    rows.append(Rows("limit", "<=", _split(sp.csr_array(-sides[None, :]), free), np.ones(1)))
    variables = [
        VectorVariable(name, int(chosen.sum()), nonnegative=name == "p")
        for name, chosen in (("y", free), ("p", ~free))
        if chosen.any()
    ]
    objective = _split(sp.csr_array(sides[None, :]), free)
    return SDP(tuple(variables), objective, tuple(rows), tuple(lmis), name="exposing")


def _split(matrix: sp.csr_array, free: Mask) -> dict[str, VectorMap]:
    """A map on all multipliers as one on those that are free and one on the others."""
    parts = (("y", np.flatnonzero(free)), ("p", np.flatnonzero(~free)))
    return {name: VectorMap(matrix[:, chosen]) for name, chosen in parts if chosen.size}


def _matrix(faces: Faces, name: str, n: int, lines: list[Line]) -> sp.csr_array:
    """Columns svec(V^T A_e V)."""
    pivots = faces.echelons[name].vectors
    left = [i for i in range(n) if i not in pivots]
    new = {i: k for k, i in enumerate(left)}
    entries = (
        (int(svec_index(new[i], new[j])), e, float(a) * (1.0 if i == j else SQRT2))
        for e, line in enumerate(lines)
        for (i, j), a in line.matrices.get(name, {}).items()
    )
    return from_places(entries, (svec_size(len(left)), len(lines)))


def _scalars(name: str, size: int, lines: list[Line]) -> sp.csr_array:
    entries = (
        (k, e, b) for e, line in enumerate(lines) for k, b in line.scalars.get(name, {}).items()
    )
    return from_places(entries, (size, len(lines)))
