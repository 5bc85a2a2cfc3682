"""The answer stored in a cvxpy problem, as vectors of its flat program, and the way back.

cvxpy stores the values of the problem's own variables and the dual values of its own constraints.
Canonicalization adds variables and constraints, and attributes such as ``nonneg=True`` become
constraints, too; their values are not stored, and are ``nan`` here.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import cvxpy as cp
import numpy as np
import scipy.sparse as sp
from cvxpy.reductions.complex2real.complex2real import Complex2Real
from cvxpy.reductions.cvx_attr2constr import CvxAttr2Constr, lower_value
from cvxpy.reductions.solution import Solution as CvxpySolution

from sdpdr.base.arrays import Array, Index
from sdpdr.model.conic.canonical import OTHER_CONES, Canonicalized, rows_of
from sdpdr.model.conic.flat import FlatProblem, stacked_multipliers
from sdpdr.model.conic.labels import final_identity, labels_of, names_of
from sdpdr.program.point import Value
from sdpdr.program.ray import Ray


def kept_value(variable: Any) -> Array | None:
    """The value of a variable, dense; None if it has none.

    Parameters
    ----------
    variable : cvxpy.Variable
    """
    is_sparse = bool(variable.attributes.get("sparsity"))
    value = variable.value_sparse if is_sparse else variable.value
    return None if value is None else np.asarray(as_dense_array(value))


def missed_attribute(variable: Any) -> str:
    """The attribute of a variable that its value violates; empty if it violates none.

    Programs read one triangle of a symmetric matrix, and the diagonal of a diagonal one.

    Parameters
    ----------
    variable : cvxpy.Variable

    Examples
    --------
    >>> X = cp.Variable((2, 2), PSD=True)
    >>> X.save_value(np.array([[1.0, 0.0], [9.0, 1.0]]))
    >>> missed_attribute(X)
    'symmetric'
    """
    value, attributes = kept_value(variable), variable.attributes
    if value is None:
        return ""
    if variable.is_imag() and np.any(np.real(value)):
        return "imaginary"
    if value.ndim < 2:
        return ""
    if attributes["diag"]:
        return "" if np.array_equal(value, np.diag(np.diag(value))) else "diagonal"
    if not variable.is_hermitian():
        return ""
    is_equal = np.array_equal(value, np.conj(np.swapaxes(value, -2, -1)))
    return "" if is_equal else "Hermitian" if variable.is_complex() else "symmetric"


class KeptPoint(NamedTuple):
    """The point stored in a cvxpy problem.

    Attributes
    ----------
    x : array
        The unknowns of the program over cones; ``nan`` if cvxpy stores no value.
    is_whole : bool
        Whether all variables of the problem have values, and x contains them.
    """

    x: Array
    is_whole: bool


def kept_point(made: Canonicalized) -> KeptPoint:
    """The stored values of the unknowns, and ``nan`` for the others.

    Parameters
    ----------
    made : Canonicalized

    Examples
    --------
    >>> from sdpdr.model.conic.flat import flat_problem
    >>> x = cp.Variable(2, nonneg=True)
    >>> x.value = np.array([3.0, 4.0])
    >>> kept_point(flat_problem(cp.Problem(cp.Minimize(cp.sum(x)))))
    KeptPoint(x=array([3., 4.]), is_whole=True)
    """
    x, is_whole = np.full(made.stuffed.x.size, np.nan), True
    for variable in made.problem.variables():
        value = kept_value(variable)
        if value is None or (np.iscomplexobj(value) and not variable.is_complex()):
            is_whole = False
            continue
        for lowered, numbers in _lowered(made, variable, value):
            first = made.stuffed.var_id_to_col.get(lowered)
            is_known = first is not None and bool(np.all(np.isfinite(numbers)))
            is_whole &= is_known
            if first is not None:
                x[first : first + numbers.size] = np.ravel(numbers, order="F")
    return KeptPoint(np.where(np.isfinite(x), x, np.nan), is_whole)


def _lowered(made: Canonicalized, variable: Any, value: Array) -> Iterator[tuple[int, Array]]:
    """The identities and values of the variables that a variable becomes in the program."""
    parts: dict[int, Any] = {variable.id: value}
    for reduction, inverse in made.steps:
        # Versions of cvxpy before 1.8 do not split values into real and imaginary parts.
        if isinstance(reduction, Complex2Real) and hasattr(reduction, "var_backward"):
            parts = reduction.var_backward(parts)
        if isinstance(reduction, CvxAttr2Constr) and inverse:
            new, old = inverse[:2]
            parts = {
                new[k].id if k in new else k: lower_value(old[k], part) if k in new else part
                for k, part in parts.items()
            }
    return ((k, np.asarray(as_dense_array(part))) for k, part in parts.items())


def kept_multipliers(flat: FlatProblem) -> Array:
    """The multipliers that cvxpy stores as dual values, and ``nan`` for the others.

    Parameters
    ----------
    flat : FlatProblem

    Examples
    --------
    >>> from sdpdr.model.conic.flat import flat_problem
    >>> x = cp.Variable(2, nonneg=True)
    >>> problem = cp.Problem(cp.Minimize(x[0] + 2 * x[1]), [cp.sum(x) >= 1])
    >>> _ = problem.solve(solver=cp.CLARABEL)
    >>> kept_multipliers(flat_problem(problem)).round(6)
    array([nan, nan,  1.])
    """
    # A cone without rows of cvxpy needs no multiplier.
    return np.asarray(flat.rows @ kept_dual_values(flat))


def kept_dual_values(made: Canonicalized) -> Array:
    """The stored dual values by row of the program over cones; ``nan`` for other rows.

    Parameters
    ----------
    made : Canonicalized
    """
    z = np.full(sum(c.size for c in made.stuffed.constraints), np.nan)
    by_id = {c.id: rows for c, rows in _rows_in_order(made)}
    for constraint in made.problem.constraints:
        rows = by_id.get(_final_id(made, constraint))
        values = [dual.value for dual in constraint.dual_variables]
        if rows is None or any(value is None for value in values):
            continue
        numbers = _in_order(constraint, [np.asarray(value) for value in values])
        if numbers is None or np.iscomplexobj(numbers):
            continue
        if numbers.size == rows.size:
            z[rows] = numbers
    return np.where(np.isfinite(z), z, np.nan)


def values_of(flat: FlatProblem, x: Array) -> dict[str, Array]:
    """Values of the problem's own variables, by name.

    Parameters
    ----------
    flat : FlatProblem
    x : array
        The unknowns of its program.
    """
    found = _inverted(flat, x, np.full(flat.rows.shape[1], np.nan)).primal_vars
    return {
        name: np.asarray(as_dense_array(found[v.id]))
        for v, name in names_of(flat.problem).items()
        if found.get(v.id) is not None
    }


def shapes_of(problem: Any) -> dict[str, tuple[int, ...]]:
    """Shapes of the variables that a `Solution` keeps as rows, all but symmetric matrices.

    Parameters
    ----------
    problem : cvxpy.Problem
    """
    named = names_of(problem).items()
    return {name: v.shape for v, name in named if not v.is_symmetric() or v.ndim < 2}


def as_rows(values: Mapping[str, Array], shapes: Container[str]) -> dict[str, Array]:
    """Values as a `Solution` keeps them: rows if they have shapes, and symmetric matrices."""
    return {name: x.ravel() if name in shapes else x for name, x in values.items()}


def duals_of(flat: FlatProblem, z: Array) -> dict[str, Array]:
    """Multipliers of the problem's own constraints, with cvxpy's signs, by their labels.

    Those of a cone with several parts are one array.

    Parameters
    ----------
    flat : FlatProblem
    z : array
        Multipliers of its program.
    """
    found, labels = _multipliers_of(flat, z), labels_of(flat.problem)
    return {label: np.atleast_1d(found[c.id]) for c, label in labels if c.id in found}


def dual_values_of(flat: FlatProblem, z: Array) -> dict[str, Any]:
    """What `duals_of` returns, as cvxpy would store it in the constraints."""
    return dual_values(flat.problem, _multipliers_of(flat, z))


def dual_values(problem: Any, found: Mapping[int, Any]) -> dict[str, Any]:
    """Dual values of a problem's constraints, by their labels, from what cvxpy would store.

    Parameters
    ----------
    problem : cvxpy.Problem
    found : mapping
        Multipliers by the identities of constraints.
    """
    return {label: _dual_value(c, found[c.id]) for c, label in labels_of(problem) if c.id in found}


def _dual_value(constraint: Any, found: Any) -> Any:
    """The multipliers as ``constraint.dual_value``, which stays as it is."""
    if len(constraint.dual_variables) == 1:
        return np.asarray(found)
    # Cones divide what they store among their parts.
    other = constraint.copy()
    other.save_dual_value(found)
    return other.dual_value


def _multipliers_of(flat: FlatProblem, z: Array) -> Mapping[int, Any]:
    """Multipliers by the identities of the problem's constraints, from those of its program."""
    stacked = stacked_multipliers(flat.rows, z)
    duals: Mapping[int, Any] = _inverted(flat, np.zeros(flat.program.c.size), stacked).dual_vars
    return duals


def ray_of(flat: FlatProblem, ray: Ray | None) -> Ray | None:
    """A proof of infeasible or unbounded by the names of the problem's constraints and variables.

    Parameters
    ----------
    flat : FlatProblem
    ray : Ray or None
        That of its program: multipliers called "z", or a direction called "x".

    Examples
    --------
    >>> from sdpdr.model.conic.flat import flat_problem
    >>> x = cp.Variable(name="x")
    >>> flat = flat_problem(cp.Problem(cp.Minimize(x), [x >= 1, x <= 0]))
    >>> z = Ray("infeasible", 0.0, "", duals={"z": np.ones(2)})
    >>> list(ray_of(flat, z).duals)
    ['1.0 <= x', 'x <= 0.0']
    """
    if ray is None:
        return None
    duals = duals_of(flat, np.asarray(ray.duals["z"])) if ray.duals else {}
    values: dict[str, Value] = {}
    if ray.values:
        start = values_of(flat, np.zeros(flat.program.c.size))
        ends = values_of(flat, np.asarray(ray.values["x"]))
        values = {name: ends[name] - start[name] for name in ends}
    return replace(ray, duals=duals, values=values)


def constraint_of_rows(flat: FlatProblem) -> list[str]:
    """A description of the constraint that each row of the program belongs to, equations first.

    Parameters
    ----------
    flat : FlatProblem
    """
    stacked = np.full(flat.rows.shape[1], "an attribute of a variable", dtype=object)
    by_id = {c.id: rows for c, rows in _rows_in_order(flat)}
    for k, constraint in enumerate(flat.problem.constraints):
        stacked[by_id.get(_final_id(flat, constraint), [])] = f"constraints[{k}] ({constraint})"
    first = flat.rows.indices[np.minimum(flat.rows.indptr[:-1], flat.rows.nnz - 1)]
    return [str(words) for words in stacked[first]]


def _final_id(made: Canonicalized, constraint: Any) -> int:
    """The identity of a constraint in the program over cones."""
    return final_identity(constraint.id, (inverse for _, inverse in made.steps))


def as_dense_array(value: Any) -> Any:
    """A matrix as a dense array."""
    return value.toarray() if sp.issparse(value) else value


def _rows_in_order(made: Canonicalized) -> Iterator[tuple[Any, Index]]:
    """Constraints of the program over cones with their rows, cone by cone."""
    return ((c, rows.ravel()) for c, rows in rows_of(made.stuffed.constraints))


def _in_order(constraint: Any, values: list[Array]) -> Array | None:
    """Dual values of a constraint in the order of its rows, cone by cone."""
    if isinstance(constraint, cp.SOC):
        bounds, body = values
        body = body.T if constraint.axis == 0 else body
        return np.column_stack([bounds.ravel(), body.reshape(bounds.size, -1)]).ravel()
    if isinstance(constraint, OTHER_CONES):
        return np.column_stack([np.ravel(value, order="F") for value in values]).ravel()
    return np.ravel(values[0], order="F") if len(values) == 1 else None


def _inverted(flat: FlatProblem, x: Array, stacked: Array) -> Any:
    """The solution of the problem that cvxpy's inversions make of a point and multipliers."""
    duals = {
        c.id: stacked[rows].item() if rows.size == 1 else stacked[rows]
        for c, rows in _rows_in_order(flat)
    }
    found = CvxpySolution(cp.OPTIMAL, 0.0, {flat.stuffed.x.id: x}, duals, {})
    for reduction, inverse in reversed(flat.steps):
        found = reduction.invert(found, inverse)
    return found
