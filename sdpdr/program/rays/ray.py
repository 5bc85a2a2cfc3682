"""What proves that there is no feasible point, or no limit; and directions of whole numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from math import prod
from typing import Literal

import numpy as np

from sdpdr.base.arrays import Array
from sdpdr.linalg import BilinearForms, InnerProduct, LinearMap, VectorMap
from sdpdr.linalg.exact import Number, Symmetric, exact_terms, range_of, sign
from sdpdr.linalg.svec import svec_pairs
from sdpdr.program.point import PsdVariable, Value, as_dense
from sdpdr.program.rows import Expression
from sdpdr.program.sdp import SDP

# Numbers beyond which a record keeps words alone.
LARGEST_RECORDED = 100_000

Kind = Literal["infeasible", "unbounded", "recession"]


@dataclass(frozen=True, eq=False)
class Ray:
    r"""A verified ray: multipliers that contradict the rows, or a direction that always improves.

    Attributes
    ----------
    kind : {"infeasible", "unbounded", "recession"}
        ``"recession"`` is a direction that improves the objective without end, of a program that
        was not shown to have a feasible point: its dual is infeasible, and no more is known.
    margin : float
        Between 0 and 1. Of multipliers, the amount by which they contradict the rows over the
        size of its terms, :math:`\sum_e |b_e y_e| + |\langle g, Z\rangle|`: while every right
        side changes by less than this share of itself, the same multipliers prove the same, unless
        the argument leans on limits on the variables, which change with the right sides. Of a
        direction, likewise with the costs, :math:`-\langle C, D\rangle` over the size of its
        terms.
    argument : str
        In words, how it was verified.
    rigorous : bool
        Whether all rounding is accounted for, so that the ray is a theorem about the numbers
        stored in the program.
    duals : mapping from label to array
        The multipliers of ``"infeasible"``: shape (m,) of rows, (order, order) of matrix
        inequalities.
    values : mapping from variable name to array
        The direction of the other two kinds.
    """

    kind: Kind
    margin: float
    argument: str
    rigorous: bool = False
    duals: Mapping[str, Array] = field(default_factory=dict)
    values: Mapping[str, Value] = field(default_factory=dict)

    def record(self) -> dict[str, object]:
        """What it says, ready for JSON, with its numbers unless they are too many."""
        told: dict[str, object] = {
            "kind": self.kind,
            "margin": self.margin,
            "rigorous": self.rigorous,
        }
        told |= {"argument": self.argument}
        shapes = [np.shape(x) for x in (*self.duals.values(), *self.values.values())]
        if sum(prod(shape) for shape in shapes) > LARGEST_RECORDED:
            return told
        duals = {label: np.asarray(y).tolist() for label, y in self.duals.items()}
        values = {name: as_dense(x).tolist() for name, x in self.values.items()}
        return told | {"duals": duals, "values": values}

    def check(self, sdp: SDP) -> bool:
        """Whether it proves the same of a program, by a verification that starts afresh.

        That a feasible point exists, which ``"unbounded"`` says as well, is not proved again. Of
        a program that was solved on a face, multipliers contradict the rows on that face only:
        check them with the program of `sdpdr.reduce.facial_reduction`.

        Parameters
        ----------
        sdp : SDP
        """
        # The provers make rays, and so import this module.
        from sdpdr.program.rays.farkas import prove_infeasible
        from sdpdr.program.rays.recession import prove_unbounded

        if self.kind == "infeasible":
            again = prove_infeasible(sdp, self.duals, rigorous=self.rigorous)
        else:
            feasible = self.kind == "unbounded"
            again = prove_unbounded(sdp, self.values, feasible=feasible, rigorous=self.rigorous)
        return isinstance(again, Ray)


_ZERO = (Fraction(0), Fraction(0))
# Whole numbers tried, as multiples of the largest entry, and how far off they may be.
_MULTIPLES = (1, 2, 3, 4, 5, 6, 8, 9, 10, 12, 16, 20, 24, 25, 30, 36, 49, 64, 81, 100)
_NEAR = 1e-3
# Fractions are slow: orders, and coefficients, beyond which nothing is tried.
_ORDER, _COEFFICIENTS = 80, 300_000


def whole_direction(sdp: SDP, values: Mapping[str, Array]) -> dict[str, Array] | None:
    """Whole numbers in about the proportion given that improve a program without end.

    Returns None where there are none of small size. Whatever is returned is a direction of
    recession of the program stored, with a negative objective, in exact arithmetic.
    """
    largest = max((float(np.max(np.abs(x), initial=0.0)) for x in values.values()), default=0.0)
    if not 0.0 < largest < np.inf or any(v.n > _ORDER for v in sdp.psd_variables):
        return None
    for multiple in _MULTIPLES:
        candidate, distance = {}, 0.0
        for v in sdp.variables:
            wanted = multiple / largest * values.get(v.name, np.zeros(v.extents))
            candidate[v.name] = np.round(wanted) + 0.0
            distance = max(distance, float(np.max(np.abs(candidate[v.name] - wanted), initial=0.0)))
        if distance <= _NEAR * multiple and _improves(sdp, candidate):
            return candidate
    return None


def _improves(sdp: SDP, direction: Mapping[str, Array]) -> bool:
    """Whether a direction of whole numbers keeps every point feasible and lowers the objective."""
    for v in sdp.variables:
        step = direction[v.name]
        if isinstance(v, PsdVariable):
            upper = zip(*np.nonzero(np.triu(step)), strict=True)
            whole = {(int(i), int(j)): Fraction(int(step[i, j])) for i, j in upper}
            if not np.array_equal(step, step.T) or range_of(whole) is None:
                return False
        elif (v.nonnegative and np.any(step < 0.0)) or (v.curvature is not None and np.any(step)):
            return False
    if sum(_count(a) for side in sdp.expressions() for a in side.values()) > _COEFFICIENTS:
        return False
    if sign(_evaluate(sdp.objective, direction, 1)[0]) >= 0:
        return False
    for r in sdp.rows:
        signs = [sign(x) for x in _evaluate(r.lhs, direction, r.m)]
        if any(signs) if r.relation == "==" else any(s > 0 for s in signs):
            return False
    for lmi in sdp.lmis:
        found = _matrix(_evaluate(lmi.lhs, direction, lmi.constant.size))
        if found is None or range_of(found) is None:
            return False
    return True


def _matrix(entries: list[Number]) -> Symmetric | None:
    """The matrix of coordinates in `svec`, if its entries are fractions."""
    matrix: Symmetric = {}
    i, j = svec_pairs(np.arange(len(entries)))
    for place, (p, q) in zip(zip(i.tolist(), j.tolist(), strict=True), entries, strict=True):
        entry, other = (p, q) if place[0] == place[1] else (q, p)
        if other:
            return None
        if entry:
            matrix[place] = entry
    return matrix


def _evaluate(expression: Expression, direction: Mapping[str, Array], m: int) -> list[Number]:
    total = [_ZERO] * m
    for name, linear_map in expression.items():
        step = direction[name]
        for e, i, j, (p, q) in exact_terms(linear_map):
            x = int(step[i, j] if step.ndim == 2 else step[i])
            if x:
                total[e] = (total[e][0] + p * x, total[e][1] + q * x)
    return total


def _count(linear_map: LinearMap | VectorMap) -> int:
    """About how many products an evaluation takes."""
    if isinstance(linear_map, BilinearForms):
        return int(np.sum(np.diff(linear_map.left.indptr) * np.diff(linear_map.right.indptr)))
    if isinstance(linear_map, InnerProduct):
        return linear_map.n**2
    return int(linear_map.matrix().nnz)
