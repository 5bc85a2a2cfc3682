"""Scaling: coefficients, right-hand sides and costs of size one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from sdpdr.base.arrays import Array
from sdpdr.program.point import Point, Variable
from sdpdr.program.rows import Expression, Lmi, Rows
from sdpdr.program.sdp import SDP
from sdpdr.program.sizes import row_sizes
from sdpdr.reduce.base import Reduced, Reduction


@dataclass(frozen=True)
class Scale(Reduction):
    r"""Bring coefficients, right-hand sides and costs to sizes of about one.

    With x = sigma T x', row factors D and cost factor gamma, the reduced program is
    ``min f(sigma T x') / (sigma gamma)`` s.t. ``D A T x' = D b / sigma``; its multipliers lift as
    ``y = gamma D y'`` and ``Z = gamma Z'``. Each group of scalars has a factor of its own in T, and
    all matrices have one together, because a Gram matrix may meet slack that is relative to the
    length of edges. With a factor for each of many small matrices the central path becomes crooked:
    an interior-point method takes 38 steps for truss2 of SDPLIB, and 20 with one for all. Blocks of
    cliques could not agree on their overlaps. Rows get size one.

    Examples
    --------
    >>> from sdpdr.reduce import Scale
    >>> from sdpdr import graphs, methods
    >>> reduced = Scale().apply(methods.mvu(graphs.path([1e-3, 2e-3])).to_sdp())
    >>> [rows.rhs.tolist() for rows in reduced.sdp.rows if rows.label == "isometry"]
    [[0.4, 1.6]]
    """

    name: ClassVar[str] = "scale"

    def _reduce(self, sdp: SDP) -> Reduced:
        matrices = [v.name for v in sdp.psd_variables]
        units = dict.fromkeys(matrices, 1.0 / _coefficient(sdp, matrices))
        units |= {v.name: 1.0 / _coefficient(sdp, [v.name]) for v in sdp.vector_variables}
        factors = {r.label: 1.0 / row_sizes(r, units) for r in sdp.rows}
        sigma = _typical_side(sdp, factors)
        costs = [units[name] * np.abs(a.matrix().data) for name, a in sdp.objective.items()]
        gamma = float(np.max(np.concatenate([np.zeros(1), *costs]))) or 1.0

        def scaled(side: Expression, by: Array | float) -> Expression:
            return {name: (units[name] * by) * a for name, a in side.items()}

        reduced = replace(
            sdp,
            variables=tuple(_curved(v, units[v.name] ** 2 * sigma / gamma) for v in sdp.variables),
            objective=scaled(sdp.objective, 1.0 / gamma),
            rows=tuple(
                replace(r, lhs=scaled(r.lhs, d), rhs=r.rhs * d / sigma)
                for r, d in zip(sdp.rows, factors.values(), strict=True)
            ),
            lmis=tuple(
                replace(lmi, lhs=scaled(lmi.lhs, 1.0), constant=lmi.constant / sigma)
                for lmi in sdp.lmis
            ),
            constant=sdp.constant / (sigma * gamma),
        )

        def lift(point: Point) -> Point:
            values = {name: x * (sigma * units[name]) for name, x in point.values.items()}
            duals = {label: gamma * y * factors.get(label, 1.0) for label, y in point.duals.items()}
            return Point(values, duals)

        def push(point: Point) -> Point:
            values = {name: x * (1.0 / (sigma * units[name])) for name, x in point.values.items()}
            duals = {k: y / (gamma * factors.get(k, 1.0)) for k, y in point.duals.items()}
            return Point(values, duals)

        return Reduced(reduced, lift, lambda value: sigma * gamma * value, push)


def _coefficient(sdp: SDP, names: Sequence[str]) -> float:
    """Median size of the coefficients of some variables in the rows and matrix inequalities.

    If the largest became one, many small coefficients would vanish beside it.
    """
    parts: tuple[Rows | Lmi, ...] = (*sdp.rows, *sdp.lmis)
    maps = [part.lhs[name] for part in parts for name in names if name in part.lhs]
    sizes = np.abs(np.concatenate([np.zeros(0), *(a.matrix().data for a in maps)]))
    return float(np.median(sizes[sizes > 0.0])) if np.any(sizes) else 1.0


def _curved(variable: Variable, by: float) -> Variable:
    """The variable with its quadratic cost, if it has one, times a number."""
    if variable.curvature is None:
        return variable
    return replace(variable, curvature=variable.curvature * by)


def _typical_side(sdp: SDP, factors: Mapping[str, Array]) -> float:
    """Median size of right-hand sides if rows have size one, without those that are rounding.

    Rounding is relative to the largest right-hand side that zero does not satisfy, because those
    that zero satisfies may be arbitrarily large.
    """
    sides = np.concatenate([np.zeros(0), *(r.rhs * factors[r.label] for r in sdp.rows)])
    away = [np.full(r.m, r.relation == "==") | (r.rhs < 0.0) for r in sdp.rows]
    away = np.abs(sides[np.concatenate([np.zeros(0, dtype=bool), *away])])
    sizes = np.abs(sides[sides != 0.0])
    if sizes.size == 0:
        return 1.0
    largest = np.max(away) if np.any(away) else np.median(sizes)
    return float(np.median(sizes[sizes > 1e-9 * largest]))
