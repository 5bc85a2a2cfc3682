r"""Clarabel without a modelling language between: the standard form is what it solves.

.. math::  \min\ q^T x + \tfrac12 x^T P x \quad\text{s.t.}\quad A x + s = b, \quad s \in K,

with rows of A for equations, half-lines and matrices, in this order; its matrices are those of
`svec`, and those that are arrows are second-order cones (`sdpdr.program.arrows`). A compiler
would take longer over a small program than Clarabel does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array, Index
from sdpdr.base.deadline import Deadline
from sdpdr.certify.standard import standard
from sdpdr.linalg.svec import smat, svec_size
from sdpdr.program.arrows import arrow_labels, head_and_neck, is_seen_as_arrow, unfolded
from sdpdr.program.point import Point, Variable
from sdpdr.program.rows import Expression, Lmi
from sdpdr.program.run import Claim, Verdict
from sdpdr.program.sdp import SDP
from sdpdr.solvers.base import Outcome
from sdpdr.solvers.dense.normal import Data
from sdpdr.solvers.dense.scaling import Cones
from sdpdr.solvers.flat import SAID, call_clarabel, read_answer, run_clarabel

_REGULARIZED = {"static_regularization_constant": 1e-7}


def solve_tiny(sdp: SDP, options: Callable[[], dict[str, Any]], *, verbose: bool) -> Outcome:
    """Have Clarabel solve a tiny program, on its face and in its units, as it will be proved.

    Parameters
    ----------
    sdp : SDP
    options : callable without arguments
        Returns options of Clarabel, by its own names.
    verbose : bool
    """
    form = standard(sdp)
    flat, unit = form.flat, form.units.cost
    run = partial(run_clarabel, flat)
    found, outcome = _outcome(run, options, verbose, lambda value: unit * (value + flat.offset))
    x, _, z, _ = read_answer(flat, found)
    is_solved = outcome.verdict not in (Verdict.INFEASIBLE, Verdict.UNBOUNDED)
    point = Point(
        form.values(x) if is_solved else {},
        {} if outcome.verdict is Verdict.UNBOUNDED else form.duals(z),
    )
    return replace(outcome, point=point)


def _outcome(
    run: Callable[[Mapping[str, Any]], Any],
    options: Callable[[], dict[str, Any]],
    verbose: bool,
    value_of: Callable[[float], float],
) -> tuple[Any, Outcome]:
    """What Clarabel says, and the same as an outcome without a point."""
    watch = Deadline()
    found = run({"verbose": verbose, **options()})
    if str(found.status) == "NumericalError":
        # Where rows nearly depend on each other, Clarabel's factorization may break down at once;
        # with more regularization it does not.
        found = run({"verbose": verbose, **_REGULARIZED, **options()})
    verdict, words = SAID.get(str(found.status), (Verdict.FAILED, "solver_error"))
    value = value_of(float(found.obj_val))
    claim = Claim(words, value if np.isfinite(value) else None, int(found.iterations))
    return found, Outcome(Point(), verdict, claim, {"solve": watch.spent})


class ConicForm:
    """A program as Clarabel takes it, and the way back.

    Parameters
    ----------
    sdp : SDP
    fold : bool, default True
        Whether arrows are second-order cones.

    Attributes
    ----------
    equations, half_lines : int
        Rows of each, which come first.
    matrices : list of pairs
        Orders of matrices, and whether they are arrows.
    """

    def __init__(self, sdp: SDP, *, fold: bool = True) -> None:
        self.sdp = sdp
        variables = sdp.psd_variables if fold else ()
        # Arrows are kept apart, because a variable and a matrix inequality may share a name.
        self._seen = {v.name: v.n for v in variables if is_seen_as_arrow(sdp, v.name, v.n)}
        arrows = arrow_labels(sdp) if fold else ()
        self._limited = {lmi.label: lmi.order for lmi in sdp.lmis if lmi.label in arrows}
        widths = (self._seen.get(v.name, v.size - 1) + 1 for v in sdp.variables)
        ends = np.cumsum([0, *widths]).tolist()
        self._columns = {v.name: slice(*ends[i : i + 2]) for i, v in enumerate(sdp.variables)}
        self._width = ends[-1]
        nothing = np.zeros(0, dtype=np.intp)
        self._entries: list[tuple[Array, Index, Index]] = [(np.zeros(0), nothing, nothing)]
        self._right: list[Array] = []
        self._places: dict[str, slice] = {}
        self._count = 0
        self.equations = self._linear("==")
        self.half_lines = self._linear("<=")
        self.matrices: list[tuple[int, bool]] = []
        for v in sdp.psd_variables:
            self._is_itself(v)
            self.matrices.append((v.n, v.name in self._seen))
        for lmi in sdp.lmis:
            self._places[lmi.label] = self._add_matrix(lmi)
            self.matrices.append((lmi.order, lmi.label in self._limited))

    def _linear(self, relation: str) -> int:
        """Add equations, or all half-lines, and count them."""
        begin = self._count
        if relation == "<=":
            for w in self.sdp.vector_variables:
                if w.nonnegative:
                    self._is_itself(w)
        for r in self.sdp.rows:
            if r.relation == relation:
                self._places[r.label] = self._add(r.lhs, r.rhs)
        return self._count - begin

    def _is_itself(self, v: Variable) -> None:
        """Rows that say that a variable lies in its cone."""
        column = self._columns[v.name]
        size = column.stop - column.start
        place = self._next(np.zeros(size))
        entries = np.arange(place.start, place.stop), np.arange(column.start, column.stop)
        self._entries.append((np.full(size, -1.0), *entries))

    def _add(self, lhs: Expression, right: Array) -> slice:
        place = self._next(right)
        for name, linear_map in lhs.items():
            self._put(name, _entries(linear_map.matrix()), place.start)
        return place

    def _add_matrix(self, lmi: Lmi) -> slice:
        """The rows of a matrix inequality, folded where it is an arrow."""
        order = self._limited.get(lmi.label)
        fold = None if order is None else head_and_neck(order, scaled=True)
        right = lmi.constant if fold is None else fold @ lmi.constant
        place = self._next(right)
        for name, linear_map in lmi.lhs.items():
            matrix = linear_map.matrix()
            if fold is not None:
                matrix = fold @ matrix
            data, row, column = _entries(matrix)
            self._put(name, (-data, row, column), place.start)
        return place

    def _put(self, name: str, entries: tuple[Array, Index, Index], start: int) -> None:
        """Entries on a variable, folded where it is seen as an arrow, from some row on."""
        data, row, column = entries
        if name in self._seen:
            order = self._seen[name]
            turned = (data, (column, row))
            shape = svec_size(order), int(np.max(row, initial=-1)) + 1
            side = head_and_neck(order, scaled=True) @ sp.csr_array(turned, shape=shape)
            data, column, row = _entries(side)
        self._entries.append((data, row + start, column + self._columns[name].start))

    def _next(self, right: Array) -> slice:
        place = slice(self._count, self._count + right.size)
        self._right.append(right.copy())
        self._count = place.stop
        return place

    def handed_over(self) -> tuple[sp.csc_matrix, Array, sp.csc_matrix, Array, list[Any]]:
        """P, q, A, b and the cones, as Clarabel takes them."""
        entries, right = self._system()
        diagonal, cost = self._objective()
        curved = np.flatnonzero(diagonal)
        starts = np.searchsorted(curved, np.arange(self._width + 1))
        curvature = sp.csc_matrix((diagonal[curved], curved, starts), shape=(self._width,) * 2)
        matrix = sp.csc_matrix(entries, shape=(self._count, self._width))
        return curvature, cost, matrix, right, self._cones()

    def solve(self, options: Callable[[], dict[str, Any]], *, verbose: bool) -> Outcome:
        """Have Clarabel solve it.

        Parameters
        ----------
        options : callable without arguments
            Returns options of Clarabel, by its own names; called after the program is compiled,
            which takes time.
        verbose : bool
        """
        run = partial(call_clarabel, self.handed_over())
        found, outcome = _outcome(run, options, verbose, lambda value: value + self.sdp.constant)
        return replace(outcome, point=self.read(found, outcome.verdict))

    def _system(self) -> tuple[tuple[Array, tuple[Index, Index]], Array]:
        """Entries of A with their rows and columns, and b."""
        data, row, column = (np.concatenate(part) for part in zip(*self._entries, strict=True))
        return (data, (row, column)), np.concatenate([np.zeros(0), *self._right])

    def _cones(self) -> list[Any]:
        """The cones as Clarabel's."""
        import clarabel

        linear = (
            (clarabel.ZeroConeT, self.equations),
            (clarabel.NonnegativeConeT, self.half_lines),
        )
        matrices = [
            clarabel.SecondOrderConeT(order + 1) if arrow else clarabel.PSDTriangleConeT(order)
            for order, arrow in self.matrices
        ]
        return [*(cone(size) for cone, size in linear if size), *matrices]

    def data(self) -> Data:
        """The program with all its entries in dense matrices, but for those of cones."""
        entries, right = self._system()
        matrix = sp.csr_array(entries, shape=(self._count, self._width))
        matrix.sort_indices()
        m = self.equations
        curvature, cost = self._objective()
        cones = Cones(self.half_lines, tuple(order for order, _ in self.matrices))
        return Data(cost, curvature, matrix[:m].toarray(), right[:m], -matrix[m:], right[m:], cones)

    def _objective(self) -> tuple[Array, Array]:
        """The diagonal of P, and q."""
        cost = np.zeros(self._width)
        for name, linear_map in self.sdp.objective.items():
            costs = linear_map.matrix().toarray().ravel()
            if name in self._seen:
                costs = head_and_neck(self._seen[name], scaled=True) @ costs
            cost[self._columns[name]] = costs
        return self.sdp.curvatures(self._columns, self._width), cost

    def read(self, found: Any, verdict: Verdict) -> Point:
        """What Clarabel found."""
        z, m = np.asarray(found.z, dtype=float), self.equations
        return as_claimed(self.point(np.asarray(found.x, dtype=float), z[:m], z[m:]), verdict)

    def point(self, x: Array, y: Array, z: Array) -> Point:
        """Values and multipliers.

        Parameters
        ----------
        x, y, z : arrays
            The point, and multipliers of equations and of cones.
        """
        z = np.concatenate([y, z])
        duals = {r.label: z[self._places[r.label]] for r in self.sdp.rows}
        duals |= {
            lmi.label: _matrix(z[self._places[lmi.label]], self._limited.get(lmi.label))
            for lmi in self.sdp.lmis
        }
        values = {v.name: x[self._columns[v.name]] for v in self.sdp.variables}
        values |= {
            v.name: _matrix(values[v.name], self._seen.get(v.name)) for v in self.sdp.psd_variables
        }
        return Point(values, duals)


def as_claimed(point: Point, verdict: Verdict) -> Point:
    """A point and multipliers; of a program without points, the multipliers that say why."""
    if verdict in (Verdict.INFEASIBLE, Verdict.UNBOUNDED):
        return Point({}, point.duals if verdict is Verdict.INFEASIBLE else {})
    return point


def _matrix(numbers: Array, order: int | None) -> Array:
    """A value or a multiplier of a matrix, of what Clarabel has in its place."""
    return smat(numbers) if order is None else unfolded(order, numbers)


def _entries(matrix: sp.csr_array) -> tuple[Array, Index, Index]:
    return (
        matrix.data,
        np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr)),
        matrix.indices,
    )
