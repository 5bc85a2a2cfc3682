r"""Planting an optimum: diagonal programs in exact numbers, hidden by a change of basis.

In a basis of its own, everything about the optimum is diagonal: :math:`\tilde X = \mathrm{diag}(x)`
and :math:`\tilde S = \mathrm{diag}(s)` with :math:`x, s \ge 0` and :math:`x_i s_i = 0`. Rows
:math:`\tilde A_i` are random matrices of small integers, y small integers, and

.. math::

    b_i = \langle\tilde A_i, \tilde X\rangle, \qquad
    \tilde C = \tilde S - \textstyle\sum_i y_i \tilde A_i, \qquad
    \langle\tilde C, \tilde X\rangle = -b^T y,

so that point and multipliers are feasible and their values agree: they are optimal. With a
unimodular integer matrix L, :math:`A = L^{-T} \tilde A L^{-1}` and :math:`X = L \tilde X L^T` hide
the basis and change no inner product. All numbers stay dyadic and small, so doubles hold them
without error: the value is that of the program *as stored*.

*Interior, by construction.* One row is :math:`\tilde A_0 = I`, so multipliers can be moved until
the slack is positive definite. Every other row is orthogonal to :math:`W = \mathrm{diag}(w)`, w
negative where x > 0, positive where x = 0, and of sum zero; so is the identity, and
:math:`\tilde X + t W` is feasible and positive definite for small t > 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from sdpdr.linalg import InnerProduct, Stacked, VectorMap
from sdpdr.program import SDP, PsdVariable, Rows, VectorVariable
from sdpdr.program.point import Variable
from sdpdr.testing.exact_bases import (
    Exact,
    ExactBasis,
    Integers,
    Random,
    TreeInequality,
    doubles,
)
from sdpdr.testing.truth import GroundTruth


@dataclass(frozen=True, eq=False)
class Planted:
    """A program and its exact optimal value.

    Attributes
    ----------
    kind : str
        A key of `KINDS`.
    seed : int
    sdp : SDP
    truth : GroundTruth
    interior : bool
        Whether program and dual both have interior points, by construction, and the value is not
        zero, so that a relative gap can close.
    values, duals : mappings to arrays of Fraction
        An optimal point and optimal multipliers of the program as stored; those of a matrix
        inequality in ``svec`` coordinates. Empty where there are none.
    ray : mapping to arrays of Fraction
        Multipliers that prove infeasibility, or a direction that proves unboundedness.
    """

    kind: str
    seed: int
    sdp: SDP
    truth: GroundTruth
    interior: bool
    values: Mapping[str, Any] = field(default_factory=dict)
    duals: Mapping[str, Any] = field(default_factory=dict)
    ray: Mapping[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"{self.kind}-{self.seed}"


@dataclass(eq=False)
class PlantedCone:
    """A matrix, or a vector of non-negative numbers, in the basis where its optimum is diagonal."""

    x: list[Fraction]  # the diagonal of the optimum
    s: list[Fraction]  # that of its slack
    is_matrix: bool = True
    rows: list[Integers] = field(default_factory=list)  # of equations, then of inequalities
    face: int = 0  # number of last coordinates that the equations force to be zero
    # An entry of the slack between the first coordinate and the last: where the first is in the
    # range of X and the last on the face, no multipliers have a psd slack like it.
    coupling: int = 0

    @property
    def n(self) -> int:
        """Order."""
        return len(self.x)

    @property
    def rank(self) -> int:
        """Number of positive entries of x, which come first."""
        return sum(x > 0 for x in self.x)

    def random_row(self, rng: Random, *, slope: int = 0) -> Integers:
        """A row with <A, W> = slope * rank * (n - rank), apart from the part without interior."""
        n, r = self.n - self.face, self.rank
        a = np.zeros((self.n, self.n), dtype=np.int64)
        if self.is_matrix:
            upper = np.triu(rng.integers(-2, 3, (self.n, self.n)), 1)
            a = upper + upper.T
        u = rng.integers(-2, 3, r)
        v = rng.integers(-2, 3, n - r)
        v[-1] += u.sum() - v.sum() + slope
        diagonal = np.concatenate([u * r, v * (n - r)])
        a[np.arange(n), np.arange(n)] = diagonal
        return a

    def product(self, row: Integers) -> Fraction:
        """<A, X> at the optimum."""
        return Fraction(np.diagonal(row) @ np.array(self.x))


@dataclass(eq=False)
class Field:
    """A program before it is hidden: cones, free scalars, and a matrix inequality."""

    cones: list[PlantedCone]
    y: list[Fraction]  # multipliers of equations, then those of inequalities, not negative
    inequalities: int = 0
    slack: list[Fraction] = field(default_factory=list)  # of the inequalities at the optimum
    columns: Integers | None = None  # of the free scalars
    z: list[Fraction] = field(default_factory=list)  # their values
    tree: TreeInequality | None = None
    shift: dict[int, Fraction] = field(default_factory=dict)  # what right-hand sides are off by

    @property
    def m(self) -> int:
        """Number of rows."""
        return len(self.y)

    def right_side(self) -> Exact:
        """Return b such that the optimum has the planted slack."""
        slack = [Fraction(0)] * (self.m - self.inequalities) + self.slack
        total = np.array([x + self.shift.get(i, 0) for i, x in enumerate(slack)])
        for cone in self.cones:
            total = total + [cone.product(row) for row in cone.rows]
        return total if self.columns is None else total + self.columns @ np.array(self.z)

    def scalar_costs(self) -> Exact:
        """Return the costs of the free scalars that make the multipliers feasible."""
        pulls = [self.tree.pull(k) if self.tree else Fraction(0) for k in range(len(self.z))]
        assert self.columns is not None
        return pulls - self.columns.T @ np.array(self.y)

    def costs(self, cone: PlantedCone) -> Exact:
        """C = S - sum_i y_i A_i."""
        weighted = np.tensordot(np.array(self.y), np.array(cone.rows), axes=1)
        total = np.diag(np.array(cone.s)) - weighted
        total[0, -1] += cone.coupling
        total[-1, 0] += cone.coupling
        return total

    def value(self) -> Fraction:
        """The optimal value, from the optimum."""
        total = sum(np.diagonal(self.costs(cone)) @ np.array(cone.x) for cone in self.cones)
        return Fraction(total + (self.scalar_costs() @ np.array(self.z) if self.z else 0))


@dataclass(frozen=True)
class PowersOfTwo:
    """Powers of two: of the rows, of every cone's coordinates, of the objective."""

    rows: Sequence[int]
    cones: Sequence[Sequence[int]]
    objective: int


@dataclass(frozen=True, eq=False)
class Hidden:
    """A program in its final coordinates, with its optimum in exact numbers."""

    sdp: SDP
    values: Mapping[str, Any]
    duals: Mapping[str, Any]
    bases: Mapping[str, ExactBasis]


def hidden(
    field: Field, rng: Random, *, scaling: PowersOfTwo | None = None, maximize: bool = False
) -> Hidden:
    """The program in another basis, and in doubles that hold it exactly."""
    equal = field.m - field.inequalities
    scale = np.array([Fraction(2) ** e for e in (scaling.rows if scaling else [0] * field.m)])
    total = Fraction(2) ** (scaling.objective if scaling else 0)
    variables: list[Variable] = []
    objective: dict[str, Any] = {}
    values: dict[str, Any] = {}
    bases: dict[str, ExactBasis] = {}
    left: tuple[dict[str, Any], dict[str, Any]] = ({}, {})
    for k, cone in enumerate(field.cones):
        exponents = scaling.cones[k] if scaling else [0] * cone.n
        basis = ExactBasis.random(cone.n, rng, exponents, mixed=cone.is_matrix)
        name = f"X{k + 1}" if cone.is_matrix else f"v{k + 1}"
        rows = [r * basis.congruent(row) for row, r in zip(cone.rows, scale, strict=True)]
        variables.append(
            PsdVariable(name, cone.n) if cone.is_matrix else VectorVariable(name, cone.n, True)
        )
        objective[name] = _map(cone, [total * basis.congruent(field.costs(cone))])
        bases[name] = basis
        point = basis.point(cone.x)
        values[name] = point if cone.is_matrix else np.diagonal(point)
        for part, chosen in zip(left, (rows[:equal], rows[equal:]), strict=True):
            if chosen:
                part[name] = _map(cone, chosen)
    if field.columns is not None:
        variables.append(VectorVariable("z", len(field.z)))
        objective["z"] = VectorMap(doubles(total * field.scalar_costs())[None])
        values["z"] = field.z
        columns = doubles(scale[:, None] * field.columns)
        for part, several in zip(left, (columns[:equal], columns[equal:]), strict=True):
            if len(several):
                part["z"] = VectorMap(several)
    b = doubles(scale * field.right_side())
    groups = [Rows("equations", "==", left[0], b[:equal])]
    y = total * np.array(field.y) / scale
    duals: dict[str, Any] = {"equations": y[:equal]}
    if field.inequalities:
        groups.append(Rows("limits", "<=", left[1], b[equal:]))
        duals["limits"] = y[equal:]
    if field.tree:
        duals["tree"] = field.tree.multiplier()
    lmis = (field.tree.lmi("z", field.z),) if field.tree else ()
    sdp = SDP(tuple(variables), objective, tuple(groups), lmis, maximize=maximize)
    return Hidden(sdp, values, duals, bases)


def _map(cone: PlantedCone, matrices: list[Exact]) -> Any:
    arrays = [doubles(matrix) for matrix in matrices]
    if not cone.is_matrix:
        return VectorMap(np.array([np.diagonal(a) for a in arrays]))
    maps = [InnerProduct(a) for a in arrays]
    return Stacked(maps) if len(maps) > 1 else maps[0]
