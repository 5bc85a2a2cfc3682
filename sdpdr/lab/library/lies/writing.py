"""Writing small programs down the way a text does, with entries counted from one.

Data are kept as entries of symmetric matrices, not in ``svec`` coordinates, whose square roots of
two would be rounded: what is stored is exactly what is written.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np

from sdpdr.base.arrays import Array
from sdpdr.linalg import InnerProduct, VectorMap, svec
from sdpdr.program import SDP, Lmi, PsdVariable, Rows, VectorVariable
from sdpdr.program.sdp import Relation

# Coefficients of entries X_ij with i <= j.
Terms: TypeAlias = Mapping[tuple[int, int], float]
Row: TypeAlias = tuple[str, Terms, Relation, float]


def symmetric(n: int, terms: Terms) -> Array:
    """The symmetric F of a linear form: <F, X> is the sum of ``coefficient * X_ij``.

    Examples
    --------
    >>> symmetric(2, {(1, 1): 3.0, (1, 2): 2.0})
    array([[3., 1.],
           [1., 0.]])
    """
    matrix = np.zeros((n, n))
    for (i, j), coefficient in terms.items():
        matrix[i - 1, j - 1] += coefficient / 2
        matrix[j - 1, i - 1] += coefficient / 2
    return matrix


def over_one_matrix(
    n: int, cost: Terms, rows: Sequence[Row], *, maximize: bool = False, name: str = ""
) -> SDP:
    """A program over one matrix X of order n.

    Parameters
    ----------
    n : int
    cost : mapping from (i, j) to coefficient of X_ij
    rows : sequence of (label, terms, relation, right side)
    maximize : bool, default False
    name : str
    """
    sign = -1.0 if maximize else 1.0
    objective = {"X": InnerProduct(sign * symmetric(n, cost))} if cost else {}
    groups = tuple(
        Rows(label, relation, {"X": InnerProduct(symmetric(n, terms))}, np.array([right]))
        for label, terms, relation, right in rows
    )
    return SDP((PsdVariable("X", n),), objective, groups, maximize=maximize, name=name)


def over_scalars(
    cost: Sequence[float],
    inequalities: Sequence[tuple[Array, Sequence[Array]]],
    rows: Sequence[tuple[str, Sequence[float], Relation, float]] = (),
    *,
    maximize: bool = False,
    name: str = "",
) -> SDP:
    """A program over free scalars x under matrix inequalities F_0 + sum_k x_k F_k >= 0.

    Parameters
    ----------
    cost : sequence of float
    inequalities : sequence of (F_0, [F_1, ..., F_q])
    rows : sequence of (label, coefficients, relation, right side)
    maximize : bool, default False
    name : str
    """
    sign = -1.0 if maximize else 1.0
    x = VectorVariable("x", len(cost))
    objective = {"x": VectorMap(sign * np.array([cost]))} if any(cost) else {}
    cones = tuple(
        Lmi(
            f"inequality{k}" if len(inequalities) > 1 else "inequality",
            len(constant),
            {"x": VectorMap(np.column_stack([svec(f) for f in matrices]))},
            svec(constant),
        )
        for k, (constant, matrices) in enumerate(inequalities, start=1)
    )
    groups = tuple(
        Rows(label, relation, {"x": VectorMap(np.array([left]))}, np.array([right]))
        for label, left, relation, right in rows
    )
    return SDP((x,), objective, groups, cones, maximize=maximize, name=name)
