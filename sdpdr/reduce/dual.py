"""The dual of a program, as a reduction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sdpdr.base.arrays import Array
from sdpdr.program.dual import dual_of
from sdpdr.program.point import Point, Value, as_dense
from sdpdr.program.sdp import SDP
from sdpdr.reduce.base import Reduced, Reduction


@dataclass(frozen=True)
class Dual(Reduction):
    """Write the dual: variables become constraints and rows become variables.

    The dual has the optimal value of the program, and the multipliers of its matrix inequalities
    are the matrices of the program.

    Examples
    --------
    >>> from sdpdr import graphs, methods
    >>> Dual().apply(methods.mvu(graphs.path([1.0, 2.0])).to_sdp()).sdp
    SDP(mvu; matrices [], 5 scalars, 0 rows, 1 matrix inequalities)
    """

    name: ClassVar[str] = "dual"

    def _reduce(self, sdp: SDP) -> Reduced:
        return Reduced(
            dual_of(sdp),
            lambda point: _lift(sdp, point),
            lambda value: -value,
            lambda point: _pushed(sdp, point),
            lift_verdict=lambda verdict: verdict.mirrored,
        )


def _lift(sdp: SDP, point: Point) -> Point:
    """A point of the program from one of its dual."""
    values: dict[str, Value] = {
        v.name: point.duals[v.name] for v in sdp.variables if v.name in point.duals
    }
    duals: dict[str, Array] = {
        label: as_dense(point.values[label]) for label in sdp.labels if label in point.values
    }
    return Point(values, duals)


def _pushed(sdp: SDP, point: Point) -> Point:
    """A point of the dual from one of the program."""
    labels = [label for label in sdp.labels if label in point.duals]
    return Point(
        {label: np.asarray(point.duals[label]) for label in labels},
        {name: as_dense(value) for name, value in point.values.items()},
    )
