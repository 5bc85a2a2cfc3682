"""What lasts of a program over cones while its numbers change: left sides, and what they make."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from sdpdr.base.arrays import Array
from sdpdr.linalg import LinearMap, SvecMap, VectorMap
from sdpdr.program.attain.box import Enclosure
from sdpdr.program.attain.cone import ConeProgram, Scaled
from sdpdr.program.point import Variable, VectorVariable
from sdpdr.program.sdp import SDP, Expression
from sdpdr.solving.again.bound import Bounds
from sdpdr.solving.again.kkt import Equations


@dataclass(frozen=True, eq=False)
class Kept:
    """A program, and what depends on its left sides alone.

    Attributes
    ----------
    sdp : SDP
        As it was lowered.
    program : ConeProgram
        The same over a cone.
    scaled : Scaled
        Its equations in units that suit the answer.
    equations : Equations
    enclosure : Enclosure
    bounds : Bounds
    """

    sdp: SDP
    program: ConeProgram
    scaled: Scaled
    equations: Equations
    enclosure: Enclosure
    bounds: Bounds

    @classmethod
    def of(cls, sdp: SDP, program: ConeProgram, x: Array) -> Kept:
        """In units that suit a point."""
        scaled = program.rescaled(x)
        enclosure = Enclosure(scaled)
        enclosure.prepare()
        return cls(sdp, program, scaled, Equations.of(program, scaled), enclosure, Bounds(program))

    def renumbered(self, sdp: SDP) -> Kept | None:
        """The same for a program of other numbers; None where left sides differ."""
        if not differ_in_numbers(self.sdp, sdp):
            return None
        program = _renumbered(self.program, self.sdp, sdp)
        return replace(self, sdp=sdp, program=program, equations=self.equations.renumbered(program))


def differ_in_numbers(one: SDP, other: SDP) -> bool:
    """Whether programs differ at most in right sides, costs and curvature.

    Zeros on the right of equations may state a face, and count as part of the left side.
    """
    return (
        len(one.variables) == len(other.variables)
        and len(one.rows) == len(other.rows)
        and len(one.lmis) == len(other.lmis)
        and all(map(_are_alike, one.variables, other.variables))
        and all(
            (a.label, a.relation, a.m) == (b.label, b.relation, b.m)
            and (a.relation == "<=" or np.any(a.rhs) == np.any(b.rhs))
            and _are_same(a.lhs, b.lhs)
            for a, b in zip(one.rows, other.rows, strict=True)
        )
        and all(
            (a.label, a.order) == (b.label, b.order)
            and np.any(a.constant) == np.any(b.constant)
            and _are_same(a.lhs, b.lhs)
            for a, b in zip(one.lmis, other.lmis, strict=True)
        )
    )


def _are_alike(one: Variable, other: Variable) -> bool:
    if isinstance(one, VectorVariable) and isinstance(other, VectorVariable):
        kinds = ((v.name, v.size, v.nonnegative, v.curvature is None) for v in (one, other))
        return next(kinds) == next(kinds)
    return one == other


def _are_same(one: Expression, other: Expression) -> bool:
    return one.keys() == other.keys() and all(_is_same(a, other[k]) for k, a in one.items())


def _is_same(one: LinearMap | VectorMap, other: LinearMap | VectorMap) -> bool:
    """Whether two maps are one, or matrices of the same numbers."""
    if one is other:
        return True
    if type(one) is not type(other) or not isinstance(one, (SvecMap, VectorMap)):
        return False
    a, b = one.matrix(), other.matrix()
    return a.shape == b.shape and all(
        np.array_equal(getattr(a, part), getattr(b, part)) for part in ("indptr", "indices", "data")
    )


def _renumbered(program: ConeProgram, before: SDP, sdp: SDP) -> ConeProgram:
    """The program over a cone of one that differs in numbers from that before."""
    rhs = {r.label: r.rhs for r in sdp.rows}
    rhs |= {lmi.label: -lmi.constant for lmi in sdp.lmis}
    rows = {r.label: replace(r, rhs=rhs[r.label]) for r in program.sdp.rows}
    given = {v.name: v for v in sdp.variables}
    equal = replace(
        program.sdp,
        variables=tuple(given.get(v.name, v) for v in program.sdp.variables),
        objective=sdp.objective,
        rows=tuple(rows.values()),
        constant=sdp.constant,
    )
    visible = tuple(rows[r.label] for r in program.rows)
    changed = replace(
        program,
        b=np.concatenate([np.zeros(0), *(r.rhs for r in visible)]),
        curvature=program.curvature.copy(),
        sdp=equal,
        rows=visible,
    ).afresh()
    for v in sdp.vector_variables:
        if v.curvature is not None:
            changed.curvature[changed.part(v.name)] = v.curvature
    if not _are_same(before.objective, sdp.objective):
        c, c_radius = changed.costs()
        changed = replace(changed, c=c, c_radius=c_radius)
    return changed
