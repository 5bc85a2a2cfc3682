r"""Programs whose cost is a length, solved with half its square as the cost.

.. math::

    \min_x\ c\,|v(x)| \quad\text{and}\quad \min_x\ \tfrac12 |v(x)|^2

have the same solutions, and the multipliers of the second are those of the first times
:math:`|v| / c`. A bound b of the second gives the bound :math:`c \sqrt{2 b}` of the first, and
values likewise; relative gaps are halved. The square needs no cone. The length needs a second-order
cone with as many rows as v has entries, in the standard form an arrow, or many small ones.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf, nextafter

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array
from sdpdr.linalg import LinearMap, VectorMap
from sdpdr.linalg.rounding import UNIT
from sdpdr.linalg.svec import SQRT2
from sdpdr.program.arrows import is_arrow
from sdpdr.program.backward import Measured
from sdpdr.program.point import Point, Value, VectorVariable
from sdpdr.program.rows import Lmi, Rows
from sdpdr.program.run import Run
from sdpdr.program.sdp import SDP
from sdpdr.program.solution import Solution
from sdpdr.reduce.arrows import beside, diagonal_entry, edge, heads_of, length_of_cost

# The name of the squares, and of their rows.
SQUARED = "squared length"
# Roundings of a root and of what it is multiplied by.
_OUTWARDS = 8.0 * UNIT


@dataclass(frozen=True, eq=False)
class Squared:
    """A program whose cost is a length, and its twin with half the square as cost.

    Attributes
    ----------
    original, sdp : SDP
    length : str
        The scalar that is no less than the length.
    heads : str or None
        If the length has several arrows, the vector with one scalar for each; by the row ``total``,
        their sum is at most the length.
    total : str or None
    arrows : sequence of (label, slice of the squares)
    scale : float
        c, the factor of the length in the cost.
    """

    original: SDP
    sdp: SDP
    length: str
    heads: str | None
    total: str | None
    arrows: Sequence[tuple[str, slice]]
    scale: float

    def lift(self, solution: Solution) -> Solution:
        """A solution of the twin as one of the original; only its status is not changed."""
        values = self._values(solution.values)
        duals = self._duals(solution.duals)
        ray = solution.ray
        if ray is not None:
            ray = replace(ray, duals=self._without_squares(ray.duals))
        value = self.original.report(self.original.primal_value(values)) if values else np.nan
        return replace(
            solution,
            value=value,
            values=values,
            duals=duals,
            attained=self._lifted(solution.attained, 1.0),
            bound=self._lifted(solution.bound, -1.0),
            argument=f"{solution.argument}; for half the square of the length",
            measured=Measured(self.original, Point(values, duals)),
            claimed=replace(solution.claimed, value=self._lifted(solution.claimed.value, 0.0)),
            runs=tuple(map(self._run, solution.runs)),
            maximize=self.original.maximize,
            ray=ray,
        )

    def _run(self, run: Run) -> Run:
        return replace(
            run,
            value=self._lifted(run.value, 0.0),
            bound=self._lifted(run.bound, -1.0),
            attained=self._lifted(run.attained, 1.0),
        )

    def _lifted(self, value: float | None, side: float) -> float | None:
        """A number of the twin as one of the original, rounded up (1), down (-1) or not (0)."""
        if value is None:
            return None
        constant = self.original.constant
        away = value - self.sdp.constant
        long = self.scale * float(np.sqrt(2.0 * max(away, 0.0))) * (1.0 + side * _OUTWARDS)
        found = long + constant
        return self.original.report(found if side == 0.0 else nextafter(found, side * inf))

    def _values(self, values: Mapping[str, Value]) -> dict[str, Value]:
        if not values:
            return {}
        found = dict(values)
        squares = np.asarray(found.pop(SQUARED))
        long = float(np.linalg.norm(squares)) * (1.0 + _OUTWARDS)
        found[self.length] = np.array([long])
        if self.heads is not None:
            parts = [squares[place] for _, place in self.arrows]
            squared = np.array([part @ part for part in parts])
            found[self.heads] = squared / (long or 1.0)
        return {v.name: found[v.name] for v in self.original.variables}

    def _duals(self, duals: Mapping[str, Array]) -> dict[str, Array]:
        if not duals:
            return {}
        w = np.asarray(duals[SQUARED])
        size = float(np.linalg.norm(w))
        unit, shrunk = (w / size, self.scale / size) if size > 0.0 else (w, 0.0)
        found = {label: shrunk * y for label, y in duals.items() if label != SQUARED}
        half = self.scale / 2.0
        if self.total is not None:
            found[self.total] = np.array([half])
        for label, place in self.arrows:
            head = np.concatenate([[1.0], -unit[place]])
            found[label] = half * np.outer(head, head)
            if size == 0.0:  # At v = 0 every vector of norm at most one is a subgradient: take 0.
                k = np.arange(1, head.size)
                found[label][k, k] = half / w.size
        return found

    def _without_squares(self, duals: Mapping[str, Array]) -> dict[str, Array]:
        """Multipliers of a ray; those of the length are zero."""
        found = {label: y for label, y in duals.items() if label != SQUARED}
        return {**self.original.zero_point().duals, **found} if duals else {}


def squared(sdp: SDP) -> Squared | None:
    """The twin of a program whose cost is a length; None if it has another cost.

    Examples
    --------
    >>> import numpy as np
    >>> import sdpdr
    >>> K = sdpdr.psd("K", 3)
    >>> model = sdpdr.minimize(sdpdr.norm(K - np.eye(3))) + (K.sum() == 1)
    >>> found = squared(model.to_sdp())
    >>> found.sdp
    SDP(unnamed; matrices [K: 3x3], 6 scalars, 7 rows, 0 matrix inequalities)
    """
    found = length_of_cost(sdp)
    if found is None:
        return None
    name, cost = found
    arrows = [lmi for lmi in sdp.lmis if name in lmi.lhs]
    if not arrows or not all(map(is_arrow, arrows)):
        return None
    ends = [diagonal_entry(lmi, 1) for lmi in arrows]
    if any(end is None or list(end) != [name] or end[name] != [1.0] for end in ends):
        return None
    heads = heads_of(name, arrows, [r for r in sdp.rows if name in r.lhs])
    return None if heads is None else _with_squares(sdp, name, heads, arrows, cost)


def _with_squares(
    sdp: SDP,
    name: str,
    heads: tuple[str, str] | tuple[()],
    arrows: Sequence[Lmi],
    scale: float,
) -> Squared | None:
    head, total = heads or (None, None)
    gone = {name, head}
    labels = {lmi.label for lmi in arrows}
    others = [r for r in sdp.rows if r.label != total]
    if any(gone & set(r.lhs) for r in others) or SQUARED in (
        *sdp.labels,
        *(v.name for v in sdp.variables),
    ):
        return None
    if any(head in lmi.lhs for lmi in sdp.lmis if lmi.label not in labels):
        return None
    ends = np.cumsum([0, *(lmi.order - 1 for lmi in arrows)])
    size = int(ends[-1])
    lhs: dict[str, LinearMap | VectorMap] = {}
    for v in sdp.variables:
        rows = beside(arrows, v)
        if v.name not in gone and rows.nnz:
            lhs[v.name] = v.rows(rows)
    lhs[SQUARED] = VectorMap(-sp.eye_array(size, format="csr"))
    constant = np.concatenate([lmi.constant[edge(lmi.order)] / SQRT2 for lmi in arrows])
    twin = replace(
        sdp,
        variables=(
            *(v for v in sdp.variables if v.name not in gone),
            VectorVariable(SQUARED, size, curvature=np.ones(size)),
        ),
        objective={},
        rows=(*others, Rows(SQUARED, "==", lhs, -constant)),
        lmis=tuple(lmi for lmi in sdp.lmis if lmi.label not in labels),
        constant=0.0,
        maximize=False,
    )
    places = [
        (lmi.label, slice(int(a), int(b)))
        for lmi, a, b in zip(arrows, ends, ends[1:], strict=False)
    ]
    return Squared(sdp, twin, name, head, total, places, scale)
