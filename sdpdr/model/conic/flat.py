"""Problems of cvxpy as programs over a product of cones, for the proofs of `sdpdr.certify`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import cvxpy as cp
import cvxpy.settings as names
import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array, Index, Matrix
from sdpdr.base.errors import ModelError, NotAcceptedError
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
from sdpdr.model.conic.interface import (
    OTHER_CONES,
    ConesOnly,
    columns_of,
    rows_of,
    without_values,
)
from sdpdr.model.conic.labels import final_labels
from sdpdr.model.conic.pieces import AUXILIARY
from sdpdr.model.conic.refusals import refuse_unreadable


class _FlatInterface(ConesOnly):
    """Accepts every cone of cvxpy, and turns squares into cones."""

    SUPPORTED_CONSTRAINTS: ClassVar[list[type]] = [
        *ConesOnly.SUPPORTED_CONSTRAINTS,
        *OTHER_CONES,
    ]


@dataclass(frozen=True, eq=False)
class FlatProblem:
    """A problem of cvxpy as one flat program.

    Attributes
    ----------
    program : FlatProgram
        The minimisation.
    maximize : bool
        Whether the problem maximises the negative of its objective.
    problem : cvxpy.Problem
    stuffed : cvxpy's program over cones
        Its constraints are in the order of the rows.
    steps : list of (cvxpy reduction, its inverse data)
        The reductions from the problem to that program.
    rows : sparse array of shape (m + k, number of rows of cvxpy)
        Multipliers of the program are these sums of multipliers of cvxpy's rows.
    """

    program: FlatProgram
    maximize: bool
    problem: Any
    stuffed: Any
    steps: list[tuple[Any, Any]]
    rows: sp.csr_array

    @cached_property
    def constraints(self) -> dict[str, Index]:
        """Positions of the rows of each of the problem's constraints, by label; equations first."""
        labels = final_labels(self.problem, [data for _, data in self.steps])
        columns, places, end = sp.csc_array(self.rows), dict[str, Index](), 0
        for constraint in self.stuffed.constraints:
            begin, end = end, end + constraint.size
            if constraint.id in labels:
                found = np.unique(columns[:, begin:end].indices).astype(np.intp)
                known = places.get(labels[constraint.id], found[:0])
                places[labels[constraint.id]] = np.union1d(known, found)
        return places

    @cached_property
    def variables(self) -> dict[str, Index]:
        """Columns of each of the problem's variables, by name; a triangle for symmetric ones."""
        own = {v.id: v.name() for v in self.problem.variables()}
        columns = columns_of(self.stuffed, own)
        return {one.name: one.place for one in columns if one.name != AUXILIARY}


def flat_problem(problem: Any) -> FlatProblem:
    """A cvxpy problem as a program over a product of cones.

    Parameters
    ----------
    problem : cvxpy.Problem
        Convex by its rules; parameters have values, and nothing is an integer.

    Raises
    ------
    DataError, DataTypeError, NotAcceptedError
        As `refuse_unreadable`.
    ModelError
        If a coefficient is not finite.

    Examples
    --------
    >>> x = cp.Variable(2)
    >>> flat = flat_problem(cp.Problem(cp.Maximize(cp.sum(cp.entr(x))), [x <= 1]))
    >>> [kind for kind, *_ in flat.program.parts], flat.maximize
    (['nonnegative', 'exponential', 'exponential'], True)
    """
    refuse_unreadable(problem)
    try:
        with without_values(problem):
            data, chain, inverse = problem.get_problem_data(_FlatInterface())
    except cp.SolverError as error:
        raise NotAcceptedError(f"cvxpy finds no way to write the problem: {error}") from error
    program, rows = _program(data)
    steps = list(zip(chain.reductions, inverse, strict=True))[:-1]
    maximize = isinstance(problem.objective, cp.Maximize)
    return FlatProblem(program, maximize, problem, data[names.PARAM_PROB], steps, rows)


@dataclass(frozen=True, eq=False)
class FlatReading:
    """What cvxpy passes to a solver as one flat program, and the way back.

    Attributes
    ----------
    program : FlatProgram
    rows : sparse array
        As in `FlatProblem`.
    maximize : bool
    """

    program: FlatProgram
    rows: sp.csr_array
    maximize: bool

    @property
    def n_rows(self) -> int:
        """Number of cvxpy's rows."""
        return int(self.rows.shape[1])

    def primal(self, values: Mapping[str, Any]) -> Array:
        """Columns of cvxpy at the point ``"x"``."""
        return np.asarray(values["x"])

    def has_multipliers(self, duals: Mapping[str, Array]) -> bool:
        """Whether there are multipliers ``"z"``."""
        return "z" in duals

    def dual(self, duals: Mapping[str, Array]) -> Array:
        """Multipliers of cvxpy's rows; two rows with one multiplier get one half each."""
        return stacked_multipliers(self.rows, duals["z"])

    def beyond(self, z: Array, tol: float) -> Index:
        """No rows: multipliers are known for the whole program, or not at all."""
        return np.arange(0)

    def report(self, value: float) -> float:
        """A value of the minimisation in the sense of the user, and the other way round."""
        return -value if self.maximize else value


def stacked_multipliers(rows: sp.csr_array, z: Array) -> Array:
    """Multipliers of cvxpy's rows from those of a flat program."""
    share = np.asarray(rows.sum(axis=1)).ravel()
    return np.asarray(rows.T @ (z / np.maximum(share, 1.0)))


def read_flat(data: Mapping[str, Any], *, maximize: bool = False) -> FlatReading:
    """The program that cvxpy passes to a solver, over all of its cones.

    Parameters
    ----------
    data : mapping
        As returned by `ConicInterface.apply`, without squares.
    maximize : bool, default False
        Whether the problem maximises the negative of the cost.
    """
    return FlatReading(*_program(data), maximize)


# A cone, and two rows of cvxpy whose mean is each of its rows; mostly these two are the same row.
_Placed = tuple[Piece, Index, Index]


def _program(data: Mapping[str, Any]) -> tuple[FlatProgram, sp.csr_array]:
    """The program, and how its multipliers are sums of those of cvxpy's rows."""
    stuffed, A = data[names.PARAM_PROB], sp.csr_array(data[names.A])
    b, c = np.asarray(data[names.B], dtype=float), np.asarray(data[names.C], dtype=float)
    for found, what in ((A.data, "a constraint"), (b, "a constraint"), (c, "the objective")):
        if not np.all(np.isfinite(found)):
            raise ModelError(f"a coefficient of {what} is not finite; it must be a number.")
    placed, equations = list[_Placed](), [np.arange(0)]
    for constraint, rows in rows_of(stuffed.constraints):
        if isinstance(constraint, cp.constraints.Zero):
            equations.append(rows)
        else:
            placed += _pieces(constraint, rows, A, b)
    equal = np.concatenate(equations)
    # The order of cones that `build` expects.
    placed.sort(key=lambda one: KINDS.index(one[0].kind))
    program = build(
        c, A[equal], b[equal], [piece for piece, *_ in placed], float(data[names.OFFSET])
    )
    upper, lower = (np.concatenate([equal, *(one[k] for one in placed)]) for k in (1, 2))
    # If there is no cone, `build` adds one, which has no row of cvxpy.
    shape, at = (program.f.size + program.b.size, b.size), np.arange(upper.size)
    sums = sp.csr_array((np.ones(at.size), (at, upper)), shape=shape)
    other = np.flatnonzero(upper != lower)
    sums = sums + sp.csr_array((np.ones(other.size), (other, lower[other])), shape=shape)
    return program, sp.csr_array(sums)


def _pieces(constraint: Any, rows: Index, A: sp.csr_array, b: Array) -> list[_Placed]:
    """The cones of one constraint; cvxpy stacks equal parts of all cones, not the cones."""
    kind, sizes, each = NONNEGATIVE, [1.0], np.atleast_2d(rows)
    if isinstance(constraint, cp.SOC):
        kind, sizes = SECOND_ORDER, [float(each.shape[1])] * len(each)
    elif isinstance(constraint, cp.constraints.ExpCone):
        kind, sizes = EXPONENTIAL, [3.0] * len(each)
    elif isinstance(constraint, cp.constraints.PowCone3D):
        kind, sizes = POWER, np.ravel(constraint.alpha.value, order="F").tolist()
    elif not isinstance(constraint, cp.constraints.NonNeg):
        order = constraint.args[0].shape[-1]
        # The entries of a batch of matrices are interleaved.
        return [_matrix(order, one, A, b) for one in rows.reshape(order * order, -1).T]
    return [
        (Piece(kind, size, A[one], b[one]), one, one) for size, one in zip(sizes, each, strict=True)
    ]


def _matrix(order: int, rows: Index, A: sp.csr_array, b: Array) -> _Placed:
    """The upper triangle of the symmetric part, as a cone."""
    j, i = np.tril_indices(order)
    upper, lower = rows[j * order + i], rows[i * order + j]
    one, other = (
        sp.hstack([A[k], sp.csr_array(b[k][:, None])], format="csr") for k in (upper, lower)
    )
    if (one - other).count_nonzero():
        one = _mean(one, other)
    right = one[:, [-1]].toarray().ravel()
    return Piece(SEMIDEFINITE, float(order), one[:, :-1], right), upper, lower


def _mean(one: Matrix, other: Matrix) -> sp.csr_array:
    """The exact mean of two matrices; an error if it rounds."""
    halves = 0.5 * sp.eye_array(one.shape[0])
    mean, radius = product(sp.hstack([halves, halves]), sp.vstack([one, other]))
    if radius is not None:
        raise NotAcceptedError(
            "a matrix that must be positive semidefinite is not symmetric, and the entries of its "
            "symmetric part are not doubles: write the symmetric part itself, (M + M.T) / 2."
        )
    return mean
