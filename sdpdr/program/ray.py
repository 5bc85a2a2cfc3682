"""Proofs that a program is infeasible or unbounded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import prod
from typing import Any, Literal

import numpy as np

from sdpdr.base.arrays import Array
from sdpdr.program.point import Value, as_dense

# A record with more numbers than this keeps its text only.
LARGEST_RECORDED = 100_000

Kind = Literal["infeasible", "unbounded"]


@dataclass(frozen=True, eq=False)
class Ray:
    r"""A proof that a program is infeasible or unbounded.

    Attributes
    ----------
    kind : {"infeasible", "unbounded"}
    margin : float
        Between 0 and 1. For multipliers, the amount by which they contradict the constraints,
        divided by the absolute values of its terms,
        :math:`\sum_e |b_e y_e| + |\langle g, Z\rangle|`: if every right-hand side changes by less
        than this share of itself, the same multipliers still prove infeasibility. For a direction,
        :math:`-\langle C, D\rangle` divided by the absolute values of its terms. Zero if the proof
        uses faces.
    argument : str
        How it was proved; all rounding is accounted for.
    duals : mapping from label to array
        The multipliers of ``"infeasible"``: shape (m,) of rows, (order, order) of matrix
        inequalities. Empty if the proof uses faces.
    values : mapping from variable name to array
        The direction of ``"unbounded"``; likewise.
    """

    kind: Kind
    margin: float
    argument: str
    duals: Mapping[str, Array] = field(default_factory=dict)
    values: Mapping[str, Value] = field(default_factory=dict)

    def record(self) -> dict[str, object]:
        """Its fields, ready for JSON; with the numbers unless they are too many."""
        parts: dict[str, object] = {
            "kind": self.kind,
            "margin": self.margin,
            "argument": self.argument,
        }
        shapes = [np.shape(x) for x in (*self.duals.values(), *self.values.values())]
        if sum(prod(shape) for shape in shapes) > LARGEST_RECORDED:
            return parts
        duals = {label: listed(np.asarray(y)) for label, y in self.duals.items()}
        values = {name: listed(as_dense(x)) for name, x in self.values.items()}
        return parts | {"duals": duals, "values": values}


def margin_of(terms: Array) -> float:
    """The absolute value of a sum, relative to the sum of the absolute values of its terms.

    Examples
    --------
    >>> margin_of(np.array([2.0, 2.0, -9.0])), margin_of(np.zeros(0))
    (0.38461538461538464, 0.0)
    """
    size = float(np.sum(np.abs(terms)))
    return abs(float(np.sum(terms))) / size if size else 0.0


def listed(numbers: Array) -> Any:
    """Nested lists, row by row, ready for JSON.

    JSON has neither nan, which becomes None, nor complex numbers, which become two lists.

    Examples
    --------
    >>> listed(np.array([[1.0, np.nan]])), listed(np.array([2.0 + 1.0j]))
    ([[1.0, None]], {'real': [2.0], 'imaginary': [1.0]})
    """
    if np.iscomplexobj(numbers):
        return {"real": listed(numbers.real), "imaginary": listed(numbers.imag)}
    plain = np.array(numbers, dtype=object)
    plain[np.isnan(numbers)] = None
    return plain.tolist()
