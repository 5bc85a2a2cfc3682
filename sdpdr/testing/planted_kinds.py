"""The kinds of planted programs, from those with an interior to those without a point.

Among them are chains of zero diagonals, in a basis where no diagonal shows them. :math:`X_{11} = 0`
and :math:`X_{kk} + 2 X_{k-1,k+1} = 0` clear one coordinate after the other. The last row,
:math:`X_{nn} + 2 X_{n-2,n} = v`, leaves :math:`X_{nn} = v`, and minimising :math:`X_{n-1,n-1} + 2 c
X_{n-1,n}` over what is left has the value :math:`-c^2 v`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from types import MappingProxyType

import numpy as np

from sdpdr.base.arrays import Array
from sdpdr.base.checks import choice
from sdpdr.linalg import InnerProduct, Stacked
from sdpdr.program import SDP, PsdVariable, Rows
from sdpdr.testing.exact_bases import ExactBasis, Integers, Random, TreeInequality, doubles
from sdpdr.testing.planted_program import Field, Planted, PlantedCone, PowersOfTwo, hidden
from sdpdr.testing.truth import GroundTruth


def chain(rng: Random) -> Planted:
    """A chain of two to four steps, and a value."""
    steps, last, pull = (int(rng.integers(*ends)) for ends in ((2, 5), (1, 5), (1, 4)))
    n = steps + 2
    rows = [*_steps(n, steps), _entries(n, {(n - 1, n - 1): 1, (steps - 1, n - 1): 1})]
    cost = _entries(n, {(n - 2, n - 2): 1, (n - 2, n - 1): pull})
    for i in range(steps):  # costs of what is zero
        cost[i, i] += int(rng.integers(-3, 4))
    maximize = bool(rng.integers(2))
    value = Fraction(-pull * pull * last) * (-1 if maximize else 1)
    right = np.array([0.0] * steps + [float(last)])
    sdp = _hidden(cost, rows, right, rng, maximize)
    return Planted("", 0, sdp, GroundTruth.exactly(value, maximize=maximize), False)


def chain_to_nothing(rng: Random) -> Planted:
    """A chain whose last zero would have to be negative: infeasible, weakly."""
    steps = int(rng.integers(2, 5))
    n = steps + 1
    right = np.array([0.0] * (steps - 1) + [-float(rng.integers(1, 5))])
    sdp = _hidden(_entries(n, {(n - 1, n - 1): 1}), _steps(n, steps), right, rng, False)
    return Planted("", 0, sdp, GroundTruth.infeasible(), False)


def _steps(n: int, steps: int) -> list[Integers]:
    chained = [_entries(n, {(k, k): 1, (k - 1, k + 1): 1}) for k in range(1, steps)]
    return [_entries(n, {(0, 0): 1}), *chained]


def _entries(n: int, entries: dict[tuple[int, int], int]) -> Integers:
    matrix = np.zeros((n, n), dtype=np.int64)
    for (i, j), value in entries.items():
        matrix[i, j] = matrix[j, i] = value
    return matrix


def _hidden(cost: Integers, rows: list[Integers], right: Array, rng: Random, maximize: bool) -> SDP:
    n = len(cost)
    basis = ExactBasis.random(n, rng, [0] * n)
    lhs = Stacked([InnerProduct(doubles(basis.congruent(row))) for row in rows])
    return SDP(
        (PsdVariable("X", n),),
        {"X": InnerProduct(doubles(basis.congruent(cost)))},
        (Rows("chain", "==", {"X": lhs}, right),),
        maximize=maximize,
    )


@dataclass(frozen=True)
class Recipe:
    """Options of a random planted program before it is hidden."""

    matrices: tuple[int, int] = (1, 1)  # least and largest number, as of their orders
    orders: tuple[int, int] = (3, 7)
    share: float | None = None  # rank of X over order; at random if None
    rows: float | None = None  # rows over what X leaves free; at random if None
    loose: bool = False  # whether some x_i and s_i are both zero
    nonnegative: bool = False
    free: bool = False
    inequalities: bool = False
    tree: bool = False
    thin: bool = False  # whether the least eigenvalues are about 2^-20
    zero: bool = False  # whether the value is zero
    scaled: bool = False  # by powers of two up to 2^30
    face: bool = False  # whether rows force a part of each matrix to be zero
    unattained: bool = False  # with a face: whether no multipliers are optimal

    def plant(self, rng: Random) -> Planted:
        """A random program of this kind."""
        while True:
            field = _field(self, rng)
            maximize, value = bool(rng.integers(2)), field.value()
            if (value == 0) == self.zero:
                break
        scaling = _scaling(field, rng) if self.scaled else None
        found = hidden(field, rng, scaling=scaling, maximize=maximize)
        value *= Fraction(2) ** (scaling.objective if scaling else 0)
        size = float(sum(abs(y * b) for y, b in zip(field.y, field.right_side(), strict=True)))
        value = -value if maximize else value
        truth = GroundTruth(value, value, maximize, magnitude=size if self.zero else 0.0)
        interior = not (self.face or self.zero)
        duals = {} if self.unattained else found.duals
        return Planted("", 0, found.sdp, truth, interior, found.values, duals)


def planted(kind: str, seed: int) -> Planted:
    """A random program of a kind.

    Parameters
    ----------
    kind : str
        A key of `KINDS`.
    seed : int

    Raises
    ------
    UnknownNameError

    Examples
    --------
    >>> from sdpdr.testing import planted
    >>> program = planted("several", 3)
    >>> program.truth.value.denominator, program.interior
    (1, True)
    """
    choice("kind of program", kind, KINDS)
    rng = np.random.default_rng([seed, *kind.encode()])
    return replace(KINDS[kind](rng), kind=kind, seed=seed)


def _field(recipe: Recipe, rng: Random) -> Field:
    cones = [_cone(recipe, rng) for _ in range(rng.integers(*recipe.matrices, endpoint=True))]
    if recipe.nonnegative:
        n = int(rng.integers(2, 6))
        cones.append(_diagonal(n, int(rng.integers(1, n)), recipe, rng, is_matrix=False))
    free = 0
    if recipe.free or recipe.tree:
        free = int(rng.integers(2, 4))
    room = sum(_room(cone) for cone in cones)
    share = recipe.rows if recipe.rows is not None else rng.uniform(0.2, 0.8)
    m = max(free + 2, 2, int(share * room))
    limits = int(rng.integers(1, m - free)) if recipe.inequalities else 0
    y = [Fraction(int(v)) for v in rng.integers(-3, 4, m - limits)]
    slack = []
    for _ in range(limits):
        active = bool(rng.integers(2))
        y.append(Fraction(int(rng.integers(1, 4)) if active else 0))
        slack.append(Fraction(0 if active else int(rng.integers(1, 5))))
    for cone in cones:
        cone.rows = [_identity(cone)]
        for i in range(1, m):
            slope = -1 if i >= m - limits and y[i] > 0 else 0
            cone.rows.append(cone.random_row(rng, slope=slope))
        if cone.face:
            _force(cone, recipe, rng)
    field = Field(cones, y, limits, slack)
    if free:
        _with_scalars(field, free, recipe, rng)
    if recipe.face:
        field.y.insert(1, Fraction(int(rng.integers(1, 4))))
    if recipe.zero:
        b = field.right_side()
        rest = sum((y * b for y, b in zip(field.y[1:], b[1:], strict=True)), Fraction(0))
        field.y[0] = -rest / b[0]
    return field


def _cone(recipe: Recipe, rng: Random) -> PlantedCone:
    n = int(rng.integers(*recipe.orders, endpoint=True))
    rank = int(rng.integers(1, n)) if recipe.share is None else max(1, round(recipe.share * n))
    cone = _diagonal(n, min(rank, n - 1), recipe, rng)
    if recipe.face:
        extra = int(rng.integers(1, 3))
        cone.x += [Fraction(0)] * extra
        cone.s += [Fraction(int(v)) for v in rng.integers(1, 4, extra)]
        cone.face = extra
    return cone


def _diagonal(
    n: int, rank: int, recipe: Recipe, rng: Random, *, is_matrix: bool = True
) -> PlantedCone:
    x = [Fraction(int(v)) for v in rng.integers(1, 5, rank)]
    if recipe.thin:
        x[-1] = Fraction(1, 2 ** int(rng.integers(10, 25)))
    if recipe.zero:  # the trace, by which multipliers are divided, is a power of two
        total = sum(x, Fraction(0))
        x[0] += 2 ** int(total).bit_length() - total
    zeros = int(rng.integers(1, n - rank)) if recipe.loose and n - rank > 1 else 0
    s = [Fraction(0)] * (rank + zeros)
    s += [Fraction(int(v)) for v in rng.integers(1, 5, n - rank - zeros)]
    return PlantedCone(x + [Fraction(0)] * (n - rank), s, is_matrix)


def _room(cone: PlantedCone) -> int:
    n = cone.n - cone.face
    return n * (n + 1) // 2 - 1 if cone.is_matrix else n - 1


def _identity(cone: PlantedCone) -> Integers:
    return np.diag([1] * (cone.n - cone.face) + [0] * cone.face).astype(np.int64)


def _force(cone: PlantedCone, recipe: Recipe, rng: Random) -> None:
    """A row <diag(0, F), X> = 0 with F positive, and perhaps a slack that is never psd."""
    forcing = np.zeros((cone.n, cone.n), dtype=np.int64)
    block = np.arange(cone.n - cone.face, cone.n)
    forcing[block, block] = rng.integers(1, 3, cone.face)
    cone.rows.insert(1, forcing)
    cone.coupling = int(recipe.unattained)


def _with_scalars(field: Field, free: int, recipe: Recipe, rng: Random) -> None:
    field.columns = rng.integers(-2, 3, (field.m, free))
    field.columns[0] = 0  # the row that moves multipliers inwards must stay free of them
    field.z = [Fraction(int(v)) for v in rng.integers(-3, 4, free)]
    if recipe.tree:
        field.columns[:, 0] = 0  # the scalar that moves the inequality inwards is free to
        field.tree = TreeInequality.random(rng, int(rng.integers(3, 6)), free)
    for k in range(int(recipe.tree), free):  # columns that stay independent on the equations
        field.columns[1 + k] = 0
        field.columns[1 + k, k] = 1


def _scaling(field: Field, rng: Random) -> PowersOfTwo:
    def draw(n: int, reach: int) -> list[int]:
        return [int(e) for e in rng.integers(-reach, reach, n, endpoint=True)]

    return PowersOfTwo(draw(field.m, 30), [draw(c.n, 15) for c in field.cones], draw(1, 30)[0])


def _impossible(rng: Random) -> Planted:
    """Rows that add up to a positive definite matrix whose inner product is to be negative."""
    field = _field(Recipe(matrices=(1, 2)), rng)
    weights = [int(w) for w in rng.integers(-2, 3, field.m)]
    promised = -sum((w * b for w, b in zip(weights, field.right_side(), strict=True)), Fraction(0))
    for cone in field.cones:
        positive = np.diag(rng.integers(1, 4, cone.n)).astype(np.int64)
        cone.rows.append(positive - sum(w * row for w, row in zip(weights, cone.rows, strict=True)))
    reached = sum((cone.product(cone.rows[-1]) for cone in field.cones), Fraction(0))
    field.y.append(Fraction(int(rng.integers(-3, 4))))
    # The last row is to have the right side -1 - w.b instead of what the planted point gives.
    field.shift[field.m - 1] = promised - 1 - reached
    maximize = bool(rng.integers(2))
    sdp = hidden(field, rng, maximize=maximize).sdp
    ray = {"equations": [*map(Fraction, weights), Fraction(1)]}
    return Planted("", 0, sdp, GroundTruth.infeasible(maximize=maximize), False, ray=ray)


def _endless(rng: Random) -> Planted:
    """A psd direction that is zero in all rows and improves the objective."""
    field = _field(Recipe(matrices=(1, 2)), rng)
    cone = field.cones[0]
    last = cone.n - 1
    for row in cone.rows:
        row[last, last] = 0
    cone.s[last] = Fraction(-int(rng.integers(1, 4)))
    maximize = bool(rng.integers(2))
    found = hidden(field, rng, maximize=maximize)
    along = [Fraction(int(i == last)) for i in range(cone.n)]
    ray = {"X1": found.bases["X1"].point(along)}
    truth = GroundTruth.unbounded(maximize=maximize)
    return Planted("", 0, found.sdp, truth, False, found.values, ray=ray)


KINDS: Mapping[str, Callable[[Random], Planted]] = MappingProxyType(
    {
        "one-matrix": Recipe().plant,
        "several": Recipe(matrices=(2, 3), orders=(2, 5)).plant,
        "primal-degenerate": Recipe(share=0.2, rows=0.9).plant,
        "dual-degenerate": Recipe(share=0.8, rows=0.15).plant,
        "not-strict": Recipe(share=0.3, loose=True, orders=(4, 7)).plant,
        "nonnegative": Recipe(nonnegative=True).plant,
        "free": Recipe(free=True).plant,
        "inequalities": Recipe(inequalities=True).plant,
        "matrix-inequality": Recipe(tree=True).plant,
        "mixed": Recipe(
            matrices=(1, 3), orders=(2, 5), nonnegative=True, inequalities=True, tree=True
        ).plant,
        "scaled": Recipe(scaled=True).plant,
        "thin": Recipe(thin=True).plant,
        "zero": Recipe(zero=True).plant,
        "face": Recipe(face=True, matrices=(1, 2)).plant,
        "face-unattained": Recipe(face=True, unattained=True).plant,
        "chain": chain,
        "chain-to-nothing": chain_to_nothing,
        "impossible": _impossible,
        "endless": _endless,
    }
)
"""Functions that make a program of each kind."""
