"""Programs in smaller cones, with the same points or the same multipliers, and what they refute.

Each step takes the face that an exposing vector leaves (`sdpdr.certify.exposing`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array, Matrix
from sdpdr.certify.equations import Equations, UnprovedError
from sdpdr.certify.exposing import Image, Oracle, exposing, ray, stacked
from sdpdr.certify.faces import DUAL, congruence
from sdpdr.certify.flat import SEMIDEFINITE, Around, FlatProgram, Piece, build
from sdpdr.certify.products import rounded


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
    """The program on the face that an exposing vector leaves; it is found once.

    Raises
    ------
    UnprovedError
        If no exposing vector is proved.
    """
    return program.once("face", side, lambda: _on_face(program, side, solve))


def _on_face(program: FlatProgram, side: str, solve: Oracle) -> Reduced:
    found = exposing(program, side, solve)
    around = program.around
    if side == DUAL:
        left = found.left
        return Reduced(build(program.c, program.E, program.f, left, program.offset, around=around))
    E, f, radii = stacked([(program.E, program.f, around.E), found.zero], program.c.size)
    around = around._replace(E=radii)
    smaller = build(program.c, E, f, found.left, program.offset, around=around)
    small = _substituted(program, smaller, found.bases) or Reduced(smaller)
    return replace(small, program=_without_dependent(small.program))


def _without_dependent(program: FlatProgram) -> FlatProgram:
    """The program without equations that follow from others, which leave solvers no step."""
    E, f, radii = program.E, program.f, program.around.E
    try:
        kept = Equations(E, f, np.ones(E.shape[1]), radii).rows
    except UnprovedError:
        return program
    around = program.around._replace(E=None if radii is None else radii[kept])
    return replace(program, E=E[kept], f=f[kept], around=around)


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
        Piece(kind, size, own[part.rows[0]], b, units=units)
        if part.rows[0] in own
        else Piece(kind, size, *through(A, b, radii), units)
        for (kind, size, A, b, radii, units), part in zip(
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
