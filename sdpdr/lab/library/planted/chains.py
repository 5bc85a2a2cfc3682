r"""Chains of zero diagonals, in a basis where no diagonal shows them.

:math:`X_{11} = 0` and :math:`X_{kk} + 2 X_{k-1,k+1} = 0` clear one coordinate after the other. The
last row, :math:`X_{nn} + 2 X_{n-2,n} = v`, leaves :math:`X_{nn} = v`, and minimising
:math:`X_{n-1,n-1} + 2 c X_{n-1,n}` over what is left has the value :math:`-c^2 v`.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from sdpdr.base.arrays import Array
from sdpdr.lab.library.lies.truth import Truth
from sdpdr.lab.library.planted.exact import Basis, Exact, Random, doubles
from sdpdr.lab.library.planted.program import Planted
from sdpdr.linalg import InnerProduct, Stacked
from sdpdr.program import SDP, PsdVariable, Rows


def chain(kind: str, seed: int) -> Planted:
    """A chain of two to four steps, and a value."""
    rng = np.random.default_rng([seed, *kind.encode()])
    steps, last, pull = (int(rng.integers(*ends)) for ends in ((2, 5), (1, 5), (1, 4)))
    n = steps + 2
    rows = [*_steps(n, steps), _entries(n, {(n - 1, n - 1): 1, (steps - 1, n - 1): 1})]
    cost = _entries(n, {(n - 2, n - 2): 1, (n - 2, n - 1): pull})
    for i in range(steps):  # costs of what is zero
        cost[i][i] += int(rng.integers(-3, 4))
    maximize = bool(rng.integers(2))
    value = Fraction(-pull * pull * last) * (-1 if maximize else 1)
    right = np.array([0.0] * steps + [float(last)])
    sdp = _hidden(cost, rows, right, rng, maximize)
    return Planted(kind, seed, sdp, Truth.exactly(value, maximize=maximize), False)


def chain_to_nothing(kind: str, seed: int) -> Planted:
    """A chain whose last zero would have to be negative: infeasible, weakly."""
    rng = np.random.default_rng([seed, *kind.encode()])
    steps = int(rng.integers(2, 5))
    n = steps + 1
    right = np.array([0.0] * (steps - 1) + [-float(rng.integers(1, 5))])
    sdp = _hidden(_entries(n, {(n - 1, n - 1): 1}), _steps(n, steps), right, rng, False)
    return Planted(kind, seed, sdp, Truth.infeasible(), False)


def _steps(n: int, steps: int) -> list[Exact]:
    chained = [_entries(n, {(k, k): 1, (k - 1, k + 1): 1}) for k in range(1, steps)]
    return [_entries(n, {(0, 0): 1}), *chained]


def _entries(n: int, entries: dict[tuple[int, int], int]) -> Exact:
    matrix = [[Fraction(0)] * n for _ in range(n)]
    for (i, j), value in entries.items():
        matrix[i][j] = matrix[j][i] = Fraction(value)
    return matrix


def _hidden(cost: Exact, rows: list[Exact], right: Array, rng: Random, maximize: bool) -> SDP:
    n = len(cost)
    basis = Basis.random(n, rng, [0] * n)
    lhs = Stacked([InnerProduct(doubles(basis.congruent(row))) for row in rows])
    return SDP(
        (PsdVariable("X", n),),
        {"X": InnerProduct(doubles(basis.congruent(cost)))},
        (Rows("chain", "==", {"X": lhs}, right),),
        maximize=maximize,
    )
