r"""Exposing vectors and rays, of a program and of its dual, by one function.

*Primal*: multipliers z of the cones with :math:`E^T w + A^T z = 0`, :math:`f^T w + b^T z = 0`
vanish on every feasible slack, which leaves it a face of K; with :math:`f^T w + b^T z = -1`
nothing is feasible. *Dual*, the mirror: directions d with :math:`E d = 0`, :math:`-A d \in K`,
:math:`c^T d = 0` leave multipliers a face of K*; with :math:`c^T d = -1` there are none.

If no point has a margin to all cones, the witness of the largest margin (`sdpdr.certify.margin`) is
such a vector. If the sign of the margin is not clear, a solver is called for a vector. Nothing that
solvers return is trusted: the face in which the vector lies is rounded to small integers
(`sdpdr.certify.faces`), and `sdpdr.certify.proof` proves that an exact vector lies in its relative
interior.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array, Matrix
from sdpdr.certify.equations import UnprovedError
from sdpdr.certify.faces import DUAL, PRIMAL, Face, Images, face_of
from sdpdr.certify.flat import (
    KINDS,
    NONNEGATIVE,
    Answer,
    Around,
    FlatProgram,
    Piece,
    build,
    in_order,
)
from sdpdr.certify.margin import Oracle, margin
from sdpdr.certify.products import below, beside, rounded
from sdpdr.certify.proof import bound_proof, value_proof

# Shares of the largest entry below which entries count as zero, tried in turn. An interior-point
# method with an accuracy of 1e-8 leaves about 1e-4 in their place, the square root, and the root of
# that after each further step of facial reduction (Sturm, "Error bounds for linear matrix
# inequalities", SIAM J. Optim. 2000).
_CLEAR = (1e-4, 1e-2, 1e-1)
# Beside the smallest ray: the largest size of rays among which a central one is sought, and the
# share of its largest entry below which entries count as zero; it lies far from all edges.
_LARGER, _MIDDLE = 2.0, 1e-6
# Rows, right sides, and radii of both.
Image = tuple[sp.csr_array, Array, "sp.csr_array | None"]


def image(T: Matrix, A: Matrix, b: Array, radii: Matrix | None) -> Image:
    """T A, T b and their radii."""
    found, around = rounded(T, beside(A, b), radii)
    return found[:, :-1], found[:, [-1]].toarray().ravel(), around


def stacked(images: Sequence[Image], n: int) -> Image:
    """Images stacked by rows."""
    A = sp.csr_array(sp.vstack([sp.csr_array((0, n)), *(one[0] for one in images)]))
    b = np.concatenate([np.zeros(0), *(one[1] for one in images)])
    return A, b, below([(one[2], one[1].size) for one in images], n + 1)


@dataclass(frozen=True, eq=False)
class Exposed:
    """The faces of an exposing vector.

    Attributes
    ----------
    at : array
        Multipliers of equations and cones, or a direction, next to one that exposes the faces.
    faces : list of Face
        One for each cone.
    left : list of Piece
        Smaller cones.
    zero : Image
        Rows that are zero on the faces.
    """

    at: Array
    faces: list[Face]
    left: list[Piece]
    zero: Image


class _Search:
    """The program whose solution is an exposing vector or a ray of a program.

    The ray is the smallest one, or a central one among those of a size up to ``within``.
    """

    def __init__(
        self, program: FlatProgram, side: str, *, ray: bool, within: float | None = None
    ) -> None:
        self.program, self.side, self.ray, self.within = program, side, ray, within

    def over(self, pieces: Sequence[Piece], flat: Image) -> FlatProgram:
        """The search in given cones; the rows of ``flat`` must vanish."""
        pieces = in_order(pieces)
        return self._of_multipliers(pieces) if self.side == PRIMAL else self._of_steps(pieces, flat)

    def _centre(self, pieces: Sequence[Piece]) -> Array:
        if not pieces:  # else `build` adds a cone
            return np.zeros(0)
        return build(self.program.c, self.program.E, self.program.f, pieces).centre

    def _of_multipliers(self, pieces: Sequence[Piece]) -> FlatProgram:
        """The program whose multipliers are vectors z of size one, or a ray."""
        program, e, at = self.program, self._centre(pieces), 0
        m, n = program.E.shape
        # The last column has the size, unless that is the cost.
        is_sized = not self.ray or self.within is not None
        last = int(is_sized)
        added, more = [], [sp.csr_array((m, 1))] if is_sized else []
        for kind, size, A, b, radii, units in pieces:
            part, at = e[at : at + b.size], at + b.size
            columns = [A, sp.csr_array(-b[:, None])]
            columns += [sp.csr_array((-part if self.ray else part)[:, None])] if is_sized else []
            around = None if radii is None else _widened(radii, last + 1)
            right = 0.0 * part if is_sized else part
            added.append(Piece(kind, size, sp.hstack(columns), right, around, units))
        E = sp.hstack([program.E, sp.csr_array(-program.f[:, None]), *more])
        costs = [-1.0] if self.ray else [0.0, -1.0]
        if self.within is not None:
            costs = [-1.0, self.within]
            positive = sp.csr_array(([-1.0], ([0], [n + 1])), shape=(1, n + 2))
            added = [*added, Piece(NONNEGATIVE, 1, positive, np.zeros(1))]
        cost = np.concatenate([np.zeros(n), costs])
        radii = program.around.E
        around = Around(E=None if radii is None else _widened(radii, last + 1))
        return build(cost, sp.csr_array(E), np.zeros(m), added, around=around)

    def _of_steps(self, pieces: Sequence[Piece], flat: Image) -> FlatProgram:
        """The program of steps whose slack has size one, or that gain one with the least slack."""
        program, m, n = self.program, self.program.f.size, self.program.c.size
        bare = [
            Piece(k, s, A, 0.0 * b, None if radii is None else _bare(radii), units)
            for k, s, A, b, radii, units in pieces
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
        # Any normalization of the slack will do, so its rounding needs no radius.
        is_smallest = self.ray and self.within is None
        if self.within is not None:
            bare = [
                *bare,
                Piece(NONNEGATIVE, 1, sp.csr_array(-size[None]), np.full(1, self.within)),
            ]
        return build(-size if is_smallest else np.zeros(n), E, f, bare, around=Around(E=radii))


def _widened(radii: sp.csr_array, more: int) -> sp.csr_array:
    """Radii of A and b, where b has become a column and there are ``more - 1`` others."""
    nothing = sp.csr_array((radii.shape[0], more))
    return sp.csr_array(sp.hstack([radii, nothing]))


def _bare(radii: sp.csr_array) -> sp.csr_array:
    """Radii of A alone."""
    nothing = sp.csr_array((radii.shape[0], 1))
    return sp.csr_array(sp.hstack([radii[:, :-1], nothing]))


def exposing(program: FlatProgram, side: str, solve: Oracle) -> Exposed:
    """Prove the faces of an exposing vector of largest rank.

    Parameters
    ----------
    program : FlatProgram
    side : {"primal", "dual"}
    solve : callable of a program
        Proposes a vector.

    Raises
    ------
    UnprovedError
        If there is none, or no proof of one.
    """
    proposed = _proposed(program, side, solve, ray=False)
    known, at = _proved(program, side, solve, proposed, ray=False)
    given = program.pieces()
    zero = [image(face.zero, *piece[2:5]) for face, piece in zip(known, given, strict=True)]
    left = _smaller([face.left for face in known], given)
    at = _of_whole(program, side, known, at)
    return Exposed(at, known, left, stacked(zero, program.c.size))


def ray(program: FlatProgram, side: str, solve: Oracle, claimed: Answer | None = None) -> Array:
    """A proved ray, hence a proof that there is no point, or that there are no multipliers.

    Parameters
    ----------
    program, side, solve : as for `exposing`
    claimed : Answer, optional
        The last answer of a solver that claims that there is one, which is tried first.

    Returns
    -------
    array
        Multipliers of equations and cones, or a direction, next to the exact ones.

    Raises
    ------
    UnprovedError
        If there is none, or no proof of one.
    """
    if claimed is not None:
        with suppress(UnprovedError, np.linalg.LinAlgError):
            return _of_claim(program, side, claimed)
    proposed = _proposed(program, side, solve, ray=True)
    try:
        known, at = _proved(program, side, solve, proposed, ray=True)
    except (UnprovedError, np.linalg.LinAlgError):
        # The smallest may lie on an edge that no integers describe.
        size = float(program.centre @ _of_cones(program, side, proposed))
        proposed = _searched(program, side, solve, ray=True, within=_LARGER * size)
        known, at = _proved(program, side, solve, proposed, ray=True, clear=(_MIDDLE,))
    return _of_whole(program, side, known, at)


def _of_claim(program: FlatProgram, side: str, claimed: Answer) -> Array:
    """Prove a ray next to an answer that grew without limit, in the interior of all cones."""
    x, right = claimed.x, np.concatenate([program.f, program.b])
    gain = -float(right @ claimed.z) if side == PRIMAL else -float(program.c @ x)
    if not gain > 0.0:
        raise UnprovedError("the answer gains nothing")
    whole = _Search(program, side, ray=True).over(program.pieces(), stacked([], program.c.size))
    found = claimed._replace(x=x / gain, z=claimed.z / gain)
    if side == DUAL:
        found = found._replace(s=whole.b - whole.A @ found.x)
    return _verified(whole, found, side, strictly=False)


def _of_whole(program: FlatProgram, side: str, faces: Sequence[Face], at: Array) -> Array:
    """An answer to the search on faces as multipliers or as a direction of the program."""
    if side == DUAL:
        return at
    m = program.f.size
    cones = of_images(program, [face.inside for face in faces], at[m:])
    return np.concatenate([at[:m], cones])


def of_images(program: FlatProgram, images: Sequence[Images], z: Array) -> Array:
    """Multipliers of smaller cones, in the order of `build`, as those of the cones themselves."""
    found, begin = np.zeros(program.b.size), 0
    for k, T in _order_of_pieces(images):
        found[program.parts[k].rows] += T.T @ z[begin : begin + T.shape[0]]
        begin += T.shape[0]
    return found


def _order_of_pieces(images: Sequence[Images]) -> list[tuple[int, sp.csr_array]]:
    """Which cone each smaller one comes from, and its map, in the order of `build`."""
    listed = [
        (KINDS.index(kind), k, T)
        for k, of_one in enumerate(images)
        for kind, _, T in of_one
        if T.shape[0]
    ]
    return [(k, T) for _, k, T in sorted(listed, key=lambda one: one[0])]


def _of_cones(program: FlatProgram, side: str, proposed: Answer) -> Array:
    """The part of an exposing vector or a ray that lies in the cones."""
    return proposed.z[program.f.size :] if side == PRIMAL else proposed.s


def _proposed(program: FlatProgram, side: str, solve: Oracle, *, ray: bool) -> Answer:
    """The witness of the margin or, if the sign of the margin is not clear, the result of a search.

    Raises
    ------
    UnprovedError
        If the margin shows that there is nothing, or the solver finds nothing.
    """
    found = margin(program, side, solve)
    if found.is_positive:
        raise UnprovedError("the largest margin is positive")
    if found.is_solved and not ray and found.is_zero:
        return found.witness
    if found.is_solved and ray and not found.is_zero:
        x, s, z, is_solved = found.witness
        return Answer(x / -found.size, s / -found.size, z / -found.size, is_solved)
    return _searched(program, side, solve, ray=ray)


def _searched(
    program: FlatProgram, side: str, solve: Oracle, *, ray: bool, within: float | None = None
) -> Answer:
    """The proposal of a solver for an exposing vector or a ray."""
    search = _Search(program, side, ray=ray, within=within)
    whole = search.over(program.pieces(), stacked([], program.c.size))
    found = solve(whole)
    x, s, z, is_solved = found
    if within is not None:
        # The limit on the size comes last among inequalities.
        last = sum(part.rows.size for part in program.parts if part.kind == NONNEGATIVE)
        s, z = np.delete(s, last), np.delete(z, whole.f.size + last)
    v = z[whole.f.size :] if side == PRIMAL else s
    if not is_solved or not np.all(np.isfinite(v)):
        raise UnprovedError("no exposing vector was found")
    return Answer(x, s, z, is_solved)


def _proved(
    program: FlatProgram,
    side: str,
    solve: Oracle,
    found: Answer,
    *,
    ray: bool,
    clear: Sequence[float] = _CLEAR,
) -> tuple[list[Face], Array]:
    """Faces with an exact vector in their relative interior, and this vector in their search.

    Entries below a share of the largest count as zero, by the first share in ``clear`` that works.
    """
    for share in clear[:-1]:
        with suppress(UnprovedError, np.linalg.LinAlgError):
            return _proved_above(program, side, solve, found, share, ray=ray)
    return _proved_above(program, side, solve, found, clear[-1], ray=ray)


def _proved_above(
    program: FlatProgram, side: str, solve: Oracle, found: Answer, clear: float, *, ray: bool
) -> tuple[list[Face], Array]:
    """`_proved` if entries below one share of the largest count as zero."""
    search, n = _Search(program, side, ray=ray), program.c.size
    v = _of_cones(program, side, found)
    top = float(np.max(np.abs(v), initial=1e-9))
    if ray:
        top = max(1.0, float(np.max(np.abs(found.x if side == DUAL else found.z))))
    faces = [face_of(part, v[part.rows], side, clear * top, clear) for part in program.parts]
    known = [face for face in faces if face is not None]
    if len(known) < len(faces):
        raise UnprovedError("a face has no basis of small integers")
    if not ray and not any(T.shape[0] for face in known for _, _, T in face.inside):
        raise UnprovedError("nothing is exposed")
    given = program.pieces()
    flat = [image(face.flat, *piece[2:5]) for face, piece in zip(known, given, strict=True)]
    small = search.over(_smaller([face.inside for face in known], given), stacked(flat, n))
    # Try the proposal restricted to the faces; if it is not precise enough, solve on the faces.
    with suppress(UnprovedError, np.linalg.LinAlgError):
        near = _on_faces(small, known, found, v, side)
        return known, _verified(small, near, side, strictly=not ray)
    return known, _verified(small, solve(small), side, strictly=not ray)


def _verified(small: FlatProgram, found: Answer, side: str, *, strictly: bool) -> Array:
    """Prove an exact vector next to the answer.

    An exposing vector must be in the relative interior, as on the boundary it exposes less.
    """
    if side == PRIMAL:
        return bound_proof(small, found.z).near(found.z, strictly=strictly).at
    return value_proof(small, found.s).near(found.x, strictly=strictly).at


def _on_faces(
    small: FlatProgram, faces: Sequence[Face], found: Answer, v: Array, side: str
) -> Answer:
    """An answer to the search in all cones, as one to that on faces."""
    if side == DUAL:
        # Only the sizes of the slack are read.
        return found._replace(s=small.A @ found.x)
    ends = np.cumsum([0, *(face.flat.shape[1] for face in faces)])
    # `build` adds a cone with right side one if there are no faces.
    z, at = np.concatenate([found.z[: small.f.size], small.b]), small.f.size
    for k, T in _order_of_pieces([face.inside for face in faces]):
        part = T @ v[ends[k] : ends[k + 1]]
        z[at : at + T.shape[0]] = np.linalg.solve((T @ T.T).toarray(), part)
        at += T.shape[0]
    return found._replace(z=z)


def _smaller(images: Sequence[Images], given: Sequence[Piece]) -> list[Piece]:
    """Images of pieces in smaller cones."""
    return [
        Piece(kind, size, *image(T, *piece[2:5]))
        for of_one, piece in zip(images, given, strict=True)
        for kind, size, T in of_one
        if T.shape[0]
    ]
