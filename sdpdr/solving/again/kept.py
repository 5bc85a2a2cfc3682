r"""What lasts of a program over cones while its numbers change: left sides, and what they make.

*Bounds.* For any y the slack of a program over a cone (`sdpdr.program.attain.cone`),
:math:`s = c - A^T y`, that lies in the cone and vanishes on free scalars proves

.. math::  p^* \ge b^T y - \tfrac12 \sum_j s_j^2 / q_j + c_0,

the sum over scalars with a quadratic cost. Matrices of slack and the slack of scalars are shown to
lie in the cone whatever rounding did to them. The equations of free scalars, and the value, are
trusted up to rounding, where that is small.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array
from sdpdr.linalg import LinearMap, SvecMap, VectorMap
from sdpdr.linalg.rounding import gamma
from sdpdr.linalg.svec import smat
from sdpdr.linalg.verified import is_verified_positive
from sdpdr.program.attain.box import Enclosure
from sdpdr.program.attain.cone import ConeProgram, Scaled
from sdpdr.program.point import Variable, VectorVariable
from sdpdr.program.rows import Expression
from sdpdr.program.sdp import SDP
from sdpdr.solving.again.kkt import Equations

WORDS = "slack verified whatever rounding did to it"
# Free scalars whose equations are solved with a dense matrix.
_MOST = 1000
_PASSES = 3
# Rounding of the slack of free scalars, beside the largest cost, that is trusted to be small.
_TRUSTED = 1e-8


class Bounds:
    """Checks multipliers of programs that have the same left sides.

    Parameters
    ----------
    program : ConeProgram
    """

    def __init__(self, program: ConeProgram) -> None:
        self._columns = sp.csr_array(program.A.T)
        terms = gamma(np.diff(self._columns.indptr) + 2)
        self._terms = terms
        self._sizes = sp.diags_array(terms) @ abs(self._columns) + program.radius.T.tocsr()
        curved = np.flatnonzero(program.curvature)
        self._free = np.setdiff1d(program.free, curved)
        self._of_free = self._columns[self._free]
        self._inverse: Array | None = None
        if 0 < self._free.size <= _MOST:
            product = (self._of_free @ self._of_free.T).toarray()
            # Some of the equations may depend on others.
            self._inverse = np.linalg.pinv(product, hermitian=True)

    def balanced(self, program: ConeProgram, y: Array) -> Array:
        """The nearest multipliers that satisfy the equations of free scalars."""
        if self._inverse is None:
            return y
        for _ in range(_PASSES):
            residual = program.c[self._free] - self._of_free @ y
            y = y + self._of_free.T @ (self._inverse @ residual)
        return y

    def value(self, program: ConeProgram, y: Array) -> float | None:
        """What multipliers prove of the minimisation; None where that is nothing."""
        s = program.c - self._columns @ y
        error = 1.01 * (self._sizes @ np.abs(y) + self._terms * np.abs(program.c))
        error += 1.01 * program.c_radius
        free, k = self._free, program.nonnegative
        if free.size:
            trusted = _TRUSTED * (float(np.max(np.abs(program.c))) or 1.0)
            if np.any(np.abs(s[free]) > error[free]) or np.any(error[free] > trusted):
                return None
        if not np.all(s[k] >= error[k]):
            return None
        for block in program.blocks:
            if not is_verified_positive(smat(s[block.part]), smat(error[block.part])):
                return None
        curved = np.flatnonzero(program.curvature)
        paid = 0.5 * float(np.sum(s[curved] ** 2 / program.curvature[curved]))
        return float(program.b @ y) - paid + program.sdp.constant


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
