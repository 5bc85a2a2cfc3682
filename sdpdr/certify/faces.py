r"""The smallest face of one cone that contains a vector, in small integers.

The numbers of a solver indicate the face: the entries that are positive, and the span of the
eigenvectors of a matrix. After rounding to small integers the face is exact, and a proof can show
that an exact vector lies in its relative interior (`sdpdr.certify.exposing`).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import lcm

import numpy as np
import scipy.linalg as sl
import scipy.sparse as sp

from sdpdr.base.arrays import Array
from sdpdr.certify.flat import EXPONENTIAL, NONNEGATIVE, SECOND_ORDER, SEMIDEFINITE, Part, cone_of
from sdpdr.certify.products import congruence, forms
from sdpdr.linalg.svec import upper_triangle

PRIMAL, DUAL = "primal", "dual"
# Largest error of a rounded basis, and its denominators times the square root of that error:
# fractions with larger denominators approximate every number.
_OFF, _DENOMINATORS = 1e-4, 0.6
# Bound on integers, so that sums of two products are exact.
_SMALL = 2.0**25
# Cones, by kind and size, with maps to them from another cone.
Images = list[tuple[str, float, sp.csr_array]]


@dataclass(frozen=True, eq=False)
class Face:
    """The smallest face of one cone that contains a vector.

    Attributes
    ----------
    inside : list of (kind, size, map)
        Smaller cones that have the images of the vector in their interior.
    flat : sparse array
        Rows that vanish on the face.
    left : list of (kind, size, map)
        The face of the dual cone on which the vector vanishes, as smaller cones.
    zero : sparse array
        Rows that vanish on that face.
    basis : array, optional
        V, if the matrices of that face are V T V^T.
    """

    inside: Images
    flat: sp.csr_array
    left: Images
    zero: sp.csr_array
    basis: Array | None = None


# -- bases and maps in integers -----------------------------------------------------------------


def _bases(Q: Array, units: Array, off: float) -> tuple[Array, Array] | None:
    """Columns that span the range of Q, and those of its complement; see `integer_bases`.

    They are integers in the units of the user.
    """
    found = integer_bases(units[:, None] * Q, off)
    return None if found is None else (found[0] / units[:, None], units[:, None] * found[1])


def integer_bases(Q: Array, off: float = _OFF) -> tuple[Array, Array] | None:
    """Integer columns that span the range of Q, and those of its complement; None if not found.

    Entries of Q are known up to ``off``.
    """
    n, r = Q.shape
    if r in (0, n):
        return np.eye(n)[:, :r], np.eye(n)[:, r:]
    order = sl.qr(Q.T, mode="r", pivoting=True)[1]
    lead, rest = order[:r], order[r:]
    C = Q[rest] @ np.linalg.inv(Q[lead])
    most = int(_DENOMINATORS / off**0.5)
    near = [[Fraction(float(v)).limit_denominator(most) for v in row] for row in C]
    missed = max(
        abs(float(q) - v)
        for line, row in zip(near, C, strict=True)
        for q, v in zip(line, row, strict=True)
    )
    if missed > off * (1.0 + np.abs(C).max()):
        return None
    span, other = np.zeros((n, r)), np.zeros((n, n - r))
    for k in range(r):
        scale = lcm(*(line[k].denominator for line in near))
        span[lead[k], k] = scale
        span[rest, k] = [float(line[k] * scale) for line in near]
    for k in range(n - r):
        scale = lcm(*(q.denominator for q in near[k]))
        other[rest[k], k] = scale
        other[lead, k] = [-float(q * scale) for q in near[k]]
    # Products of two are exact.
    is_small = max(np.max(np.abs(span)), np.max(np.abs(other))) < _SMALL
    return (span, other) if is_small else None


def _vanishing(V: Array) -> sp.csr_array:
    """The map from the triangle of S to all entries of V^T S."""
    n, r = V.shape
    rows, columns = np.divmod(np.arange(r * n), n)
    return forms(sp.csr_array(V.T)[rows], sp.csr_array(sp.eye_array(n))[columns])[0]


def _numbers(T: sp.csr_array) -> Images:
    """Images on which entries are nonnegative."""
    return [(NONNEGATIVE, 1.0, T)]


def face_of(part: Part, v: Array, side: str, least: float, off: float = _OFF) -> Face | None:
    """The smallest face around v: of the dual cone (primal side), or of the cone (dual side).

    Entries and eigenvalues up to ``least`` count as zero, and directions are known up to ``off``.
    None if the face has no basis of small integers.
    """
    if part.kind == NONNEGATIVE:
        eye = sp.csr_array(sp.eye_array(v.size))
        some, rest = np.flatnonzero(v > least), np.flatnonzero(v <= least)
        inside, left = _numbers(eye[some]), _numbers(eye[rest])
        return Face(inside, eye[rest], left, eye[some])
    eye, nothing = sp.csr_array(sp.eye_array(v.size)), sp.csr_array((0, v.size))
    if np.max(np.abs(v)) < least:
        return Face([], eye, [(part.kind, part.size, eye)], nothing)
    if part.kind == SEMIDEFINITE:
        return _face_of_matrices(part, v, side, least, off)
    if part.kind == SECOND_ORDER:
        return _face_of_second_order(part.size, v, side, least, off)
    flat = _face_of_exponential(v, side, least) if part.kind == EXPONENTIAL else None
    return _whole(part, v, side) if flat is None else flat


def _whole(part: Part, v: Array, side: str) -> Face | None:
    """All of an exponential or power cone if v is in its interior; then only zero is left."""
    cone = cone_of(part)
    if not (cone.is_dual_inside(v[None]) if side == PRIMAL else cone.is_inside(v[None])):
        return None
    eye = sp.csr_array(sp.eye_array(v.size))
    return Face([(part.kind, part.size, eye)], eye[:0], [], eye)


def _face_of_matrices(part: Part, v: Array, side: str, least: float, off: float) -> Face | None:
    order = int(part.size)
    i, j = upper_triangle(order)
    M = np.zeros((order, order))
    M[i, j] = M[j, i] = v / np.where(i == j, 1.0, 2.0) if side == PRIMAL else v
    values, Q = np.linalg.eigh(M)
    units = np.ones(order) if part.units is None else part.units
    bases = _bases(Q[:, values > least], units if side == PRIMAL else 1.0 / units, off)
    if bases is None:
        return None
    W, V = bases
    # W and V have small integers, whose products are exact.
    inside = [(SEMIDEFINITE, float(W.shape[1]), congruence(W.T)[0])]
    left = [(SEMIDEFINITE, float(V.shape[1]), congruence(V.T)[0])]
    return Face(inside, _vanishing(V), left, _vanishing(W), V)


def _face_of_second_order(
    size: float, v: Array, side: str, least: float, off: float
) -> Face | None:
    """The cone itself, or a ray of its boundary."""
    eye = sp.csr_array(sp.eye_array(v.size))
    if v[0] - np.linalg.norm(v[1:]) > least:
        return Face([(SECOND_ORDER, size, eye)], eye[:0], [], eye)
    bases = integer_bases(v[:, None], off)
    if bases is None:
        return None
    head, *rest = (int(number) for number in bases[0][:, 0])
    if head**2 != sum(number**2 for number in rest):
        return None
    J = sp.diags_array(np.r_[1.0, -np.ones(v.size - 1)])
    ray = sp.csr_array(np.sign(bases[0][0, 0]) * bases[0].T)
    across = sp.csr_array(bases[1].T)
    opposite = eye[[0]] if side == PRIMAL else sp.csr_array(ray @ J)
    inside, left = _numbers(ray), _numbers(opposite)
    return Face(inside, across, left, sp.csr_array(across @ J))


def _face_of_exponential(v: Array, side: str, least: float) -> Face | None:
    """The flat faces: y = 0 of the cone, u = 0 of its dual."""
    eye, flip = sp.csr_array(sp.eye_array(3)), sp.csr_array(np.diag([-1.0, 1.0, 1.0]))
    big = np.abs(v) > least
    if big[0 if side == PRIMAL else 1]:
        return None
    if side == PRIMAL:
        rows = [0] if big[2] else [0, 2]
    elif big[0]:
        rows = [1] if big[2] else [1, 2]
    else:
        return None
    inside, left = _numbers(flip[np.flatnonzero(big)]), _numbers(flip[rows])
    zero = eye[[1, 2]] if big[2] else eye[[1]]
    return Face(inside, flip[np.flatnonzero(~big)], left, zero)
