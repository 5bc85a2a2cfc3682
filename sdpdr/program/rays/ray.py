"""What proves that a program has no feasible point, or no limit to its objective."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import prod
from typing import Literal

import numpy as np

from sdpdr.base.arrays import Array
from sdpdr.program.point import Value, as_dense
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
