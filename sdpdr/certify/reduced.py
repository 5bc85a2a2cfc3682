"""Programs in smaller cones, with the same points or the same multipliers, and rays behind them.

Each step restricts a program to the face of an exposing vector (`sdpdr.certify.exposing`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array, Index, Matrix, from_triples
from sdpdr.certify.equations import MISSED, Equations, UnprovedError
from sdpdr.certify.exposing import Exposed, Image, exposing, of_images, ray, stacked
from sdpdr.certify.faces import DUAL, PRIMAL
from sdpdr.certify.flat import SEMIDEFINITE, Answer, Around, Behind, FlatProgram, Piece, build
from sdpdr.certify.margin import Oracle
from sdpdr.certify.products import apart, beside, congruence, rounded


@dataclass(frozen=True, eq=False)
class Reduced:
    """A program in smaller cones with the same points, or the same multipliers.

    Attributes
    ----------
    whole, program : FlatProgram
        The old program, and this one.
    exposed : Exposed
        The exposed face of the old program.
    kept : array of int
        Rows that are kept: of the old equations, followed by those of the face.
    map : sparse array or None
        S, if points u of this program are points x = S u of the old one.
    """

    whole: FlatProgram
    program: FlatProgram
    exposed: Exposed
    kept: Index
    map: sp.csr_array | None = None

    def multipliers(self, z: Array, *, of_bound: bool = True) -> Array:
        """Multipliers of this program as those of the old one, valid on its face.

        Multipliers of a bound balance the costs, those of a ray or an exposing vector zero.
        """
        old, faces = self.whole, self.exposed.faces
        m, flat = old.f.size, np.zeros(old.f.size + self.exposed.zero[1].size)
        flat[self.kept] = z[: self.kept.size]
        cones = of_images(old, [face.left for face in faces], z[self.kept.size :])
        at = m
        for part, face in zip(old.parts, faces, strict=True):
            end = at + face.zero.shape[0]
            cones[part.rows] += face.zero.T @ flat[at:end]
            at = end
        if self.map is not None:
            (rows,) = (part.rows for part in old.parts if part.kind == SEMIDEFINITE)
            # Row k of this cone is minus one variable, so the equation of that variable gives z_k.
            cones[rows] = 0.0
            left = of_bound * old.c + old.E.T @ flat[:m] + old.A.T @ cones
            cones[rows] = left[old.A[rows].indices]
        return np.concatenate([flat[:m], cones])

    def behind(self, found: Behind, *, of_bound: bool = False) -> Behind:
        """A proof for this program as one for the old program, with one more face."""
        others = (self.multipliers(z, of_bound=False) for z in found.exposing)
        return Behind((self.exposed.at, *others), self.multipliers(found.at, of_bound=of_bound))


def reduced(program: FlatProgram, side: str, solve: Oracle) -> Reduced:
    """The program on the face of an exposing vector, which is searched once.

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
        relaxed = build(program.c, program.E, program.f, found.left, program.offset, around=around)
        return Reduced(program, relaxed, found, np.arange(program.f.size))
    E, f, radii = stacked([(program.E, program.f, around.E), found.zero], program.c.size)
    around = around._replace(E=radii)
    smaller = build(program.c, E, f, found.left, program.offset, around=around)
    here = Reduced(program, smaller, found, np.arange(f.size))
    bases = [face.basis for face in found.faces]
    return _without_dependent(_substituted(here, bases) or here)


def _without_dependent(small: Reduced) -> Reduced:
    """Leave out equations that follow from others, at which solvers may fail."""
    program = small.program
    E, f, radii = program.E, program.f, program.around.E
    try:
        kept = Equations(E, f, np.ones(E.shape[1]), radii).rows
    except UnprovedError:
        return small
    around = program.around._replace(E=None if radii is None else radii[kept])
    fewer = replace(program, E=E[kept], f=f[kept], around=around)
    return replace(small, program=fewer, kept=kept)


def refuted(
    program: FlatProgram,
    side: str,
    solve: Oracle,
    most: int = 4,
    claimed: Answer | None = None,
) -> Behind:
    """Prove that there is no point, or no multipliers, by faces and a ray behind them.

    Parameters
    ----------
    program, side, solve, claimed : as for `sdpdr.certify.exposing.ray`
    most : int, default 4
        Steps of facial reduction, and one for the ray.

    Raises
    ------
    UnprovedError
        If there is none within ``most`` steps.
    """
    try:
        return Behind((), ray(program, side, solve, claimed))
    except MISSED as error:
        why = str(error)
    if most == 1:
        raise UnprovedError(f"no ray behind that many faces: {why}")
    try:
        small = reduced(program, side, solve)
    except MISSED as error:
        raise UnprovedError(f"no ray: {why}; no face: {error}") from None
    found = refuted(small.program, side, solve, most - 1)
    if side == PRIMAL:
        return small.behind(found)
    # A direction needs no map: programs on faces of multipliers have the same unknowns.
    return Behind((small.exposed.at, *found.exposing), found.at)


def _substituted(here: Reduced, bases: Sequence[Array | None]) -> Reduced | None:
    """Substitute V T V^T for the only matrix, if it is a variable.

    The equations of the face vanish, and T is a variable again. None if the program has another
    form.
    """
    program, smaller = here.whole, here.program
    old = [part for part in program.parts if part.kind == SEMIDEFINITE]
    new = [part for part in smaller.parts if part.kind == SEMIDEFINITE]
    if len(old) != 1 or len(new) != 1 or new[0].size == old[0].size:
        return None
    columns, face, n = program.own(old[0]), new[0].rows, program.c.size
    V = next(V for V, part in zip(bases, program.parts, strict=True) if part.kind == SEMIDEFINITE)
    if V is None or columns is None:
        return None
    others = np.setdiff1d(np.arange(n), columns)
    into = congruence(sp.csr_array(V))[0].tocoo()
    row = np.concatenate([others, columns[into.coords[0]]])
    column = np.concatenate([np.arange(others.size), others.size + into.coords[1]])
    data = np.concatenate([np.ones(others.size), into.data])
    S = from_triples(data, row, column, (n, others.size + face.size))
    own = sp.hstack([sp.csr_array((face.size, others.size)), -sp.eye_array(face.size)])
    return replace(here, program=substituted(smaller, S, {face[0]: own}), map=S)


def substituted(
    program: FlatProgram, S: sp.csr_array, own: Mapping[int, sp.csr_array]
) -> FlatProgram:
    """The program in unknowns u with x = S u.

    Parameters
    ----------
    program : FlatProgram
    S : sparse array of shape (n, p)
    own : mapping from the first row of a cone to a sparse array
        Its rows in terms of u, with right-hand sides zero, if they are known without a product.
    """
    # The last column keeps the right-hand sides.
    both = sp.csr_array(sp.block_diag([S, 1.0]))

    def through(A: Matrix, b: Array, radii: Matrix | None) -> Image:
        found, around = rounded(beside(A, b), both, of_first=radii)
        return (*apart(found), around)

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
