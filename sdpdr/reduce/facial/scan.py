"""Rows that confine the feasible points by themselves, found without looking at most rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import TypeAlias

import numpy as np

from sdpdr.base.arrays import Index
from sdpdr.linalg import LinearMap
from sdpdr.linalg.exact import Mask
from sdpdr.linalg.svec import svec_index, svec_pairs, svec_size
from sdpdr.program.face import exposing_rows
from sdpdr.program.rows import Expression
from sdpdr.program.sdp import SDP
from sdpdr.reduce.facial.coefficients import signs, touched
from sdpdr.reduce.facial.faces import Consequences, Faces, Line, Multiplier

Place: TypeAlias = "tuple[str, int]"
Found: TypeAlias = "tuple[tuple[Multiplier, ...], Consequences]"


def left_to_face(sdp: SDP) -> set[str]:
    """Labels of rows K u = 0 that state a face and have a reduction of their own.

    They are exact as they stand. Only those whose vectors are unit vectors are taken here, for
    they empty rows and columns, from which more may follow.
    """
    left = set()
    for v in sdp.psd_variables:
        for rows in exposing_rows(sdp, v.name):
            linear_map = rows.lhs[v.name]
            assert isinstance(linear_map, LinearMap)
            vectors = linear_map.null_vectors(rows.rhs).tocsc()
            if np.any(np.diff(vectors.indptr) != 1):
                left.add(rows.label)
    return left


def first_places(sdp: SDP) -> Iterator[Place]:
    """Rows whose signs do not rule out that they confine something."""
    skipped = left_to_face(sdp)
    for r in sdp.rows:
        if r.label not in skipped and r.m:
            up = r.rhs <= 0.0
            down = (r.rhs >= 0.0) & (r.relation == "==")
            yield from ((r.label, int(e)) for e in _candidates(sdp, r.lhs, up, down))
    for lmi in sdp.lmis:
        diagonal = svec_index(np.arange(lmi.order), np.arange(lmi.order))
        up = np.zeros(svec_size(lmi.order), dtype=bool)
        down = up.copy()
        down[diagonal] = lmi.constant[diagonal] <= 0.0
        yield from ((lmi.label, int(p)) for p in _candidates(sdp, lmi.lhs, up, down))


def next_places(faces: Faces, news: Consequences) -> Iterator[Place]:
    """Rows that look different after something new became known; to be asked once for each news."""
    # Only the rows of V at pivots are not those of the unit matrix.
    fresh = {name: sorted(echelon.fresh) for name, echelon in faces.echelons.items()}
    for echelon in faces.echelons.values():
        echelon.fresh.clear()
    return _next_places(faces, news, faces.places(fresh, news.zeros))


def _next_places(faces: Faces, news: Consequences, places: Mapping[str, Mask]) -> Iterator[Place]:
    skipped = left_to_face(faces.sdp)
    for r in faces.sdp.rows:
        if r.label not in skipped:
            known = {e for label, e in news.tight if label == r.label}
            found = np.flatnonzero(touched(r.lhs, places, r.m))
            yield from ((r.label, e) for e in sorted(known | set(found.tolist())))
    for lmi in faces.sdp.lmis:
        hit = touched(lmi.lhs, places, svec_size(lmi.order))
        i, j = svec_pairs(np.arange(hit.size))
        fresh = np.zeros(lmi.order, dtype=bool)
        fresh[[k for label, k in news.vanishing if label == lmi.label]] = True
        chosen = (hit & ((i == j) | faces.lost(lmi))) | fresh[i] | fresh[j]
        yield from ((lmi.label, int(p)) for p in np.flatnonzero(chosen))


def proofs(faces: Faces, places: Iterator[Place]) -> Iterator[Found]:
    """What the rows at some places prove on the faces known so far, each by itself."""
    for label, e in places:
        line = None if (label, e) in faces.void else faces.line(label, e)
        if line is None:
            continue
        for y in (Fraction(1), Fraction(-1)):
            if y * line.side <= 0 and (y > 0 or line.equality) and _may_hold(line, y):
                found = faces.consequences([(label, e, y)])
                if found:
                    yield ((label, e, y),), found
                    break


def _may_hold(line: Line, y: Fraction) -> bool:
    """Whether no diagonal entry, and no scalar, has the wrong sign."""
    matrices = line.matrices.values()
    return all(y * a >= 0 for m in matrices for (i, j), a in m.items() if i == j) and all(
        y * b >= 0 for s in line.scalars.values() for b in s.values()
    )


def _candidates(sdp: SDP, lhs: Expression, up: Mask, down: Mask) -> Index:
    """Rows that may be semidefinite with the sign that their right side asks for."""
    for name, linear_map in lhs.items():
        if not np.any(up | down):
            break
        positive, negative = signs(linear_map)
        if not sdp.variable(name).is_signed:
            # A free scalar must not appear at all.
            positive = negative = positive & negative
        up, down = up & positive, down & negative
    return np.flatnonzero(up | down)
