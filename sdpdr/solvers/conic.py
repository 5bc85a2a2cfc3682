r"""Clarabel without a modelling language between: the standard form is what it solves.

.. math::  \min\ q^T x + \tfrac12 x^T P x \quad\text{s.t.}\quad A x + s = b, \quad s \in K,

with rows of A for equations, half-lines and matrices, in this order; its matrices are those of
`svec`. A compiler would take longer over a small program than Clarabel does.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import clarabel
import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array, Index
from sdpdr.linalg.svec import smat
from sdpdr.program.point import Point, PsdVariable, Variable
from sdpdr.program.run import Claim, Verdict
from sdpdr.program.sdp import SDP, Expression
from sdpdr.solvers.base import Outcome

# Clarabel's words, in ours and in those of cvxpy, whose users know them.
_SAID = {
    "Solved": (Verdict.SOLVED, "optimal"),
    "AlmostSolved": (Verdict.INACCURATE, "optimal_inaccurate"),
    "NumericalError": (Verdict.INACCURATE, "optimal_inaccurate"),
    "InsufficientProgress": (Verdict.INACCURATE, "optimal_inaccurate"),
    "PrimalInfeasible": (Verdict.INFEASIBLE, "infeasible"),
    "AlmostPrimalInfeasible": (Verdict.INFEASIBLE, "infeasible_inaccurate"),
    "DualInfeasible": (Verdict.UNBOUNDED, "unbounded"),
    "AlmostDualInfeasible": (Verdict.UNBOUNDED, "unbounded_inaccurate"),
    "MaxIterations": (Verdict.ITERATION_LIMIT, "user_limit"),
    "MaxTime": (Verdict.TIME_LIMIT, "user_limit"),
}
_REGULARIZED = {"static_regularization_constant": 1e-7}


class ConicForm:
    """A program as Clarabel takes it, and the way back.

    Parameters
    ----------
    sdp : SDP
    """

    def __init__(self, sdp: SDP) -> None:
        self.sdp = sdp
        ends = np.cumsum([0, *(v.size for v in sdp.variables)]).tolist()
        self._columns = {v.name: slice(*ends[i : i + 2]) for i, v in enumerate(sdp.variables)}
        self._width = ends[-1]
        nothing = np.zeros(0, dtype=np.int64)
        self._entries: list[tuple[Array, Index, Index]] = [(np.zeros(0), nothing, nothing)]
        self._right: list[Array] = []
        self._places: dict[str, slice] = {}
        self._count = 0
        self.cones: list[Any] = []
        self._linear("==", clarabel.ZeroConeT)
        self._linear("<=", clarabel.NonnegativeConeT)
        for v in sdp.psd_variables:
            self._is_itself(v)
            self.cones.append(clarabel.PSDTriangleConeT(v.n))
        for lmi in sdp.lmis:
            self._places[lmi.label] = self._add(lmi.lhs, lmi.constant, -1.0)
            self.cones.append(clarabel.PSDTriangleConeT(lmi.order))

    def _linear(self, relation: str, cone: Any) -> None:
        begin = self._count
        if relation == "<=":
            for w in self.sdp.vector_variables:
                if w.nonnegative:
                    self._is_itself(w)
        for r in self.sdp.rows:
            if r.relation == relation:
                self._places[r.label] = self._add(r.lhs, r.rhs)
        if self._count > begin:
            self.cones.append(cone(self._count - begin))

    def _is_itself(self, v: Variable) -> None:
        """Rows that say that a variable lies in its cone."""
        column, place = self._columns[v.name], self._next(np.zeros(v.size))
        entries = np.arange(place.start, place.stop), np.arange(column.start, column.stop)
        self._entries.append((np.full(v.size, -1.0), *entries))

    def _add(self, lhs: Expression, right: Array, sign: float = 1.0) -> slice:
        place = self._next(right)
        for name, linear_map in lhs.items():
            matrix = linear_map.matrix()
            row = np.repeat(np.arange(place.start, place.stop), np.diff(matrix.indptr))
            column = matrix.indices + self._columns[name].start
            self._entries.append((sign * matrix.data, row, column))
        return place

    def _next(self, right: Array) -> slice:
        place = slice(self._count, self._count + right.size)
        self._right.append(right)
        self._count = place.stop
        return place

    def solve(self, options: Mapping[str, Any], *, verbose: bool) -> Outcome:
        """Have Clarabel solve it.

        Parameters
        ----------
        options : mapping
            Of Clarabel, by its own names.
        verbose : bool
        """
        start = time.perf_counter()
        settings = clarabel.DefaultSettings()
        settings.verbose = verbose
        data, row, column = (np.concatenate(part) for part in zip(*self._entries, strict=True))
        right = np.concatenate([np.zeros(0), *self._right])
        curvature, cost = self._objective()
        ready = time.perf_counter()
        matrix = sp.csc_matrix((data, (row, column)), shape=(self._count, self._width))
        # Where rows nearly depend on each other, Clarabel's factorization may break down at once;
        # with more regularization it does not.
        for more in ({}, _REGULARIZED):
            for name, value in {**more, **options}.items():
                setattr(settings, name, value)
            solver = clarabel.DefaultSolver(curvature, cost, matrix, right, self.cones, settings)
            found = solver.solve()
            if str(found.status) != "NumericalError":
                break
        seconds = {"compile": ready - start, "solve": time.perf_counter() - ready}
        verdict, words = _SAID.get(str(found.status), (Verdict.FAILED, "solver_error"))
        value = float(found.obj_val) + self.sdp.constant
        claim = Claim(words, value if np.isfinite(value) else None, int(found.iterations))
        return Outcome(self._point(found, verdict), verdict, claim, seconds)

    def _objective(self) -> tuple[Any, Array]:
        curvature, cost = np.zeros(self._width), np.zeros(self._width)
        for name, linear_map in self.sdp.objective.items():
            cost[self._columns[name]] = linear_map.matrix().toarray().ravel()
        for w in self.sdp.vector_variables:
            if w.curvature is not None:
                curvature[self._columns[w.name]] = w.curvature
        curved = np.flatnonzero(curvature)
        starts = np.searchsorted(curved, np.arange(self._width + 1))
        diagonal = (curvature[curved], curved, starts)
        return sp.csc_matrix(diagonal, shape=(self._width, self._width)), cost

    def _point(self, found: Any, verdict: Verdict) -> Point:
        """Values and multipliers; of a program without points, those that say why."""
        x, z = np.asarray(found.x, dtype=float), np.asarray(found.z, dtype=float)
        duals = {r.label: z[self._places[r.label]] for r in self.sdp.rows}
        duals |= {lmi.label: smat(z[self._places[lmi.label]]) for lmi in self.sdp.lmis}
        if verdict in (Verdict.INFEASIBLE, Verdict.UNBOUNDED):
            return Point({}, duals if verdict is Verdict.INFEASIBLE else {})
        values = {v.name: _shaped(v, x[self._columns[v.name]]) for v in self.sdp.variables}
        return Point(values, duals)


def _shaped(variable: Variable, x: Array) -> Array:
    return smat(x) if isinstance(variable, PsdVariable) else x
