r"""Ways to move multipliers until every dual slack is positive.

*Along a direction.* If A*(v) is positive definite on every face, and v asks nothing negative of
the scalars, then y + t v is feasible for t large enough; b^T v limits a weighted trace of all
matrices. Rows that fix a trace or a diagonal give such a v.

*Towards an interior point.* If y0 is strictly feasible, then so is (y + t y0) / (1 + t) for t
large enough, and the smaller the violation, the smaller t. Where the cost C is positive definite
itself (least trace, for instance) y0 = 0 will do, and y is only shrunk.

A first guess at y0 costs no more than a product, the signs of A(I): rows with positive
semidefinite forms (lengths, anchored lengths, diagonal entries) get a positive multiplier, as large
as the price of their slack allows. Other points and directions are found by least squares: v from
A*(v) = I, y0 from C + A*(y0) = beta I for several beta, each subject to the equations of the free
scalars. Neither needs to solve these exactly, because only definiteness counts, and that is
verified.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count, islice, product
from threading import Lock
from typing import TypeAlias

import numpy as np
import scipy.linalg as sl
import scipy.sparse as sp
import scipy.sparse.linalg as spl

from sdpdr.base.arrays import Array, Matrix
from sdpdr.base.deadline import Effort, EffortSpentError
from sdpdr.linalg.magnitudes import adjoint_magnitude
from sdpdr.linalg.outer import Outer
from sdpdr.linalg.smallest import smallest_eigenvalue
from sdpdr.linalg.svec import svec, svec_pairs
from sdpdr.program.boxes import dual_box, within
from sdpdr.program.certificate.arithmetic import is_mass
from sdpdr.program.certificate.free import Duals, columns_of, free_columns, project, unstack
from sdpdr.program.face import null_vectors, visible_rows
from sdpdr.program.point import PsdVariable, Variable
from sdpdr.program.rows import Rows
from sdpdr.program.sdp import SDP

# Least squares over all entries of all matrices: dense by nature, so only up to this many.
LARGEST = 500_000
_HEIGHTS = (1.0, 10.0, 100.0, 0.1, 1e-2)
# How much the equations of free scalars outweigh the rest.
_FREE_WEIGHT = 1e3
_ITERATIONS = 3000
# Entries up to which least squares are dense, and what of a pivot counts as rounding there.
_DENSE, _RANK = 100_000, 1e-13

# What is called before every step.
Step: TypeAlias = Callable[[], None]


@dataclass(frozen=True)
class Move:
    """Multipliers to move by: ``y + t by``, divided by 1 + t if they are a point.

    Attributes
    ----------
    by : mapping from row label to array
    is_point : bool
    words : str
    """

    by: Duals
    is_point: bool
    words: str

    def apply(self, y: Duals, t: float) -> dict[str, Array]:
        """The multipliers moved."""
        whole = 1.0 / (1.0 + t) if self.is_point else 1.0
        return {label: whole * (v + t * self.by[label]) for label, v in y.items()}


def moves(sdp: SDP, effort: Effort | None = None) -> Iterator[Move]:
    """Directions and interior points of a program in equality form, the cheapest first.

    Raises
    ------
    EffortSpentError
        Where the time is up before the next is found; who asks again gets those known at once.
    """
    return sdp.remembered(_Moves).within(effort or Effort())


class _Moves:
    """What moves there are: each is looked for when it is first asked for, and kept."""

    def __init__(self, sdp: SDP) -> None:
        self._sdp = sdp
        self._found: list[Move] = []
        # A program may be solved in several threads, which share what was found.
        self._lock = Lock()
        self._begin()

    def _begin(self) -> None:
        self._effort = Effort()
        search = _search(self._sdp, lambda: self._effort.spend())
        self._search = islice(search, len(self._found), None)

    def within(self, effort: Effort) -> Iterator[Move]:
        """All of them, as far as they are known or found in time."""
        for place in count():
            with self._lock:
                if place == len(self._found):
                    further = self._next(effort)
                    if further is None:
                        return
                    self._found.append(further)
            yield self._found[place]

    def _next(self, effort: Effort) -> Move | None:
        self._effort = effort
        try:
            return next(self._search, None)
        except EffortSpentError:
            # A search that was left in the middle cannot be resumed: who has time begins anew.
            self._begin()
            raise


def _search(sdp: SDP, step: Step) -> Iterator[Move]:
    rows = visible_rows(sdp)
    zero = {r.label: np.zeros(r.m) for r in rows}
    step()
    if _is_interior(sdp, zero):
        yield Move(zero, True, "multipliers shrunk towards the cost")
    for point in _matched(sdp, rows):
        step()
        if _is_interior(sdp, point):
            yield Move(point, True, "multipliers moved towards those that the rows' traces suggest")
            break
    step()
    system = _system(sdp, rows, step)
    if system is None:
        return
    along = _along(sdp, system)
    if along is not None:
        yield along
    # Scalars need slack of 0 or more only, and asking for more may cost the matrices theirs.
    for height, share in product(_HEIGHTS, (1.0, 0.0)):
        point = system.solve(height * system.scale, with_cost=True, share=share)
        if _is_interior(sdp, point):
            yield Move(point, True, "multipliers moved towards a strictly feasible dual point")
            return


def _matched(sdp: SDP, rows: list[Rows]) -> Iterator[dict[str, Array]]:
    """Multiples of the signs of A(I), within the prices of slack."""
    signs = {r.label: np.sign(_traces(sdp, r)) for r in rows}
    if not any(np.any(sign) for sign in signs.values()):
        return
    box = dual_box(sdp) or {}
    uppers = np.concatenate([np.zeros(0), *(upper for _, upper in box.values())])
    prices = uppers[np.isfinite(uppers) & (uppers > 0.0)]
    costs = [size(sdp.cost(v.name)) for v in sdp.psd_variables]
    unit = float(np.max(prices)) if prices.size else max(costs, default=0.0) or 1.0
    for height in _HEIGHTS:
        yield within(box, {label: height * unit * sign for label, sign in signs.items()})


def _traces(sdp: SDP, rows: Rows) -> Array:
    """The rows at the identity."""
    total = np.zeros(rows.m)
    for v in sdp.psd_variables:
        if v.name in rows.lhs:
            entries = rows.lhs[v.name].matrix().tocoo()
            i, j = svec_pairs(entries.col)
            total += np.bincount(entries.row, np.where(i == j, entries.data, 0.0), rows.m)
    return total


def direction(sdp: SDP) -> Move | None:
    """Multipliers v with A*(v) positive definite on every face; None where none were found."""
    system = _system(sdp, visible_rows(sdp))
    return None if system is None else _along(sdp, system)


def distance(sdp: SDP, y: Duals, move: Move) -> float:
    """The smallest t that makes all dual slack non-negative, up to rounding; infinite if none."""
    t = 0.0
    for v in sdp.psd_variables:
        null = null_vectors(sdp, v.name)
        slack, mass = sdp.dual_slack(v.name, y), _slack(sdp, v.name, move)
        try:
            t = max(t, -smallest_eigenvalue(slack, null, mass)[0])
        except ArithmeticError:
            return float("inf")
    for w in sdp.vector_variables:
        if w.nonnegative:
            s, towards = np.asarray(sdp.dual_slack(w.name, y)), _slack(sdp, w.name, move)
            low = s < 0.0
            t = max(t, float(np.max(-s[low] / towards[low].clip(1e-300), initial=0.0)))
    return t


def _system(sdp: SDP, rows: list[Rows], step: Step = lambda: None) -> _MultiplierSystem | None:
    """The least squares problem; None where it would be too large, or of free scalars alone."""
    too_large = sum(v.size for v in sdp.psd_variables) > LARGEST
    return None if too_large or not rows or not _signed(sdp) else _MultiplierSystem(sdp, rows, step)


def _signed(sdp: SDP) -> list[Variable]:
    """The variables whose dual slack has a sign to keep."""
    return [v for v in sdp.variables if v.is_signed]


def _along(sdp: SDP, system: _MultiplierSystem) -> Move | None:
    along = system.solve(1.0, with_cost=False)
    if not _is_interior(sdp, along, with_cost=False):
        return None
    return Move(along, False, "multipliers shifted along rows that limit the trace")


def reach(sdp: SDP, y: Duals, move: Move) -> float:
    """How far along a direction its slack is as large as that of y: the unit of small steps."""
    parts = [(sdp.dual_slack(v.name, y), _slack(sdp, v.name, move)) for v in sdp.variables]
    sizes = [(size(here), size(there)) for here, there in parts]
    return max((here / there for here, there in sizes if there > 0.0), default=0.0)


def size(slack: Matrix) -> float:
    """The size of the slack of scalars, or of the diagonal of a matrix."""
    entries = slack if np.ndim(slack) == 1 else slack.diagonal()
    return float(np.max(np.abs(entries), initial=0.0))


def _slack(sdp: SDP, name: str, move: Move) -> Matrix:
    if move.is_point:
        return sdp.dual_slack(name, move.by)
    cost = sdp.cost(name)
    if isinstance(cost, Outer):
        # What it keeps apart would not cancel, and leave a matrix dense that is sparse.
        return sdp.weighted(name, move.by)
    # Weights that are rounding beside the cost vanish so.
    return sdp.dual_slack(name, move.by) - cost


def _is_interior(sdp: SDP, y: Duals, with_cost: bool = True) -> bool:
    move = Move(y, with_cost, "")
    for v in sdp.psd_variables:
        if not is_mass(_slack(sdp, v.name, move), null_vectors(sdp, v.name)):
            return False
    for w in sdp.vector_variables:
        s = np.asarray(_slack(sdp, w.name, move))
        if w.nonnegative and np.any(s < 0.0):
            return False
        if w.is_free:
            terms = np.abs(sdp.cost(w.name))
            terms = terms + sum(adjoint_magnitude(a, u) for a, u in sdp.column(w.name, y))
            if np.any(np.abs(s) > 1e-10 * terms):
                return False
    return True


class _MultiplierSystem:
    """Least squares for multipliers whose slack is a multiple of the identity."""

    def __init__(self, sdp: SDP, rows: list[Rows], step: Step) -> None:
        self._rows, self._step = rows, step
        priced = _signed(sdp)
        self._matrix = sp.csr_array(columns_of(rows, priced).T)
        self._target = np.concatenate([_identity(sdp, v) for v in priced])
        sizes = [np.full(v.size, isinstance(v, PsdVariable)) for v in priced]
        self._in_matrices = np.concatenate(sizes)
        self._box = dual_box(sdp) or {}
        self._cost = np.concatenate([v.coordinates(sdp.cost(v.name)) for v in priced])
        self._free, self._free_cost = free_columns(sdp, rows)
        self.scale = float(np.max(np.abs(self._cost), initial=0.0)) or 1.0

    def solve(self, height: float, with_cost: bool, share: float = 1.0) -> dict[str, Array]:
        """Multipliers with A*(v) = height I, or C + A*(y) = height I, nearly.

        The slack of scalars is to be ``share`` of that height.
        """
        cost, equations = (self._cost, -self._free_cost) if with_cost else (0.0, 0.0)
        target = height * np.where(self._in_matrices, 1.0, share) * self._target - cost
        right = equations + np.zeros(self._free.shape[1])
        start = project(self._free, right, np.zeros(self._free.shape[0]))
        weight = _FREE_WEIGHT * float(abs(self._matrix).max())
        stacked = sp.vstack([self._matrix, weight * self._free.T], format="csr")
        residual = np.concatenate([target - self._matrix @ start, np.zeros(right.size)])
        away = _least_squares(stacked, residual, self._step)
        found = unstack(self._rows, project(self._free, right, start + away))
        return within(self._box, found)


def _least_squares(matrix: sp.csr_array, right: Array, step: Step) -> Array:
    """The shortest solution of least squares."""
    step()
    if np.prod(matrix.shape) <= _DENSE:
        # Iterations of small sparse products take longer than an elimination.
        return np.asarray(sl.lstsq(matrix.toarray(), right, cond=_RANK, lapack_driver="gelsy")[0])
    transposed = matrix.T

    def product_of(x: Array) -> Array:
        step()
        return np.asarray(matrix @ x)

    products = spl.LinearOperator(
        matrix.shape, matvec=product_of, rmatvec=lambda y: transposed @ y, dtype=float
    )
    return np.asarray(spl.lsqr(products, right, atol=1e-13, btol=1e-13, iter_lim=_ITERATIONS)[0])


def _identity(sdp: SDP, v: Variable) -> Array:
    """The identity on the face, as a vector."""
    if not isinstance(v, PsdVariable):
        return np.ones(v.size)
    q = np.linalg.qr(null_vectors(sdp, v.name).toarray())[0]
    return svec(np.eye(v.n) - q @ q.T)
