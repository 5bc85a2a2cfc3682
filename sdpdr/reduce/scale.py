"""Scaling: rows of size one, right sides and costs of size about one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import scipy.sparse as sp

from sdpdr.linalg.svec import Array
from sdpdr.program.point import Factor, Point, Value
from sdpdr.program.sdp import SDP, Rows
from sdpdr.program.variables import VectorVariable
from sdpdr.reduce.base import Reduced, Reduction


@dataclass(frozen=True)
class Scale(Reduction):
    r"""Divide rows by their size, and variables and costs by typical sizes.

    With x = sigma x', row factors D and cost factor gamma, the reduced program is
    ``min f(sigma x') / (sigma gamma)`` s.t. ``D A x' = D b / sigma``; its multipliers lift as
    ``y = gamma D y'`` and ``Z = gamma Z'``.
    """

    name: ClassVar[str] = "scale"

    def _reduce(self, sdp: SDP) -> Reduced:
        factors = {r.label: 1.0 / _row_sizes(r) for r in sdp.rows}
        sides = np.concatenate([np.zeros(0), *(np.abs(r.rhs * factors[r.label]) for r in sdp.rows)])
        sigma = float(np.median(sides[sides > 0.0])) if np.any(sides) else 1.0
        costs = [np.abs(a.matrix().data) for a in sdp.objective.values()]
        gamma = float(np.max(np.concatenate([np.zeros(1), *costs]))) or 1.0
        variables = tuple(
            replace(v, curvature=v.curvature * sigma / gamma)
            if isinstance(v, VectorVariable) and v.curvature is not None
            else v
            for v in sdp.variables
        )
        reduced = replace(
            sdp,
            variables=variables,
            objective={name: (1.0 / gamma) * a for name, a in sdp.objective.items()},
            rows=tuple(_scaled(r, factors[r.label], sigma) for r in sdp.rows),
            lmis=tuple(replace(lmi, constant=lmi.constant / sigma) for lmi in sdp.lmis),
            constant=sdp.constant / (sigma * gamma),
        )

        def lift(point: Point) -> Point:
            values = {name: _times(value, sigma) for name, value in point.values.items()}
            duals = {
                label: gamma * y * factors.get(label, 1.0) for label, y in point.duals.items()
            }
            return Point(values, duals)

        return Reduced(reduced, lift, lambda value: sigma * gamma * value)


def _row_sizes(rows: Rows) -> Array:
    squares = np.zeros(rows.m)
    for linear_map in rows.lhs.values():
        squares += np.asarray(linear_map.matrix().multiply(linear_map.matrix()).sum(axis=1)).ravel()
    return np.where(squares > 0.0, np.sqrt(squares), 1.0)


def _scaled(rows: Rows, factors: Array, sigma: float) -> Rows:
    diagonal = sp.diags_array(factors, format="csr")
    lhs = {name: diagonal @ linear_map for name, linear_map in rows.lhs.items()}
    return replace(rows, lhs=lhs, rhs=rows.rhs * factors / sigma)


def _times(value: Value, sigma: float) -> Value:
    if isinstance(value, Factor):
        return Factor(np.sqrt(sigma) * value.factor)
    return np.asarray(sigma * value)
