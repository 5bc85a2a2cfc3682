"""A notation for small programs, as in ``min X33,  X11 = 0,  X33 + 2 X12 = 1``.

Data are stored as entries of symmetric matrices, not in ``svec`` coordinates, whose square roots of
two would be rounded: the stored numbers are exactly the written ones.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from sdpdr.base.arrays import Array
from sdpdr.base.errors import ModelError
from sdpdr.linalg import InnerProduct, VectorMap, svec
from sdpdr.program import SDP, Lmi, PsdVariable, Rows, VectorVariable
from sdpdr.program.rows import Relation

_NUMBER = r"\d+(?:\.\d+)?(?:e[+-]?\d+)?(?:\^-?\d+)?"
_TERM = re.compile(rf"([+-]?)({_NUMBER})?(trX|X\d\d|[xyz]\d*)?")
_HEAD = re.compile(r"(?:find [Xx](?: \(order (?P<order>\d)\))?|(?P<sense>min|max) (?P<cost>.*))")
Linear = Mapping[str, Fraction]


def number(text: str) -> Fraction:
    """Return the number that a text denotes."""
    base, _, power = text.removeprefix("-").partition("^")
    return (-1 if text.startswith("-") else 1) * Fraction(base) ** int(power or 1)


def linear(text: str) -> Linear:
    """Return the coefficients of a linear expression; the constant is under the empty name."""
    dense, found = text.replace(" ", ""), defaultdict[str, Fraction](Fraction)
    for match in _TERM.finditer(dense):
        sign, factor, name = match.groups("")
        found[name] += number(f"{sign}{factor or 1}") if match[0] else 0
    if not dense or "".join(match[0] for match in _TERM.finditer(dense)) != dense:
        raise ModelError(f"{text!r} is no linear expression such as X33 + 2 X12, tr X or 1 - x2.")
    return {name: value for name, value in found.items() if value}


def parse_program(text: str, name: str = "") -> SDP:
    """Return the program that a text denotes; a comma and two blanks separate its clauses.

    The first clause is ``min`` or ``max`` and a linear expression, ``find X (order 2)``, or
    ``find x``. Others are equations, also several at once as in ``X11 = X22 = 1``, inequalities
    with ``<=``, and matrices as in ``[[1, x1], [x1, x2]] psd``. X11, X12, ... are entries of a psd
    matrix, x1, x2, ... (or y, or z) free scalars.
    """
    first, *clauses = text.split(",  ")
    head = _HEAD.fullmatch(first)
    if head is None:
        raise ModelError(f"{first!r} is not `min ...`, `max ...`, `find X` or `find x`.")
    cost = linear(head["cost"]) if head["cost"] else {}
    matrices = [_matrix(clause) for clause in clauses if clause.endswith(" psd")]
    rows = [row for clause in clauses if not clause.endswith(" psd") for row in _rows(clause)]
    entries = (entry for matrix in matrices for line in matrix for entry in line)
    space = _Space([cost, *(left for left, _, _ in rows), *entries])
    space.order = max(space.order, int(head["order"] or 0))
    maximize = head["sense"] == "max"
    return SDP(
        space.variables(),
        space.maps(cost, -1.0 if maximize else 1.0),
        tuple(
            Rows(f"row{k}", relation, space.maps(left), np.array([right]))
            for k, (left, relation, right) in enumerate(rows, start=1)
        ),
        tuple(
            space.inequality(f"inequality{k}" if len(matrices) > 1 else "inequality", matrix)
            for k, matrix in enumerate(matrices, start=1)
        ),
        maximize=maximize,
        name=name,
    )


class _Space:
    """The variables in linear expressions: one matrix X and one vector of scalars."""

    def __init__(self, expressions: Iterable[Linear]) -> None:
        names = {name for expression in expressions for name in expression} - {"", "trX"}
        scalars = {name for name in names if not name.startswith("X")}
        self.order = max((int(i) for name in names - scalars for i in name[1:]), default=0)
        self.letter = min(scalars, default="x")[0]
        self.size = max((int(name[1:] or 1) for name in scalars), default=0)

    def variables(self) -> tuple[PsdVariable | VectorVariable, ...]:
        """Return the variables that occur."""
        matrix = (PsdVariable("X", self.order),) if self.order else ()
        return (*matrix, *((VectorVariable(self.letter, self.size),) if self.size else ()))

    def maps(self, left: Linear, sign: float = 1.0) -> dict[str, Any]:
        """Return a linear expression as a map of each of its variables."""
        found: dict[str, Any] = {}
        if any(name.startswith(("X", "tr")) for name in left):
            found["X"] = InnerProduct(sign * self._symmetric(left))
        if any(name.startswith(self.letter) for name in left):
            found[self.letter] = VectorMap(sign * self._row(left)[None])
        return found

    def inequality(self, label: str, matrix: list[list[Linear]]) -> Lmi:
        """Return the constraint that a matrix of linear expressions in the scalars is psd."""
        rows = np.array([[self._row(entry) for entry in line] for line in matrix])
        constant = np.array([[float(entry.get("", 0)) for entry in line] for line in matrix])
        columns = np.column_stack([svec(rows[:, :, k]) for k in range(self.size)])
        return Lmi(label, len(matrix), {self.letter: VectorMap(columns)}, svec(constant))

    def _symmetric(self, left: Linear) -> Array:
        """The symmetric F of a linear form: <F, X> is the sum of ``coefficient * X_ij``."""
        matrix = float(left.get("trX", 0)) * np.eye(self.order)
        for name, coefficient in left.items():
            if name.startswith("X"):
                i, j = int(name[1]) - 1, int(name[2]) - 1
                matrix[i, j] += float(coefficient) / 2
                matrix[j, i] += float(coefficient) / 2
        return matrix

    def _row(self, left: Linear) -> Array:
        row = np.zeros(self.size)
        for name, coefficient in left.items():
            if name.startswith(self.letter):
                row[int(name[1:] or 1) - 1] = float(coefficient)
        return row


def _rows(clause: str) -> list[tuple[Linear, Relation, float]]:
    """``X11 = X22 = 1`` as one row for each of its left sides."""
    *lefts, right = re.split("<?=", clause)
    value = linear(right)
    if not lefts or value.keys() - {""}:
        raise ModelError(f"{clause!r} is no equation such as X33 + 2 X12 = 1, nor with <=.")
    relation: Relation = "<=" if "<=" in clause else "=="
    return [(linear(left), relation, float(value.get("", 0))) for left in lefts]


def _matrix(clause: str) -> list[list[Linear]]:
    """``[[1, x1], [x1, x2]] psd`` entry by entry."""
    lines = clause.removeprefix("[[").removesuffix("]] psd").split("], [")
    return [[linear(entry) for entry in line.split(", ")] for line in lines]
