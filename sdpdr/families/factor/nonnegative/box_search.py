r"""The best factorization with entries in an interval, by branching over their logarithms.

With :math:`W_{il} = e^{w_{il}}` and :math:`H_{lj} = e^{h_{lj}}` the squared error is a difference
of convex functions,

.. math::

    |V - WH|_F^2 = |V|_F^2 + \sum_{ij} \Big(\sum_l e^{w_{il} + h_{lj}}\Big)^2
    - 2 \sum_{ijl} V_{ij}\, e^{w_{il} + h_{lj}} .

On a box the last exponentials lie below their chords, which leaves a convex function F below the
error. The least value over the box of its linearization at any point is a bound that needs no
exact minimum.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array
from sdpdr.base.errors import DataError
from sdpdr.base.progress import Progress
from sdpdr.families.factor.nonnegative.branch_and_bound import (
    BranchingProblem,
    GlobalSearch,
    branch_and_bound,
)
from sdpdr.families.factor.nonnegative.inputs import nonnegative_matrix, number_of_components

# Free entries beyond which there are too many boxes for any result.
LIMIT = 12
# Length of a side of a box up to which chord and tangent coincide.
_FLAT = 1e-9


def box_search(
    X: ArrayLike,
    k: int,
    low: float,
    high: float,
    *,
    tol: float = 1e-3,
    max_nodes: int = 10_000,
    time_limit: float | None = None,
    start: GlobalSearch | None = None,
    progress: Progress | bool | None = None,
) -> GlobalSearch:
    r"""Enclose the least error of a factorization with entries in [low, high]. For tiny matrices.

    The first row of W is one, which fixes the scale of each component and loses no factorization
    with positive entries. Zeros have no logarithm, so the bound holds for entries *within the
    limits* only: if the best factors have zeros, their error may be smaller. `cone_search` has
    neither defect and is faster; this search is the one of the thesis.

    Parameters
    ----------
    X : array_like of shape (N, m)
        V, nonnegative, with (N - 1 + m) k at most 12.
    k : int
        1 to min(N, m).
    low, high : float
        Limits on all other entries of W and H, 0 < low < high.
    tol, max_nodes, time_limit, start, progress
        As for `cone_search`.

    Returns
    -------
    GlobalSearch

    Raises
    ------
    DataError
        An entry is negative or not finite, all are zero, an argument is out of range, or there
        are too many free entries.
    ShapeError
        ``start`` belongs to another search.

    References
    ----------
    Vasiloglou thesis, (3.80)-(3.84), where in (3.80) and (3.81) the square stands inside the sum
    over the components; Floudas, "Deterministic Global Optimization", Kluwer, 2000.

    Examples
    --------
    >>> found = box_search([[1.0, 2.0], [3.0, 4.0]], 1, 1.0, 4.0, tol=0.05)
    >>> found.status, found.lower < 0.365966 < found.upper
    (SearchStatus.CLOSED, True)
    """
    V = nonnegative_matrix(X)
    k = number_of_components(k, V.shape, "k")
    for name, value in (("low", low), ("high", high)):
        validate.positive_number(name, value)
    if not low < high:
        raise DataError(f"low must be less than high; they are {low} and {high}.")
    free = (V.shape[0] - 1 + V.shape[1]) * k
    if free > LIMIT:
        raise DataError(
            f"{free} entries are free, and box_search is for at most {LIMIT}. Use cone_search, or "
            "sdpdr.nmf_bound for a bound on larger matrices."
        )
    return branch_and_bound(
        _Boxes(V, k, low, high),
        start,
        tol=tol,
        max_nodes=max_nodes,
        time_limit=time_limit,
        progress=progress,
    )


class _Boxes(BranchingProblem):
    """Boxes of logarithms by number, with the minimizer found of the convex function on each."""

    search = "box_search"

    def __init__(self, V: Array, k: int, low: float, high: float) -> None:
        super().__init__(V, k)
        self.given, self.low, self.high = V, low, high
        entries = sum(V.shape) * k
        lower, upper = np.full(entries, np.log(low)), np.full(entries, np.log(high))
        lower[:k] = upper[:k] = 0.0  # the first row of W
        self.boxes = [(lower, upper)]
        self.lowest: dict[int, Array] = {}

    def root(self) -> tuple[float, int]:
        """The whole box."""
        return self.relaxed(0), 0

    @property
    def question(self) -> str:
        """The number of components and the limits."""
        return f"{self.k} components with the limits [{self.low!r}, {self.high!r}]"

    def children(self, node: int) -> Iterable[tuple[float, int]]:
        """Both halves of a box, cut in the middle of the side where the chords are worst."""
        lower, upper = self.boxes[node]
        at = self._worst(lower, upper, self.lowest[node])
        middle = (lower[at] + upper[at]) / 2.0
        for low, high in ((lower[at], middle), (middle, upper[at])):
            half = lower.copy(), upper.copy()
            half[0][at], half[1][at] = low, high
            self.boxes.append(half)
            number = len(self.boxes) - 1
            yield self.relaxed(number), number

    def argument(self, nodes: int, lower: float) -> str:
        """The proof of a lower bound."""
        limits = f"[{self.low:g}, {self.high:g}]"
        return f"chords on the boxes of {nodes} split nodes, for entries in {limits}"

    def relaxed(self, number: int) -> float:
        """A lower bound on the squared error in a box; may improve the best factors."""
        lower, upper = self.boxes[number]
        slope, level = self._chords(lower, upper)

        def below(x: Array) -> tuple[float, Array]:
            w, h = self._split(x)
            exps = np.exp(w[:, :, None] + h[None])
            fit = exps.sum(axis=1)
            straight = slope * (w[:, :, None] + h[None]) + level
            value = self.norm**2 + np.sum(fit**2) - 2.0 * np.sum(self.V[:, None] * straight)
            slopes = 2.0 * fit[:, None] * exps - 2.0 * self.V[:, None] * slope
            return float(value), np.concatenate([slopes.sum(2).ravel(), slopes.sum(0).ravel()])

        begin = np.clip((lower + upper) / 2.0, lower, upper)
        found = minimize(
            below,
            begin,
            jac=True,
            method="L-BFGS-B",
            bounds=np.column_stack([lower, upper]),
            options={"maxiter": 200, "ftol": 1e-13, "gtol": 1e-9},
        )
        x = np.clip(found.x, lower, upper)
        self.lowest[number] = x
        w, h = self._split(x)
        self.offer(np.exp(w), np.exp(h))
        value, gradient = below(x)
        least = np.minimum(gradient * (lower - x), gradient * (upper - x))
        return max(0.0, value + float(least.sum()))

    def _split(self, x: Array) -> tuple[Array, Array]:
        n, m = self.V.shape
        return x[: n * self.k].reshape(n, self.k), x[n * self.k :].reshape(self.k, m)

    def _chords(self, lower: Array, upper: Array) -> tuple[Array, Array]:
        """Slopes and levels of the chords of the exponentials of all sums w + h."""
        (w, h), (v, g) = self._split(lower), self._split(upper)
        least, most = w[:, :, None] + h[None], v[:, :, None] + g[None]
        width = most - least
        secant = (np.exp(most) - np.exp(least)) / np.maximum(width, _FLAT)
        slope = np.where(width > _FLAT, secant, np.exp(most))
        return slope, np.exp(least) - slope * least

    def _worst(self, lower: Array, upper: Array, x: Array) -> int:
        """The logarithm in whose sums the chords lie furthest above the exponentials."""
        slope, level = self._chords(lower, upper)
        w, h = self._split(x)
        sums = w[:, :, None] + h[None]
        excess = self.V[:, None] * (slope * sums + level - np.exp(sums))
        share = np.concatenate([excess.sum(2).ravel(), excess.sum(0).ravel()])
        widths = upper - lower
        scores = np.maximum(share, _FLAT * self.norm**2) * widths
        return int(np.argmax(scores))
