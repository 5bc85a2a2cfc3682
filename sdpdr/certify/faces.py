r"""Faces and rays, of a program and of its dual, by one function.

*Primal*: multipliers z of the cones with :math:`E^T w + A^T z = 0`, :math:`f^T w + b^T z = 0`
vanish on every feasible slack, which leaves it a face of K; with :math:`f^T w + b^T z = -1`
nothing is feasible. *Dual*, the mirror: directions d with :math:`E d = 0`, :math:`-A d \in K`,
:math:`c^T d = 0` leave multipliers a face of K*; with :math:`c^T d = -1` there are none.

A solver proposes a vector of largest rank; nothing that it says is believed. The face in which that
lies is rounded to small integers, and the proof of `sdpdr.certify.proof` shows that an exact vector
lies inside of it. Each step leads to a smaller program with the same points, or the same
multipliers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import scipy.linalg as sl
import scipy.sparse as sp

from sdpdr.base.arrays import Array, Matrix
from sdpdr.certify.equations import UnprovedError
from sdpdr.certify.flat import (
    EXPONENTIAL,
    NONNEGATIVE,
    SECOND_ORDER,
    SEMIDEFINITE,
    FlatProgram,
    Part,
    Piece,
    build,
)
from sdpdr.certify.proof import Proof
from sdpdr.linalg.rounding import two_product

PRIMAL, DUAL = "primal", "dual"
# Beside the largest: what interior-point methods at 1e-8 find of entries that are in the face.
_CLEAR = 1e-4
# Denominators of a basis that is rounded, and by how much it may be off.
_DENOMINATOR, _OFF = 60, 1e-4


class Point(NamedTuple):
    """What a solver says of a program; x of variables, s of cones, z of equations and cones."""

    x: Array
    s: Array
    z: Array
    is_solved: bool


# A solver as an oracle: its answers are proposals.
Oracle = Callable[[FlatProgram], Point]
# Cones with a map to them from another one.
Images = list[tuple[str, float, sp.csr_array]]


@dataclass(frozen=True, eq=False)
class Face:
    """The face of one cone that a vector lies inside of.

    Attributes
    ----------
    inside : list of (kind, size, map)
        Smaller cones in which images of the vector are inside.
    flat : sparse array
        Rows that vanish on the face.
    left : list of (kind, size, map)
        The face that the vector leaves of the other side, as smaller cones.
    zero : sparse array
        Rows that vanish on that.
    basis : array, optional
        V, where what is left of matrices are V T V^T.
    """

    inside: Images
    flat: sp.csr_array
    left: Images
    zero: sp.csr_array
    basis: Array | None = None


# -- bases and maps in integers -----------------------------------------------------------------


def _integer_bases(Q: Array) -> tuple[Array, Array] | None:
    """Integer columns that span what Q spans to about four digits, and those of its complement."""
    n, r = Q.shape
    if r in (0, n):
        return np.eye(n)[:, :r], np.eye(n)[:, r:]
    order = sl.qr(Q.T, mode="r", pivoting=True)[1]
    lead, rest = order[:r], order[r:]
    C = Q[rest] @ np.linalg.inv(Q[lead])
    near = [[Fraction(float(v)).limit_denominator(_DENOMINATOR) for v in row] for row in C]
    off = max(
        abs(float(q) - v)
        for line, row in zip(near, C, strict=True)
        for q, v in zip(line, row, strict=True)
    )
    if off > _OFF * (1.0 + np.abs(C).max()):
        return None
    span, other = np.zeros((n, r)), np.zeros((n, n - r))
    for k in range(r):
        scale = int(np.lcm.reduce([line[k].denominator for line in near], initial=1))
        span[lead[k], k] = scale
        span[rest, k] = [float(line[k] * scale) for line in near]
    for k in range(n - r):
        scale = int(np.lcm.reduce([q.denominator for q in near[k]], initial=1))
        other[rest[k], k] = scale
        other[lead, k] = [-float(q * scale) for q in near[k]]
    return None if np.any(span.T @ other) else (span, other)


def congruence(V: Array) -> sp.csr_array:
    """The map from the triangle of S to that of V^T S V.

    Examples
    --------
    >>> congruence(np.array([[1.0], [1.0]])).toarray().tolist()
    [[1.0, 2.0, 1.0]]
    """
    return _bilinear(V, V, [(p, q) for q in range(V.shape[1]) for p in range(q + 1)])


def _products(V: Array) -> sp.csr_array:
    """The map from the triangle of S to all entries of V^T S."""
    n, r = V.shape
    return _bilinear(V, np.eye(n), [(p, q) for p in range(r) for q in range(n)])


def _bilinear(V: Array, W: Array, pairs: Sequence[tuple[int, int]]) -> sp.csr_array:
    n = V.shape[0]
    j, i = np.tril_indices(n)
    twice = np.where(i == j, 0.0, 1.0)
    rows = [V[i, p] * W[j, q] + twice * V[j, p] * W[i, q] for p, q in pairs]
    return sp.csr_array(np.reshape(rows, (len(pairs), n * (n + 1) // 2)))


def image(T: Matrix, A: Matrix) -> sp.csr_array:
    """T A where no entry of it was rounded: a face is a statement about the numbers stored.

    Raises
    ------
    UnprovedError
        If one was.
    """
    T, A = sp.csr_array(T), sp.csr_array(A)
    product = sp.csr_array(T @ A)
    # Each entry of T meets one row of A.
    lengths = np.diff(A.indptr)[T.indices]
    weight = np.repeat(T.data, lengths)
    row = np.repeat(np.repeat(np.arange(T.shape[0]), np.diff(T.indptr)), lengths)
    first = np.repeat(A.indptr[T.indices] - np.concatenate([[0], np.cumsum(lengths)[:-1]]), lengths)
    entry = first + np.arange(weight.size) if weight.size else np.zeros(0, dtype=np.intp)
    terms, errors = two_product(weight, A.data[entry])
    if np.any(errors):
        raise UnprovedError("numbers of a face are rounded")
    place = row * A.shape[1] + A.indices[entry].astype(np.int64)
    order = np.argsort(place, kind="stable")
    place, terms = place[order], terms[order]
    starts = np.flatnonzero(np.append(True, place[1:] != place[:-1])) if place.size else place
    stored = np.asarray(product[row[order][starts], place[starts] % A.shape[1]]).ravel()
    ends = np.append(starts[1:], place.size)
    for k in np.flatnonzero(ends - starts > 1):
        # The sum of these and of what is stored, with the other sign, is zero if it is exact.
        if math.fsum([*terms[starts[k] : ends[k]], -stored[k]]):
            raise UnprovedError("numbers of a face are rounded")
    return product


def _image_of(T: Matrix, A: Matrix, b: Array) -> tuple[sp.csr_array, Array]:
    both = image(T, sp.hstack([A, sp.csr_array(b[:, None])]))
    return both[:, :-1], both[:, [both.shape[1] - 1]].toarray().ravel()


# -- the face of one cone -----------------------------------------------------------------------


def _face(part: Part, v: Array, side: str, top: float) -> Face | None:
    """The face that v lies inside of: of the dual cone (primal side), or of the cone (dual side).

    None where it has no basis of small integers.
    """
    if part.kind == NONNEGATIVE:
        eye = sp.csr_array(sp.eye_array(v.size))
        some, rest = np.flatnonzero(v > _CLEAR * top), np.flatnonzero(v <= _CLEAR * top)
        inside, left = [(NONNEGATIVE, 1.0, eye[some])], [(NONNEGATIVE, 1.0, eye[rest])]
        return Face(inside, eye[rest], left, eye[some])
    eye, nothing = sp.csr_array(sp.eye_array(v.size)), sp.csr_array((0, v.size))
    if np.max(np.abs(v)) < _CLEAR * top:
        return Face([], eye, [(part.kind, part.size, eye)], nothing)
    if part.kind == SEMIDEFINITE:
        return _face_of_matrices(int(part.size), v, side, top)
    if part.kind == SECOND_ORDER:
        return _face_of_second_order(part.size, v, side, top)
    return _face_of_exponential(v, side, top) if part.kind == EXPONENTIAL else None


def _face_of_matrices(order: int, v: Array, side: str, top: float) -> Face | None:
    j, i = np.tril_indices(order)
    M = np.zeros((order, order))
    M[i, j] = M[j, i] = v / np.where(i == j, 1.0, 2.0) if side == PRIMAL else v
    values, Q = np.linalg.eigh(M)
    bases = _integer_bases(Q[:, values > _CLEAR * top])
    if bases is None:
        return None
    W, V = bases
    inside = [(SEMIDEFINITE, float(W.shape[1]), congruence(W))]
    left = [(SEMIDEFINITE, float(V.shape[1]), congruence(V))]
    return Face(inside, _products(V), left, _products(W), V)


def _face_of_second_order(size: float, v: Array, side: str, top: float) -> Face | None:
    """The cone itself, or a ray of its boundary."""
    eye = sp.csr_array(sp.eye_array(v.size))
    if v[0] - np.linalg.norm(v[1:]) > _CLEAR * top:
        return Face([(SECOND_ORDER, size, eye)], eye[:0], [], eye)
    bases = _integer_bases((v / v[0])[:, None])
    if bases is None or 2.0 * bases[0][0, 0] ** 2 != np.sum(bases[0] ** 2):
        return None
    J = sp.diags_array(np.r_[1.0, -np.ones(v.size - 1)])
    ray = sp.csr_array(np.sign(bases[0][0, 0]) * bases[0].T)
    across = sp.csr_array(bases[1].T)
    opposite = eye[[0]] if side == PRIMAL else sp.csr_array(ray @ J)
    inside, left = [(NONNEGATIVE, 1.0, ray)], [(NONNEGATIVE, 1.0, opposite)]
    return Face(inside, across, left, sp.csr_array(across @ J))


def _face_of_exponential(v: Array, side: str, top: float) -> Face | None:
    """The flat faces: y = 0 of the cone, u = 0 of its dual."""
    eye, flip = sp.csr_array(sp.eye_array(3)), sp.csr_array(np.diag([-1.0, 1.0, 1.0]))
    big = np.abs(v) > _CLEAR * top
    if big[0 if side == PRIMAL else 1]:
        return None
    if side == PRIMAL:
        rows = [0] if big[2] else [0, 2]
    elif big[0]:
        rows = [1] if big[2] else [1, 2]
    else:
        return None
    inside = [(NONNEGATIVE, 1.0, flip[np.flatnonzero(big)])]
    zero = eye[[1, 2]] if big[2] else eye[[1]]
    return Face(inside, flip[np.flatnonzero(~big)], [(NONNEGATIVE, 1.0, flip[rows])], zero)


# -- exposing vectors and rays ------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Exposed:
    """What an exposing vector leaves: smaller cones, rows that vanish, and bases of matrices."""

    left: list[Piece]
    E: sp.csr_array
    f: Array
    bases: list[Array | None]


class _Search:
    """The program whose answer is an exposing vector of a program, or a ray of it."""

    def __init__(self, program: FlatProgram, side: str, *, ray: bool) -> None:
        self.program, self.side, self.ray = program, side, ray

    def over(self, pieces: Sequence[Piece], flat: sp.csr_array) -> FlatProgram:
        """The search in some cones, where rows vanish."""
        pieces = build(self.program.c, self.program.E, self.program.f, pieces).pieces()
        return self._of_multipliers(pieces) if self.side == PRIMAL else self._of_steps(pieces, flat)

    def _centre(self, pieces: Sequence[Piece]) -> Array:
        return build(self.program.c, self.program.E, self.program.f, pieces).centre

    def _of_multipliers(self, pieces: Sequence[Piece]) -> FlatProgram:
        """Multipliers z of size one, or the smallest ray, are those of this program."""
        program, e, at = self.program, self._centre(pieces), 0
        m, n = program.E.shape
        added, more = [], [] if self.ray else [sp.csr_array((m, 1))]
        for kind, size, A, b in pieces:
            part, at = e[at : at + b.size], at + b.size
            columns = [A, sp.csr_array(-b[:, None])]
            columns += [] if self.ray else [sp.csr_array(part[:, None])]
            added.append(Piece(kind, size, sp.hstack(columns), part * float(self.ray)))
        E = sp.hstack([program.E, sp.csr_array(-program.f[:, None]), *more])
        cost = np.concatenate([np.zeros(n), [-1.0] if self.ray else [0.0, -1.0]])
        return build(cost, sp.csr_array(E), np.zeros(m), added)

    def _of_steps(self, pieces: Sequence[Piece], flat: sp.csr_array) -> FlatProgram:
        """Steps whose slack has size one, or that improve by one with the least slack."""
        program, bare = self.program, [Piece(k, s, A, 0.0 * b) for k, s, A, b in pieces]
        m, n = program.E.shape
        A = sp.vstack([sp.csr_array((0, n)), *(one.A for one in pieces)])
        size = A.T @ self._centre(pieces)
        rows = [program.E, sp.csr_array(program.c[None])]
        rows += [flat] if self.ray else [sp.csr_array(size[None]), flat]
        E = sp.csr_array(sp.vstack(rows))
        f = np.zeros(E.shape[0])
        f[m if self.ray else m + 1] = -1.0
        return build(-size if self.ray else np.zeros(n), E, f, bare)


def exposing(program: FlatProgram, side: str, solve: Oracle, *, ray: bool = False) -> Exposed:
    """What an exposing vector of largest rank leaves, or a ray, once it is proved.

    Parameters
    ----------
    program : FlatProgram
    side : {"primal", "dual"}
    solve : callable of a program
        Proposes a vector.
    ray : bool, default False
        Look for one that shows that there is no point, or that there are no multipliers.

    Raises
    ------
    UnprovedError
        Why not.
    """
    search, n = _Search(program, side, ray=ray), program.c.size
    whole = search.over(program.pieces(), sp.csr_array((0, n)))
    found = solve(whole)
    v = found.z[whole.f.size :] if side == PRIMAL else found.s
    if not found.is_solved or not np.all(np.isfinite(v)):
        raise UnprovedError("no exposing vector was found")
    top = float(np.max(np.abs(v), initial=1e-9))
    if ray:
        top = max(1.0, float(np.max(np.abs(found.x if side == DUAL else found.z))))
    faces = [_face(part, v[part.rows], side, top) for part in program.parts]
    known = [face for face in faces if face is not None]
    if len(known) < len(faces):
        raise UnprovedError("a face has no basis of small integers")
    if not ray and not any(T.shape[0] for face in known for _, _, T in face.inside):
        raise UnprovedError("nothing is exposed")
    rows = [part.rows for part in program.parts]
    nothing = sp.csr_array((0, n))
    flat = [image(face.flat, program.A[at]) for face, at in zip(known, rows, strict=True)]
    inside = [
        Piece(kind, size, *_image_of(T, program.A[at], program.b[at]))
        for face, at in zip(known, rows, strict=True)
        for kind, size, T in face.inside
        if T.shape[0]
    ]
    small = search.over(inside, sp.csr_array(sp.vstack([nothing, *flat])))
    again = solve(small)
    proof = Proof(small, again.s, again.z)
    if side == PRIMAL:
        proof.bound(again.z)
    else:
        proof.value(again.x)
    if ray:
        return Exposed([], nothing, np.zeros(0), [])
    zero = [
        _image_of(face.zero, program.A[at], program.b[at])
        for face, at in zip(known, rows, strict=True)
    ]
    left = [
        Piece(kind, size, *_image_of(T, program.A[at], program.b[at]))
        for face, at in zip(known, rows, strict=True)
        for kind, size, T in face.left
        if T.shape[0]
    ]
    E = sp.csr_array(sp.vstack([nothing, *(A for A, _ in zero)]))
    f = np.concatenate([np.zeros(0), *(b for _, b in zero)])
    return Exposed(left, E, f, [face.basis for face in known])


def reduced(program: FlatProgram, side: str, solve: Oracle) -> FlatProgram:
    """A program in smaller cones with the same points, or the same multipliers.

    Raises
    ------
    UnprovedError
        If no exposing vector is proved.
    """
    found = exposing(program, side, solve)
    if side == DUAL:
        return build(program.c, program.E, program.f, found.left, program.offset)
    E, f = sp.vstack([program.E, found.E]), np.concatenate([program.f, found.f])
    smaller = build(program.c, E, f, found.left, program.offset)
    return _substituted(program, smaller, found.bases) or smaller


def refuted(program: FlatProgram, side: str, solve: Oracle, most: int = 4) -> int:
    """Steps to a proof that there is no point, or that there are no multipliers: faces and a ray.

    Raises
    ------
    UnprovedError
        If there is none within ``most`` steps.
    """
    for step in range(most):
        try:
            exposing(program, side, solve, ray=True)
        except (UnprovedError, np.linalg.LinAlgError) as why:
            if step == most - 1:
                raise UnprovedError(f"no ray within {most} steps: {why}") from None
            try:
                program = reduced(program, side, solve)
            except (UnprovedError, np.linalg.LinAlgError) as other:
                raise UnprovedError(f"no ray: {why}; no face: {other}") from None
        else:
            return step + 1
    raise AssertionError("unreachable")


def _substituted(
    program: FlatProgram, smaller: FlatProgram, bases: Sequence[Array | None]
) -> FlatProgram | None:
    """The same where the only matrix is a variable: V T V^T takes its place.

    Equations of the face go, and T is a variable again. None where it does not suit.
    """
    old = [part for part in program.parts if part.kind == SEMIDEFINITE]
    new = [part for part in smaller.parts if part.kind == SEMIDEFINITE]
    if len(old) != 1 or len(new) != 1 or new[0].size == old[0].size:
        return None
    rows, (_, rank, face) = old[0].rows, new[0]
    block, n = program.A[rows], program.c.size
    if not np.all(np.diff(block.indptr) == 1) or np.any(program.b[rows]):
        return None
    if not np.all(block.data == -1.0) or np.unique(block.indices).size != rows.size:
        return None
    V = next(V for V, part in zip(bases, program.parts, strict=True) if part.kind == SEMIDEFINITE)
    if V is None:
        return None
    others = np.setdiff1d(np.arange(n), block.indices)
    S = sp.lil_array((n, others.size + face.size))
    S[others, np.arange(others.size)] = 1.0
    S[block.indices, others.size :] = congruence(V.T).toarray()
    S = sp.csr_array(S)

    def through(A: Matrix) -> sp.csr_array:
        return sp.csr_array(image(S.T, sp.csr_array(A).T).T)

    own = sp.hstack([sp.csr_array((face.size, others.size)), -sp.eye_array(face.size)])
    seen = np.concatenate(
        [np.zeros(0, dtype=np.intp), *(at for k, _, at in smaller.parts if k != SEMIDEFINITE)]
    )
    rest, at = through(smaller.A[seen]), 0
    pieces = [Piece(SEMIDEFINITE, rank, own, np.zeros(face.size))]
    for kind, size, rows in smaller.parts:
        if kind != SEMIDEFINITE:
            pieces.append(Piece(kind, size, rest[at : at + rows.size], smaller.b[rows]))
            at += rows.size
    cost = through(sp.csr_array(program.c[None])).toarray().ravel()
    return build(cost, through(program.E), program.f, pieces, program.offset)
