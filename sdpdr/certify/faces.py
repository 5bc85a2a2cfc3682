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

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import scipy.linalg as sl
import scipy.sparse as sp

from sdpdr.base.arrays import Array, Matrix
from sdpdr.certify.equations import Equations, UnprovedError
from sdpdr.certify.flat import (
    EXPONENTIAL,
    KINDS,
    NONNEGATIVE,
    SECOND_ORDER,
    SEMIDEFINITE,
    Answer,
    Around,
    FlatProgram,
    Part,
    Piece,
    build,
)
from sdpdr.certify.products import below, beside, rounded
from sdpdr.certify.proof import Proof

PRIMAL, DUAL = "primal", "dual"
# Beside the largest: what interior-point methods at 1e-8 find of entries that are in the face.
_CLEAR = 1e-4
# Shares of their size that rays are moved by to be inside.
_MOVED = (1e-8, 1e-6, 1e-4, 1e-2, 1.0)
# Denominators of a basis that is rounded, and by how much it may be off.
_DENOMINATOR, _OFF = 60, 1e-4


# A solver as an oracle: its answers are proposals.
Oracle = Callable[[FlatProgram], Answer]
# Cones with a map to them from another one.
Images = list[tuple[str, float, sp.csr_array]]
# Rows, right sides, and radii of both.
Image = tuple[sp.csr_array, Array, "sp.csr_array | None"]


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


def integer_bases(Q: Array) -> tuple[Array, Array] | None:
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


def _image(T: Matrix, A: Matrix, b: Array, radii: Matrix | None) -> Image:
    """T A, T b and their radii."""
    found, around = rounded(T, beside(A, b), radii)
    return found[:, :-1], found[:, [-1]].toarray().ravel(), around


def _stacked(images: Sequence[Image], n: int) -> Image:
    """Rows under rows."""
    A = sp.csr_array(sp.vstack([sp.csr_array((0, n)), *(one[0] for one in images)]))
    b = np.concatenate([np.zeros(0), *(one[1] for one in images)])
    return A, b, below([(one[2], one[1].size) for one in images], n + 1)


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
    bases = integer_bases(Q[:, values > _CLEAR * top])
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
    bases = integer_bases((v / v[0])[:, None])
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
    zero: Image
    bases: list[Array | None]


class _Search:
    """The program whose answer is an exposing vector of a program, or a ray of it."""

    def __init__(self, program: FlatProgram, side: str, *, ray: bool) -> None:
        self.program, self.side, self.ray = program, side, ray

    def over(self, pieces: Sequence[Piece], flat: Image) -> FlatProgram:
        """The search in some cones, where rows vanish."""
        pieces = build(self.program.c, self.program.E, self.program.f, pieces).pieces()
        return self._of_multipliers(pieces) if self.side == PRIMAL else self._of_steps(pieces, flat)

    def _centre(self, pieces: Sequence[Piece]) -> Array:
        return build(self.program.c, self.program.E, self.program.f, pieces).centre

    def _of_multipliers(self, pieces: Sequence[Piece]) -> FlatProgram:
        """Multipliers z of size one, or the smallest ray, are those of this program."""
        program, e, at = self.program, self._centre(pieces), 0
        m, n = program.E.shape
        last = 0 if self.ray else 1
        added, more = [], [] if self.ray else [sp.csr_array((m, 1))]
        for kind, size, A, b, radii in pieces:
            part, at = e[at : at + b.size], at + b.size
            columns = [A, sp.csr_array(-b[:, None])]
            columns += [] if self.ray else [sp.csr_array(part[:, None])]
            around = None if radii is None else _widened(radii, last + 1)
            added.append(Piece(kind, size, sp.hstack(columns), part * float(self.ray), around))
        E = sp.hstack([program.E, sp.csr_array(-program.f[:, None]), *more])
        cost = np.concatenate([np.zeros(n), [-1.0] if self.ray else [0.0, -1.0]])
        radii = program.around.E
        around = Around(E=None if radii is None else _widened(radii, last + 1))
        return build(cost, sp.csr_array(E), np.zeros(m), added, around=around)

    def _of_steps(self, pieces: Sequence[Piece], flat: Image) -> FlatProgram:
        """Steps whose slack has size one, or that improve by one with the least slack."""
        program, m, n = self.program, self.program.f.size, self.program.c.size
        bare = [
            Piece(k, s, A, 0.0 * b, None if radii is None else _bare(radii))
            for k, s, A, b, radii in pieces
        ]
        A = sp.vstack([sp.csr_array((0, n)), *(one.A for one in pieces)])
        size = A.T @ self._centre(pieces)
        cost = sp.csr_array(program.c[None])
        rows = [program.E, cost] if self.ray else [program.E, cost, sp.csr_array(size[None])]
        E = sp.csr_array(sp.vstack([*rows, flat[0]]))
        f = np.zeros(E.shape[0])
        # A gain of one, or a slack of size one.
        f[m if self.ray else m + 1] = -1.0
        around = program.around
        radii = below(
            [
                (None if around.E is None else _bare(around.E), m),
                (None if around.c is None else sp.csr_array(np.append(around.c, 0.0)[None]), 1),
                (None, len(rows) - 2),
                (None if flat[2] is None else _bare(flat[2]), flat[1].size),
            ],
            n + 1,
        )
        # The size of slack is what it is called: any number near it will do.
        return build(-size if self.ray else np.zeros(n), E, f, bare, around=Around(E=radii))


def _widened(radii: sp.csr_array, more: int) -> sp.csr_array:
    """Radii of A and b, where b has become a column and there are ``more - 1`` others."""
    nothing = sp.csr_array((radii.shape[0], more))
    return sp.csr_array(sp.hstack([radii, nothing]))


def _bare(radii: sp.csr_array) -> sp.csr_array:
    """Radii of A alone."""
    nothing = sp.csr_array((radii.shape[0], 1))
    return sp.csr_array(sp.hstack([radii[:, :-1], nothing]))


def exposing(program: FlatProgram, side: str, solve: Oracle) -> Exposed:
    """What an exposing vector of largest rank leaves, once that is proved.

    Parameters
    ----------
    program : FlatProgram
    side : {"primal", "dual"}
    solve : callable of a program
        Proposes a vector.

    Raises
    ------
    UnprovedError
        Why not.
    """
    known, _ = _proved(program, side, solve, ray=False)
    given = program.pieces()
    zero = [_image(face.zero, *piece[2:]) for face, piece in zip(known, given, strict=True)]
    left = _smaller([face.left for face in known], given)
    return Exposed(left, _stacked(zero, program.c.size), [face.basis for face in known])


def ray(program: FlatProgram, side: str, solve: Oracle) -> Array:
    """What shows that there is no point, or that there are no multipliers, once it is proved.

    Parameters
    ----------
    program, side, solve : as for `exposing`

    Returns
    -------
    array
        Multipliers of equations and cones, or a direction, next to the exact ones.

    Raises
    ------
    UnprovedError
        Why not.
    """
    try:
        known, at = _proved(program, side, solve, ray=True)
    except UnprovedError as why:
        found = _ray_inside(program, side, solve)
        if found is None:
            raise UnprovedError(str(why)) from None
        return found
    if side == DUAL:
        return at
    m = program.f.size
    z, begin = np.zeros(m + program.b.size), m
    z[:m] = at[:m]
    order = _order_of_pieces([face.inside for face in known])
    for k, T in order:
        z[m + program.parts[k].rows] += T.T @ at[begin : begin + T.shape[0]]
        begin += T.shape[0]
    return z


def _ray_inside(program: FlatProgram, side: str, solve: Oracle) -> Array | None:
    """A ray moved inside of all cones, where there is room: then it needs no face."""
    search, n, m = _Search(program, side, ray=True), program.c.size, program.f.size
    whole = search.over(program.pieces(), _stacked([], n))
    found = solve(whole)
    nothing = replace(program, c=np.zeros(n), f=np.zeros(m), b=np.zeros(program.b.size))
    ray = found.z if side == PRIMAL else found.x
    if not np.all(np.isfinite(ray)):
        return None
    try:
        room = inside(nothing, DUAL if side == PRIMAL else PRIMAL, solve)
    except UnprovedError:
        return None
    gains = np.concatenate([program.f, program.b]) if side == PRIMAL else program.c
    size = float(np.max(np.abs(ray))) / max(float(np.max(np.abs(room))), 1e-300)
    for share in _MOVED:
        moved = ray + share * size * room
        gain = -float(gains @ moved)
        if not gain > 0.0:
            break
        moved = moved / gain
        with suppress(UnprovedError, np.linalg.LinAlgError):
            if side == PRIMAL:
                return Proof(whole, found.s, moved).bound(moved).at
            return Proof(whole, whole.b - whole.A @ moved, found.z).value(moved).at
    return None


def _order_of_pieces(images: Sequence[Images]) -> list[tuple[int, sp.csr_array]]:
    """Which cone each smaller one comes from, and its map, in the order of `build`."""
    listed = [
        (KINDS.index(kind), k, T)
        for k, of_one in enumerate(images)
        for kind, _, T in of_one
        if T.shape[0]
    ]
    return [(k, T) for _, k, T in sorted(listed, key=lambda one: one[0])]


def _proved(
    program: FlatProgram, side: str, solve: Oracle, *, ray: bool
) -> tuple[list[Face], Array]:
    """Faces that an exact vector lies inside of, and that vector in the search over them."""
    search, n = _Search(program, side, ray=ray), program.c.size
    whole = search.over(program.pieces(), _stacked([], n))
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
    given = program.pieces()
    flat = [_image(face.flat, *piece[2:]) for face, piece in zip(known, given, strict=True)]
    inside = _smaller([face.inside for face in known], given)
    small = search.over(inside, _stacked(flat, n))
    again = solve(small)
    proof = Proof(small, again.s, again.z)
    return known, (proof.bound(again.z) if side == PRIMAL else proof.value(again.x)).at


def _smaller(images: Sequence[Images], given: Sequence[Piece]) -> list[Piece]:
    """Images of pieces in smaller cones."""
    return [
        Piece(kind, size, *_image(T, *piece[2:]))
        for of_one, piece in zip(images, given, strict=True)
        for kind, size, T in of_one
        if T.shape[0]
    ]


def inside(program: FlatProgram, side: str, solve: Oracle) -> Array:
    """A point with the largest margin to all cones, or such multipliers of equations and cones.

    Margins up to one are looked for; the multipliers are those of a program in directions.

    Raises
    ------
    UnprovedError
        If the solver finds none.
    """
    n, m, e = program.c.size, program.f.size, program.centre
    if side == PRIMAL:
        pieces, at = list[Piece](), 0
        for kind, size, A, b, _ in program.pieces():
            column = sp.csr_array(e[at : at + b.size][:, None])
            pieces.append(Piece(kind, size, sp.hstack([A, column]), b))
            at += b.size
        last = sp.csr_array(([1.0], ([0], [n])), shape=(1, n + 1))
        pieces.append(Piece(NONNEGATIVE, 1, last, np.ones(1)))
        E = sp.csr_array(sp.hstack([program.E, sp.csr_array((m, 1))]))
        found = solve(build(np.append(np.zeros(n), -1.0), E, program.f, pieces))
        margin, y = found.x[n], found.x[:n]
    else:
        size = program.A.T @ e
        bare = [Piece(kind, size_, A, 0.0 * b) for kind, size_, A, b, _ in program.pieces()]
        # First among its kind, so that it comes before all other cones.
        bare = [Piece(NONNEGATIVE, 1, sp.csr_array(-size[None]), np.ones(1)), *bare]
        found = solve(build(program.c + size, program.E, np.zeros(m), bare))
        margin = 1.0 - found.z[m]
        y = np.concatenate([found.z[:m], found.z[m + 1 :] + margin * e])
    if not np.all(np.isfinite(y)) or not margin > 0.0:
        raise UnprovedError("no point inside was found")
    return np.asarray(y)


@dataclass(frozen=True, eq=False)
class Reduced:
    """A program in smaller cones with the same points, or the same multipliers.

    Attributes
    ----------
    program : FlatProgram
    map : sparse array or None
        S, where points x of the old program are S u for points u of this one.
    """

    program: FlatProgram
    map: sp.csr_array | None = None


def reduced(program: FlatProgram, side: str, solve: Oracle) -> Reduced:
    """The program on the face that an exposing vector leaves.

    Raises
    ------
    UnprovedError
        If no exposing vector is proved.
    """
    found = exposing(program, side, solve)
    around = program.around
    if side == DUAL:
        left = found.left
        return Reduced(build(program.c, program.E, program.f, left, program.offset, around=around))
    E, f, radii = _stacked([(program.E, program.f, around.E), found.zero], program.c.size)
    around = around._replace(E=radii)
    # Equations that follow from others would leave solvers without a step.
    with suppress(UnprovedError):
        kept = Equations(E, f, np.ones(E.shape[1]), radii).rows
        E, f, around = E[kept], f[kept], around._replace(E=None if radii is None else radii[kept])
    smaller = build(program.c, E, f, found.left, program.offset, around=around)
    return _substituted(program, smaller, found.bases) or Reduced(smaller)


def refuted(
    program: FlatProgram, side: str, solve: Oracle, most: int = 4
) -> tuple[int, Array | None]:
    """Proof that there is no point, or that there are no multipliers: faces and a ray.

    Returns
    -------
    steps : int
        Faces and the ray behind them.
    ray : array or None
        As `ray` has it, where it is behind no face.

    Raises
    ------
    UnprovedError
        If there is none within ``most`` steps.
    """
    for step in range(most):
        try:
            found = ray(program, side, solve)
        except (UnprovedError, np.linalg.LinAlgError) as why:
            if step == most - 1:
                raise UnprovedError(f"no ray within {most} steps: {why}") from None
            try:
                program = reduced(program, side, solve).program
            except (UnprovedError, np.linalg.LinAlgError) as other:
                raise UnprovedError(f"no ray: {why}; no face: {other}") from None
        else:
            return step + 1, None if step else found
    raise AssertionError("unreachable")


def _substituted(
    program: FlatProgram, smaller: FlatProgram, bases: Sequence[Array | None]
) -> Reduced | None:
    """The same where the only matrix is a variable: V T V^T takes its place.

    Equations of the face go, and T is a variable again. None where it does not suit.
    """
    old = [part for part in program.parts if part.kind == SEMIDEFINITE]
    new = [part for part in smaller.parts if part.kind == SEMIDEFINITE]
    if len(old) != 1 or len(new) != 1 or new[0].size == old[0].size:
        return None
    rows, face = old[0].rows, new[0].rows
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
    own = sp.hstack([sp.csr_array((face.size, others.size)), -sp.eye_array(face.size)])
    S = sp.csr_array(S)
    return Reduced(substituted(smaller, S, {face[0]: own}), S)


def substituted(
    program: FlatProgram, S: sp.csr_array, own: Mapping[int, sp.csr_array]
) -> FlatProgram:
    """The program in unknowns u with x = S u.

    Parameters
    ----------
    program : FlatProgram
    S : sparse array of shape (n, p)
    own : mapping from the first row of a cone to a sparse array
        Its rows in terms of u, right sides zero, where they are known without a product.
    """
    T = sp.csr_array(S.T)

    def through(A: Matrix, b: Array, radii: Matrix | None) -> Image:
        found, around = rounded(T, A.T, None if radii is None else radii[:, :-1].T)
        if radii is not None:
            around = sp.csr_array((T.shape[0], A.shape[0])) if around is None else around
            return sp.csr_array(found.T), b, sp.csr_array(sp.hstack([around.T, radii[:, [-1]]]))
        nothing = sp.csr_array((A.shape[0], 1))
        return (
            sp.csr_array(found.T),
            b,
            None if around is None else sp.csr_array(sp.hstack([around.T, nothing])),
        )

    pieces = [
        Piece(kind, size, own[rows[0]], b)
        if rows[0] in own
        else Piece(kind, size, *through(A, b, radii))
        for (kind, size, A, b, radii), (*_, rows) in zip(
            program.pieces(), program.parts, strict=True
        )
    ]
    radii = program.around.c
    cost, _, around = through(
        sp.csr_array(program.c[None]),
        np.zeros(1),
        None if radii is None else sp.csr_array(np.append(radii, 0.0)[None]),
    )
    E, f, equations = through(program.E, program.f, program.around.E)
    costs = None if around is None else around.toarray().ravel()[:-1]
    radii_of = Around(costs, equations)
    return build(cost.toarray().ravel(), E, f, pieces, program.offset, around=radii_of)
