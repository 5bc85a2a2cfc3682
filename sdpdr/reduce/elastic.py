"""Rows that may be violated, with a penalty."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array
from sdpdr.base.errors import ModelError
from sdpdr.linalg import LinearMap, VectorMap
from sdpdr.program.face import visible_rows
from sdpdr.program.point import Point, Variable, VectorVariable
from sdpdr.program.rows import Rows
from sdpdr.program.sdp import SDP
from sdpdr.reduce.base import Reduced, Reduction

# The two directions of a violation, and the sign with which it is added to the left side.
_SIDES = (("over", -1.0), ("under", 1.0))


@dataclass(frozen=True)
class Elastic(Reduction):
    r"""Give slack to rows that zero does not satisfy, with a penalty that is exact if it is large.

    An equality becomes ``lhs - over + under == rhs`` and a lower bound (``<=`` with a negative
    right-hand side) ``lhs - over <= rhs``, with ``over, under >= 0``. Each unit of slack, relative
    to the size of the right-hand side, costs ``price``. If some optimal multiplier y of the given
    program has :math:`|y_e b_e| \le price`, its optimum stays optimal; otherwise some rows are
    violated. The landmark form needs it for bands and exact lengths, which a narrow cone may be
    unable to keep.

    Parameters
    ----------
    price : float
        Penalty for violating one row by 100 %, in units of the objective.

    References
    ----------
    Fletcher, "Practical Methods of Optimization", 2nd edition, 1987, section 12.3, on exact
    penalty functions.

    Examples
    --------
    >>> from sdpdr.reduce import Elastic
    >>> from sdpdr import graphs, methods
    >>> sdp = methods.mvu(graphs.path([1.0, 1.0]), "equality").to_sdp()
    >>> Elastic(10.0).apply(sdp).sdp
    SDP(mvu; matrices [K: 3x3], 4 scalars, 5 rows, 0 matrix inequalities)
    """

    name: ClassVar[str] = "elastic"
    price: float

    def __post_init__(self) -> None:
        if not (np.isfinite(self.price) and self.price > 0.0):
            raise ModelError(f"the price of elastic rows must be positive; it is {self.price}.")

    def accepts(self, sdp: SDP) -> str | None:
        """Programs with rows that are not satisfied by zero, and that have no slack yet."""
        return None if rigid_rows(sdp) else "zero satisfies all rows, or they have slack already"

    def _reduce(self, sdp: SDP) -> Reduced:
        variables: list[Variable] = list(sdp.variables)
        objective: dict[str, LinearMap | VectorMap] = dict(sdp.objective)
        rigid = {r.label: r for r in rigid_rows(sdp)}
        rows = []
        for r in sdp.rows:
            if r.label in rigid:
                price = VectorMap(self.price / _sizes(r)[None, :])
                r, slack = _elastic(r)
                variables += slack
                objective |= {v.name: price for v in slack}
            rows.append(r)
        softer = replace(sdp, variables=tuple(variables), objective=objective, rows=tuple(rows))
        known = {v.name for v in sdp.variables}

        def lift(point: Point) -> Point:
            return Point({k: v for k, v in point.values.items() if k in known}, point.duals)

        return Reduced(softer, lift, push=lambda point: point)


def _elastic(rows: Rows) -> tuple[Rows, list[VectorVariable]]:
    """Rows that may be violated, and the scalars that say by how much."""
    lhs, slack = dict(rows.lhs), list[VectorVariable]()
    for side, sign in _SIDES if rows.relation == "==" else _SIDES[:1]:
        slack.append(VectorVariable(f"{rows.label}.elastic.{side}", rows.m, nonnegative=True))
        lhs[slack[-1].name] = VectorMap(sign * sp.eye_array(rows.m, format="csr"))
    return replace(rows, lhs=lhs), slack


def rigid_rows(sdp: SDP) -> tuple[Rows, ...]:
    """Groups of rows on matrices alone that zero does not satisfy."""
    matrices = {v.name for v in sdp.psd_variables}
    return tuple(
        r for r in visible_rows(sdp) if set(r.lhs) <= matrices and not r.hold_at_zero.all()
    )


def _sizes(rows: Rows) -> Array:
    """Sizes of the right-hand sides; zeros count as the median of the others."""
    size = np.abs(rows.rhs)
    return np.asarray(np.where(size > 0.0, size, np.median(size[size > 0.0])))
