"""Problems of cvxpy as programs over a product of cones, for the kernel that proves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import cvxpy as cp
import cvxpy.settings as names
import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array, Index, Matrix
from sdpdr.base.errors import DataTypeError, ModelError, NotAcceptedError
from sdpdr.certify.flat import (
    EXPONENTIAL,
    KINDS,
    NONNEGATIVE,
    POWER,
    SECOND_ORDER,
    SEMIDEFINITE,
    FlatProgram,
    Piece,
    build,
)
from sdpdr.certify.products import product
from sdpdr.model.conic.interface import ConesOnly, columns_of
from sdpdr.model.conic.pieces import AUXILIARY
from sdpdr.model.conic.problem import final_labels


class _FlatInterface(ConesOnly):
    """Every cone that cvxpy knows, and nothing but cones."""

    SUPPORTED_CONSTRAINTS: ClassVar[list[type]] = [
        *ConesOnly.SUPPORTED_CONSTRAINTS,
        cp.constraints.ExpCone,
        cp.constraints.PowCone3D,
    ]


@dataclass(frozen=True, eq=False)
class FlatProblem:
    """A problem of cvxpy, flat.

    Attributes
    ----------
    program : FlatProgram
        Its minimisation.
    maximize : bool
        Whether the person maximises the negative of that.
    constraints : mapping from label to array of int
        Where rows of the problem's own constraints are among equations, and then cones.
    variables : mapping from name to array of int
        Where the problem's own variables are among the unknowns; symmetric ones by triangles.
    """

    program: FlatProgram
    maximize: bool
    constraints: Mapping[str, Index]
    variables: Mapping[str, Index]


def flat_problem(problem: Any) -> FlatProblem:
    """A cvxpy problem as a program over a product of cones.

    Parameters
    ----------
    problem : cvxpy.Problem
        Convex by its rules; parameters have values, and nothing is an integer.

    Raises
    ------
    DataTypeError, NotAcceptedError, ModelError
        If it is no problem, none that cones describe, or has coefficients that are not finite.

    Examples
    --------
    >>> x = cp.Variable(2)
    >>> flat = flat_problem(cp.Problem(cp.Maximize(cp.sum(cp.entr(x))), [x <= 1]))
    >>> [kind for kind, *_ in flat.program.parts], flat.maximize
    (['nonnegative', 'exponential', 'exponential'], True)
    """
    _require_convex(problem)
    if not problem.variables():
        raise NotAcceptedError("the problem has no variables, so there is nothing to prove.")
    try:
        data, _, inverse = problem.get_problem_data(_FlatInterface())
    except cp.SolverError as error:
        raise NotAcceptedError(f"cvxpy finds no way to write the problem: {error}") from error
    columns = columns_of(data[names.PARAM_PROB], {v.id: v.name() for v in problem.variables()})
    variables = {one.name: one.place for one in columns if one.name != AUXILIARY}
    program, constraints = _program(data, final_labels(problem, inverse))
    is_maximization = isinstance(problem.objective, cp.Maximize)
    return FlatProblem(program, is_maximization, constraints, variables)


def _require_convex(problem: Any) -> None:
    if not isinstance(problem, cp.Problem):
        raise DataTypeError(
            f"there is no problem in {type(problem).__name__!r}: pass a cvxpy.Problem."
        )
    if problem.is_mixed_integer():
        raise NotAcceptedError(
            "variables of the problem are integers, and no bound of ours is about integers: leave "
            "integer=True and boolean=True out, for what is proved of the relaxation."
        )
    unset = [p.name() for p in problem.parameters() if p.value is None]
    if unset:
        raise NotAcceptedError(f"parameters have no values: set those of {', '.join(unset)}.")
    if not problem.is_dcp():
        raise NotAcceptedError(
            "the problem is not convex by cvxpy's rules: problem.is_dcp() is False. Write it by "
            "functions that are convex where they have to be."
        )


def _program(
    data: Mapping[str, Any], labels: Mapping[int, str]
) -> tuple[FlatProgram, dict[str, Index]]:
    """The program, and where constraints with labels are among its rows."""
    stuffed, A = data[names.PARAM_PROB], sp.csr_array(data[names.A])
    b, c = np.asarray(data[names.B], dtype=float), np.asarray(data[names.C], dtype=float)
    for found, what in ((A.data, "a constraint"), (b, "a constraint"), (c, "the objective")):
        if not np.all(np.isfinite(found)):
            raise ModelError(f"a coefficient of {what} is not finite; it must be a number.")
    pieces, equations, begin = list[Piece](), [np.arange(0)], 0
    owners, places = list[int](), dict[int, list[Index]]()
    for constraint in stuffed.constraints:
        rows = np.arange(begin, begin + constraint.size)
        begin += constraint.size
        if isinstance(constraint, cp.constraints.Zero):
            first = sum(part.size for part in equations)
            places.setdefault(constraint.id, []).append(first + np.arange(rows.size))
            equations.append(rows)
        else:
            made = _pieces(constraint, rows, A, b)
            pieces += made
            owners += [constraint.id] * len(made)
    equal = np.concatenate(equations)
    # As `build` orders them.
    at = equal.size
    for k in sorted(range(len(pieces)), key=lambda k: KINDS.index(pieces[k].kind)):
        places.setdefault(owners[k], []).append(at + np.arange(pieces[k].b.size))
        at += pieces[k].b.size
    program = build(c, A[equal], b[equal], pieces, float(data[names.OFFSET]))
    return program, {
        labels[one]: np.concatenate(rows) for one, rows in places.items() if one in labels
    }


def _pieces(constraint: Any, rows: Index, A: sp.csr_array, b: Array) -> list[Piece]:
    """The cones of one constraint; cvxpy stacks parts of one kind, not cones."""
    if isinstance(constraint, cp.constraints.NonNeg):
        return [Piece(NONNEGATIVE, 1.0, A[rows], b[rows])]
    if isinstance(constraint, cp.SOC):
        count = constraint.num_cones()
        each = np.column_stack([rows[:count], rows[count:].reshape(count, -1)])
        return [Piece(SECOND_ORDER, float(one.size), A[one], b[one]) for one in each]
    if isinstance(constraint, cp.constraints.ExpCone):
        return [Piece(EXPONENTIAL, 3.0, A[one], b[one]) for one in rows.reshape(3, -1).T]
    if isinstance(constraint, cp.constraints.PowCone3D):
        exponents = np.ravel(constraint.alpha.value, order="F")
        each = rows.reshape(3, -1).T
        return [
            Piece(POWER, float(a), A[one], b[one]) for a, one in zip(exponents, each, strict=True)
        ]
    order = constraint.args[0].shape[-1]
    # Matrices that came in a batch alternate, entry by entry.
    return [_matrix(order, one, A, b) for one in rows.reshape(order * order, -1).T]


def _matrix(order: int, rows: Index, A: sp.csr_array, b: Array) -> Piece:
    """The triangle of the symmetric part."""
    j, i = np.tril_indices(order)
    upper, lower = rows[j * order + i], rows[i * order + j]
    one, other = (
        sp.hstack([A[k], sp.csr_array(b[k][:, None])], format="csr") for k in (upper, lower)
    )
    if (one - other).count_nonzero():
        one = _mean(one, other)
    return Piece(SEMIDEFINITE, float(order), one[:, :-1], one[:, [-1]].toarray().ravel())


def _mean(one: Matrix, other: Matrix) -> sp.csr_array:
    halves = 0.5 * sp.eye_array(one.shape[0])
    mean, radius = product(sp.hstack([halves, halves]), sp.vstack([one, other]))
    if radius is not None:
        raise NotAcceptedError(
            "a matrix that is to be positive semidefinite is not symmetric, and its symmetric part "
            "has entries that are no doubles: write the symmetric part itself, (M + M.T) / 2."
        )
    return mean
