r"""A length as the cost, by half its square.

.. math::

    \min_x\ c\,|v(x)| \quad\text{and}\quad \min_x\ \tfrac12 |v(x)|^2

have the same points, and multipliers w of the squares are those of the length times its size. A
bound b of the squares is the bound :math:`c \sqrt{2 b}`, and values likewise; relative to these,
gaps are halved. Squares have no cone, where a length has one of as many rows as there are numbers,
which the standard form knows as an arrow, or as many small ones.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array, Index, rows_as_they_are
from sdpdr.linalg import LinearMap, VectorMap
from sdpdr.linalg.rounding import UNIT
from sdpdr.linalg.svec import SQRT2, svec_index
from sdpdr.program.arrows import is_arrow
from sdpdr.program.backward import Measured
from sdpdr.program.point import Point, Value, Variable, VectorVariable
from sdpdr.program.rows import Lmi, Rows
from sdpdr.program.run import Run
from sdpdr.program.sdp import SDP
from sdpdr.program.solution import Solution

# The name of the squares, and of their rows.
SQUARED = "squared length"
# Roundings of a root and of what it is multiplied by.
_OUTWARDS = 8.0 * UNIT


@dataclass(frozen=True, eq=False)
class Squared:
    """A program whose cost is a length, and that with half its square.

    Attributes
    ----------
    original, sdp : SDP
    length : str
        The scalar that is no less than the length.
    heads : str or None
        The scalars u of an arrow each, where the length has several; their sum is no more than the
        length, by the row ``total``.
    total : str or None
    arrows : sequence of (label, slice of the squares)
    scale : float
        c, of the length that the squares are those of.
    unit : float
        What the scalar is multiplied by, to be no less than the length.
    """

    original: SDP
    sdp: SDP
    length: str
    heads: str | None
    total: str | None
    arrows: Sequence[tuple[str, slice]]
    scale: float
    unit: float

    def lift(self, solution: Solution) -> Solution:
        """An answer to the squares as one to the length, but for its status."""
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
        """A value or a bound of the squares as that of the length, rounded to its side."""
        if value is None:
            return None
        constant = self.original.constant
        away = value - self.sdp.constant
        long = self.scale * float(np.sqrt(2.0 * max(away, 0.0))) * (1.0 + side * _OUTWARDS)
        found = long + constant
        return self.original.report(found + side * UNIT * abs(found))

    def _values(self, values: Mapping[str, Value]) -> dict[str, Value]:
        if not values:
            return {}
        found = dict(values)
        squares = np.asarray(found.pop(SQUARED))
        long = float(np.linalg.norm(squares)) * (1.0 + _OUTWARDS)
        found[self.length] = np.array([long / self.unit])
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
            if size == 0.0:  # The length of nothing has any direction, here none.
                k = np.arange(1, head.size)
                found[label][k, k] = half / w.size
        return found

    def _without_squares(self, duals: Mapping[str, Array]) -> dict[str, Array]:
        """Multipliers of a ray, which has none of the length."""
        if not duals:
            return {}
        found = {label: y for label, y in duals.items() if label != SQUARED}
        if self.total is not None:
            found[self.total] = np.zeros(1)
        for label, place in self.arrows:
            found[label] = np.zeros((place.stop - place.start + 1,) * 2)
        return found


def squared(sdp: SDP) -> Squared | None:
    """The program with half the square of the length that is its cost; None where it has another.

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
    found = _length(sdp)
    if found is None:
        return None
    name, cost = found
    arrows = [lmi for lmi in sdp.lmis if name in lmi.lhs]
    if not arrows or not all(map(is_arrow, arrows)):
        return None
    ends = [_told(lmi, 1) for lmi in arrows]
    if any(end is None or list(end) != [name] for end in ends):
        return None
    units = [float(end[name][0]) for end in ends if end is not None]
    rows = [r for r in sdp.rows if name in r.lhs]
    heads = _heads(name, arrows, units, rows)
    if heads is None:
        return None
    return _with_squares(sdp, name, heads, arrows, cost / units[0], units[0])


def _length(sdp: SDP) -> tuple[str, float] | None:
    """The one scalar that is the whole cost, and what it costs."""
    # What a matrix costs may have too many entries to look at.
    if len(sdp.objective) != 1 or sdp.objective.keys() & {v.name for v in sdp.psd_variables}:
        return None
    ((name, cost_of),) = sdp.objective.items()
    variable, rows = sdp.variable(name), cost_of.matrix()
    if not isinstance(variable, VectorVariable) or variable.size != 1:
        return None
    cost = float(rows.sum())
    if variable.curvature is not None or not cost > 0.0:
        return None
    return (name, cost)


def _told(lmi: Lmi, k: int) -> dict[str, Array] | None:
    """Coefficients of a diagonal entry by variable; None where it has a constant."""
    place = int(svec_index(k, k))
    if lmi.constant[place]:
        return None
    found = {}
    for name, a in lmi.lhs.items():
        rows = a.matrix()
        part = slice(*rows.indptr[place : place + 2])
        if np.any(rows.data[part]):
            sums = np.bincount(rows.indices[part], rows.data[part], rows.shape[1])
            found[name] = sums.astype(float)
    return found


def _heads(
    name: str, arrows: Sequence[Lmi], units: Sequence[float], rows: Sequence[Rows]
) -> tuple[str, str] | tuple[()] | None:
    """Scalars at the heads of arrows and the row of their sum; nothing where it is the length.

    None where it is neither.
    """
    corners = [_told(lmi, 0) for lmi in arrows]
    # Beside the diagonal a length says nothing.
    if any(lmi.lhs[name].matrix().nnz > lmi.order for lmi in arrows):
        return None
    if len(arrows) == 1 and not rows:
        corner = corners[0] or {}
        alone = list(corner) == [name]
        return () if alone and corner[name][0] == units[0] else None
    names = {head for corner in corners for head in (corner or ("", ""))}
    if len(names) != 1 or len(rows) != 1 or any(unit != 1.0 for unit in units):
        return None
    (heads,), total = names, rows[0]
    coefficients = np.array([corner[heads] for corner in corners if corner is not None])
    if coefficients.shape[0] != coefficients.shape[1] or np.any(
        coefficients != np.eye(len(arrows))
    ):
        return None
    if any(lmi.lhs[heads].matrix().nnz != 1 for lmi in arrows):
        return None
    sums = {k: a.matrix().toarray() for k, a in total.lhs.items() if k in (name, heads)}
    if total.m != 1 or total.rhs[0] or set(total.lhs) != {name, heads} or total.relation != "<=":
        return None
    whole = np.all(sums[heads] == 1.0) and sums[name][0, 0] == -1.0
    return (heads, total.label) if whole else None


def _with_squares(
    sdp: SDP,
    name: str,
    heads: tuple[str, str] | tuple[()],
    arrows: Sequence[Lmi],
    scale: float,
    unit: float,
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
        rows = _beside(arrows, v)
        if v.name not in gone and rows.nnz:
            lhs[v.name] = v.rows(rows)
    lhs[SQUARED] = VectorMap(-sp.eye_array(size, format="csr"))
    constant = np.concatenate([lmi.constant[_neck(lmi.order)] / SQRT2 for lmi in arrows])
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
    return Squared(sdp, twin, name, head, total, places, scale, unit)


@lru_cache(maxsize=32)
def _neck(order: int) -> Index:
    k = np.arange(1, order)
    return svec_index(0 * k, k)


def _beside(arrows: Sequence[Lmi], v: Variable) -> sp.csr_array:
    """What the numbers of arrows, one after the other, are of a variable."""
    counts, places, data = [], [np.zeros(0, dtype=np.int64)], [np.zeros(0)]
    # There may be thousands, of which to index each by scipy would take longer than all else.
    for lmi in arrows:
        neck = _neck(lmi.order)
        if v.name not in lmi.lhs:
            counts.append(np.zeros(neck.size, dtype=np.int64))
            continue
        rows = lmi.lhs[v.name].matrix()
        counts.append(rows.indptr[neck + 1] - rows.indptr[neck])
        if int(counts[-1].sum()) < rows.nnz:
            rows = rows[neck]
        places.append(rows.indices)
        data.append(rows.data / SQRT2)
    ends = np.append(0, np.cumsum(np.concatenate(counts)))
    return rows_as_they_are(
        np.concatenate(data), np.concatenate(places), ends, (ends.size - 1, v.size)
    )
