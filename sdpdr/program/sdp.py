r"""The solver-neutral standard form.

.. math::

    \min\ & \textstyle\sum_k \langle C_k, X_k\rangle + c^T z + \tfrac12 z^T Q z + c_0 \\
    \text{s.t. } & \textstyle\sum_k A_k(X_k) + B z \ (=, \le)\ b, \qquad
      \sum_k G_k(X_k) + H z + g \succeq 0, \\
    & X_k \succeq 0, \quad z \text{ free or } \ge 0, \quad Q \text{ diagonal.}

Every group of rows carries the label of the block it came from and keeps its structured maps.

Its dual, with multipliers y (:math:`y \ge 0` on the rows with :math:`\le`) and
:math:`Z \succeq 0` for the matrix inequalities, is

.. math::

    \max\ & -b^T y - \langle g, Z\rangle - \tfrac12 u^T Q^{-1} u + c_0 \\
    \text{s.t. } & S_k = C_k + A_k^*(y) - G_k^*(Z) \succeq 0, \qquad
      s = c + B^T y - H^* Z,

where s vanishes for free scalars, is non-negative for non-negative ones, and is the u of the
objective for scalars that have a quadratic cost. A program that a user wrote as a maximisation
is stored negated, with ``maximize=True``; `SDP.report` turns values back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import wraps
from typing import Any, TypeVar, cast

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array, Matrix, as_real
from sdpdr.base.errors import DataTypeError, ModelError, ShapeError
from sdpdr.linalg import InnerProduct, LinearMap, VectorMap, svec_size
from sdpdr.linalg.svec import smat, svec
from sdpdr.program.point import (
    Factor,
    Point,
    PsdVariable,
    Value,
    Variable,
    VectorVariable,
    as_dense,
)
from sdpdr.program.rows import Expression, Lmi, Rows

_Made = TypeVar("_Made")


class Remembering:
    """A dataclass that never changes, and remembers what was made of it."""

    def __getstate__(self) -> dict[str, Any]:
        """The object without what was `remembered`, which need not travel."""
        return {part.name: getattr(self, part.name) for part in fields(cast(Any, self))}

    def remembered(self, make: Callable[[Any], _Made]) -> _Made:
        """The result of a function of the object, which never changes, so it is computed once.

        Parameters
        ----------
        make : callable
            A class or a function of a module, which identifies the result.
        """
        known: dict[Callable[[Any], Any], Any] = self.__dict__.setdefault("_remembered", {})
        if make not in known:
            known[make] = make(self)
        found: _Made = known[make]
        return found


@dataclass(frozen=True, eq=False)
class SDP(Remembering):
    """A semidefinite program in standard form (see the module's text for the mathematics).

    Parameters
    ----------
    variables : tuple of PsdVariable or VectorVariable
    objective : mapping from variable name to a map with one row
        The cost that is minimised.
    rows : tuple of Rows
    lmis : tuple of Lmi
    constant : float, default 0
    maximize : bool, default False
        Whether the user's objective is the negative of the one stored.
    name : str

    Raises
    ------
    DataTypeError
        If the constant is not real, or ``maximize`` neither true nor false.
    ModelError
        If variables or rows share a name, or a right side is not finite.
    ShapeError
        If a map does not fit its variable or its rows.
    """

    variables: tuple[Variable, ...]
    objective: Expression
    rows: tuple[Rows, ...] = ()
    lmis: tuple[Lmi, ...] = ()
    constant: float = 0.0
    maximize: bool = False
    name: str = ""
    _by_name: dict[str, Variable] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._take_over()
        names = [v.name for v in self.variables]
        if len(set(names)) != len(names):
            raise ModelError(f"variable names must differ; they are {names}.")
        object.__setattr__(self, "_by_name", {v.name: v for v in self.variables})
        if len(set(self.labels)) != len(self.labels):
            raise ModelError(f"row labels must differ; they are {self.labels}.")
        self._check("objective", self.objective, 1)
        for r in self.rows:
            self._check(r.label, r.lhs, r.m)
            if not np.isfinite(r.rhs).all():
                e = int(np.flatnonzero(~np.isfinite(r.rhs))[0])
                raise ModelError(
                    f"rows {r.label!r}: the right side of row {e} is {r.rhs[e]}; it must be a "
                    "finite number. Leave a row out to have no limit."
                )
        for lmi in self.lmis:
            self._check(lmi.label, lmi.lhs, svec_size(lmi.order))

    def _take_over(self) -> None:
        """Make of what was given a constant, a sense and collections that no one else holds."""
        constant = as_real(self.constant)
        if constant.shape != ():
            raise ShapeError(f"the objective: its constant must be one number; it is {constant}.")
        if not isinstance(self.maximize, (bool, np.bool_)):
            raise DataTypeError(f"maximize must be True or False; it is {self.maximize!r}.")
        object.__setattr__(self, "constant", float(constant))
        object.__setattr__(self, "maximize", bool(self.maximize))
        object.__setattr__(self, "objective", dict(self.objective))
        for name in ("variables", "rows", "lmis"):
            object.__setattr__(self, name, tuple(getattr(self, name)))

    def _check(self, label: str, expression: Expression, m: int) -> None:
        for name, linear_map in expression.items():
            order = self.variable(name).extents[0]
            if linear_map.n != order or linear_map.m != m:
                raise ShapeError(
                    f"{label}: the map on {name!r} must take order {order} to {m} rows; "
                    f"it takes {linear_map.n} to {linear_map.m}."
                )

    # -- looking inside -----------------------------------------------------------------

    def variable(self, name: str) -> Variable:
        """The variable of that name."""
        try:
            return self._by_name[name]
        except KeyError:
            known = ", ".join(self._by_name) or "none"
            raise ModelError(f"no variable {name!r} in this program (it has: {known}).") from None

    @property
    def psd_variables(self) -> tuple[PsdVariable, ...]:
        """The matrix variables."""
        return tuple(v for v in self.variables if isinstance(v, PsdVariable))

    @property
    def vector_variables(self) -> tuple[VectorVariable, ...]:
        """The scalar variables."""
        return tuple(v for v in self.variables if isinstance(v, VectorVariable))

    @property
    def labels(self) -> list[str]:
        """Labels of all rows and matrix inequalities."""
        return [r.label for r in self.rows] + [lmi.label for lmi in self.lmis]

    @property
    def n_rows(self) -> int:
        """Number of scalar rows."""
        return sum(r.m for r in self.rows)

    def expressions(self) -> Iterator[Expression]:
        """The objective and all left sides."""
        yield self.objective
        yield from (r.lhs for r in self.rows)
        yield from (lmi.lhs for lmi in self.lmis)

    def column(
        self, name: str, duals: Mapping[str, Array]
    ) -> Iterator[tuple[LinearMap | VectorMap, Array]]:
        """The maps on a variable in rows and matrix inequalities that have multipliers, with these.

        Multipliers of a matrix inequality come as the vector ``-svec(Z)``, so that the dual slack
        is the cost and the sum of all adjoints.
        """
        for r in self.rows:
            if name in r.lhs and r.label in duals:
                yield r.lhs[name], duals[r.label]
        for lmi in self.lmis:
            if name in lmi.lhs and lmi.label in duals:
                yield lmi.lhs[name], -svec(duals[lmi.label])

    def is_point(self, values: Mapping[str, Value]) -> bool:
        """Whether all variables have values."""
        return all(v.name in values for v in self.variables)

    def is_dual_point(self, duals: Mapping[str, Array]) -> bool:
        """Whether all rows and matrix inequalities have multipliers."""
        return all(label in duals for label in self.labels)

    def cost(self, name: str) -> Matrix:
        """C_k of a matrix variable (sparse where possible), or c of a vector."""
        variable = self.variable(name)
        if name in self.objective:
            return self.objective[name].adjoint(np.ones(1))
        shape = variable.extents
        return sp.csr_array(shape) if len(shape) == 2 else np.zeros(shape)

    def curvatures(self, places: Mapping[str, slice], size: int) -> Array:
        """The diagonal of the quadratic part of the objective, of scalars at their places."""
        found = np.zeros(size)
        for v in self.vector_variables:
            if v.curvature is not None:
                found[places[v.name]] = v.curvature
        return found

    def with_cost(self, name: str, cost: Matrix | LinearMap) -> SDP:
        """The same program with another cost for one variable (minimisation sense).

        A cost that has structure may be given as a map with one row, and keeps it.
        """
        variable = self.variable(name)
        if isinstance(cost, LinearMap):
            return replace(self, objective={**self.objective, name: cost})
        psd = isinstance(variable, PsdVariable)
        new = InnerProduct(cost) if psd else VectorMap(np.reshape(cost, (1, -1)))
        return replace(self, objective={**self.objective, name: new})

    def rewritten(
        self,
        change: Callable[[Expression], Expression],
        variables: Sequence[Variable] | None = None,
    ) -> SDP:
        """The program in terms of other variables, which is how most reductions begin.

        Parameters
        ----------
        change : callable
            Takes an expression, the maps of variables by name, to one in the new variables. It is
            applied to the objective and to all left sides.
        variables : sequence of Variable, optional
            The new ones; those of the program by default.

        Examples
        --------
        >>> import numpy as np
        >>> from sdpdr.program import PsdVariable, SDP
        >>> from sdpdr.linalg import Trace
        >>> program = SDP((PsdVariable("X", 2),), {"X": Trace(2)})
        >>> narrow = lambda side: {name: a.congruence(np.ones((2, 1))) for name, a in side.items()}
        >>> program.rewritten(narrow, [PsdVariable("X", 1)]).objective["X"].m
        1
        """
        return replace(
            self,
            variables=self.variables if variables is None else tuple(variables),
            objective=change(self.objective),
            rows=tuple(replace(r, lhs=change(r.lhs)) for r in self.rows),
            lmis=tuple(replace(lmi, lhs=change(lmi.lhs)) for lmi in self.lmis),
        )

    def report(self, value: float) -> float:
        """A value of the minimisation in the sense of the user's objective."""
        return -value if self.maximize else value

    def __repr__(self) -> str:
        matrices = ", ".join(f"{v.name}: {v.n}x{v.n}" for v in self.psd_variables)
        scalars = sum(v.size for v in self.vector_variables)
        return (
            f"SDP({self.name or 'unnamed'}; matrices [{matrices}], {scalars} scalars, "
            f"{self.n_rows} rows, {len(self.lmis)} matrix inequalities)"
        )

    # -- evaluating ---------------------------------------------------------------------

    def evaluate(self, expression: Expression, values: Mapping[str, Value], m: int) -> Array:
        """Value of an expression at a point; shape (m,)."""
        total = np.zeros(m)
        for name, linear_map in expression.items():
            value = values[name]
            if isinstance(value, Factor):
                assert isinstance(linear_map, LinearMap)
                total += linear_map.apply_factor(value.factor)
            else:
                total += linear_map.apply(value)
        return total

    def primal_value(self, values: Mapping[str, Value]) -> float:
        """Objective of the minimisation at a point."""
        quadratic = 0.0
        for v in self.vector_variables:
            if v.curvature is not None:
                quadratic += 0.5 * float(v.curvature @ np.square(as_dense(values[v.name])))
        return float(self.evaluate(self.objective, values, 1)[0]) + quadratic + self.constant

    def slack(self, rows: Rows, values: Mapping[str, Value]) -> Array:
        """``rhs - lhs`` of a group of rows at a point."""
        return np.asarray(rows.rhs - self.evaluate(rows.lhs, values, rows.m))

    def missed(self, rows: Rows, values: Mapping[str, Value]) -> Array:
        """By how much rows of a group are missed at a point; zero where they hold."""
        slack = self.slack(rows, values)
        return np.abs(slack) if rows.relation == "==" else np.maximum(-slack, 0.0)

    def lmi_value(self, lmi: Lmi, values: Mapping[str, Value]) -> Array:
        """The matrix that an LMI says is positive semidefinite, at a point."""
        return smat(lmi.constant + self.evaluate(lmi.lhs, values, svec_size(lmi.order)))

    def dual_slack(self, name: str, duals: Mapping[str, Array]) -> Matrix:
        """S_k = C_k + A_k*(y) - G_k*(Z) of a matrix variable, or s of a vector."""
        return self._added(name, self.cost(name), duals)

    def weighted(self, name: str, duals: Mapping[str, Array]) -> Matrix:
        """The dual slack of a matrix variable without the cost, A_k*(y) - G_k*(Z)."""
        n = self.cost(name).shape[0]
        return self._added(name, sp.csr_array((n, n)), duals)

    def _added(self, name: str, cost: Matrix, duals: Mapping[str, Array]) -> Matrix:
        """A cost and the adjoints of the multipliers that are given."""
        total = cost
        for linear_map, y in self.column(name, duals):
            total = total + linear_map.adjoint(y)
        return total

    def dual_value(self, duals: Mapping[str, Array]) -> float:
        """Objective of the dual of the minimisation, whether or not the point is feasible."""
        value = self.constant
        for r in self.rows:
            value -= float(r.rhs @ duals[r.label]) if r.label in duals else 0.0
        for lmi in self.lmis:
            value -= float(lmi.constant @ svec(duals[lmi.label])) if lmi.label in duals else 0.0
        for v in self.vector_variables:
            if v.curvature is not None:
                u = self.dual_slack(v.name, duals)
                value -= 0.5 * float(np.sum(np.square(u) / v.curvature))
        return value

    def zero_point(self) -> Point:
        """A point of zeros in the right shapes, handy for tests and starts."""
        values: dict[str, Value] = {v.name: np.zeros(v.extents) for v in self.variables}
        duals = {r.label: np.zeros(r.m) for r in self.rows}
        duals |= {lmi.label: np.zeros((lmi.order, lmi.order)) for lmi in self.lmis}
        return Point(values, duals)


def remembered(make: Callable[[SDP], _Made]) -> Callable[[SDP], _Made]:
    """A decorator of functions of a program: what they make is remembered with it."""

    @wraps(make)
    def known(sdp: SDP) -> _Made:
        return sdp.remembered(make)

    return known


def without_objective(sdp: SDP) -> SDP:
    """The program without an objective: any feasible point is optimal."""
    variables = tuple(
        replace(v, curvature=None) if isinstance(v, VectorVariable) else v for v in sdp.variables
    )
    return replace(sdp, variables=variables, objective={}, constant=0.0, maximize=False)
