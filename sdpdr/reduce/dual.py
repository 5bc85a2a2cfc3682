r"""The dual program as a program of its own.

A program over matrices becomes one over multipliers with matrix inequalities (the LMI form), and
the other way round; applied twice it gives back the first. See `sdpdr.program.sdp` for the pair.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from sdpdr.base.arrays import Array
from sdpdr.program.dual import dual_of
from sdpdr.program.point import Point, Value, as_dense
from sdpdr.program.sdp import SDP
from sdpdr.reduce.base import Reduced, Reduction


@dataclass(frozen=True)
class Dual(Reduction):
    """Write the dual: variables become constraints and rows become variables.

    The dual's optimal value is that of the program; multipliers of its matrix inequalities are
    the matrices of the program, and are lifted as such.
    """

    name: ClassVar[str] = "dual"

    def _reduce(self, sdp: SDP) -> Reduced:
        return Reduced(
            dual_of(sdp),
            lambda point: _lift(sdp, point),
            lambda value: -value,
            lift_verdict=lambda verdict: verdict.mirrored,
        )


def _lift(sdp: SDP, point: Point) -> Point:
    values: dict[str, Value] = {
        v.name: point.duals[v.name] for v in sdp.variables if v.name in point.duals
    }
    labels = [r.label for r in sdp.rows] + [lmi.label for lmi in sdp.lmis]
    duals: dict[str, Array] = {
        label: as_dense(point.values[label]) for label in labels if label in point.values
    }
    return Point(values, duals)
