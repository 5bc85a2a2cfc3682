"""Problems of cvxpy as programs over a product of cones, for the proofs of `sdpdr.certify`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array, Index, Matrix
from sdpdr.base.errors import NotAcceptedError
from sdpdr.certify.flat import (
    KINDS,
    NONNEGATIVE,
    POWER,
    SEMIDEFINITE,
    FlatProgram,
    Piece,
    build,
)
from sdpdr.certify.products import product
from sdpdr.model.conic.canonical import OTHER_CONES, Canonicalized, canonicalized
from sdpdr.model.conic.interface import ConesOnly
from sdpdr.model.conic.program import AUXILIARY, ConeRows, ConicProgram
from sdpdr.model.conic.refusals import refuse_unreadable
from sdpdr.model.conic.step import Step, steps_of
from sdpdr.model.conic.unused import unused
from sdpdr.program.solution import Solution


class FlatInterface(ConesOnly):
    """Accepts every cone of cvxpy, and turns squares into cones."""

    SUPPORTED_CONSTRAINTS: ClassVar[list[type]] = [*ConesOnly.SUPPORTED_CONSTRAINTS, *OTHER_CONES]


@dataclass(frozen=True, eq=False)
class FlatProblem(Canonicalized):
    """A problem of cvxpy as one flat program.

    Attributes
    ----------
    program : FlatProgram
        The minimisation.
    rows : sparse array of shape (m + k, number of rows of cvxpy)
        Multipliers of the program are these sums of multipliers of cvxpy's rows.
    """

    program: FlatProgram
    rows: sp.csr_array

    def reading(self) -> FlatReading:
        """The program to solve (see `read_flat`), which is this one if nothing is redundant."""
        steps = steps_of(self.conic, [unused])
        flat = _program(steps[-1].program) if steps else (self.program, self.rows)
        return FlatReading(self.conic, *flat, steps)

    @cached_property
    def constraints(self) -> dict[str, Index]:
        """Positions of the rows of each of the problem's constraints, by label; equations first."""
        labels = self.labels
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
        columns = self.conic.columns
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
        If a number is out of range.

    Examples
    --------
    >>> import cvxpy as cp
    >>> x = cp.Variable(2)
    >>> flat = flat_problem(cp.Problem(cp.Maximize(cp.sum(cp.entr(x))), [x <= 1]))
    >>> [kind for kind, *_ in flat.program.parts], flat.maximize
    (['nonnegative', 'exponential', 'exponential'], True)
    """
    refuse_unreadable(problem)
    made = canonicalized(problem, FlatInterface())
    program, rows = _program(made.conic)
    return FlatProblem(
        made.problem, made.chain, made.inverse, made.stuffed, made.conic, program, rows
    )


@dataclass(frozen=True, eq=False)
class FlatReading:
    """A conic program as a flat one without what is redundant, and the way back.

    Attributes
    ----------
    conic : ConicProgram
    program : FlatProgram
    rows : sparse array
        As in `FlatProblem`.
    steps : tuple of Step
        Those from `conic` to the program.
    """

    conic: ConicProgram
    program: FlatProgram
    rows: sp.csr_array
    steps: tuple[Step, ...]

    @property
    def n_rows(self) -> int:
        """Number of cvxpy's rows."""
        return int(self.conic.rhs.size)

    def primal(self, values: Mapping[str, Any]) -> Array:
        """Columns of cvxpy at the point ``"x"``."""
        x = np.asarray(values["x"])
        for step in reversed(self.steps):
            x = step.primal(x)
        return x

    def has_multipliers(self, duals: Mapping[str, Array]) -> bool:
        """Whether there are multipliers ``"z"``."""
        return "z" in duals

    def dual(self, duals: Mapping[str, Array]) -> Array:
        """Multipliers of cvxpy's rows; two rows with one multiplier get one half each."""
        z = stacked_multipliers(self.rows, duals["z"])
        for step in reversed(self.steps):
            z = step.dual(z, np.zeros(0))
        return z

    def whole(self, solution: Solution, rows: sp.csr_array) -> Solution:
        """A solution of this program as one of the `FlatProblem` with these ``rows``."""
        if not self.steps:
            return solution

        def larger(known: Mapping[str, Any]) -> dict[str, Array]:
            return {
                name: self.primal(known) if name == "x" else rows @ self.dual(known)
                for name in known
            }

        ray = solution.ray
        return replace(
            solution,
            values=larger(solution.values),
            duals=larger(solution.duals),
            ray=ray and replace(ray, values=larger(ray.values), duals=larger(ray.duals)),
        )

    def beyond(self, z: Array, tol: float) -> Index:
        """No rows: multipliers are known for the whole program, or not at all."""
        return np.arange(0)

    def report(self, value: float) -> float:
        """A value of the minimisation in the sense of the user, and the other way round."""
        return -value if self.conic.maximize else value


def stacked_multipliers(rows: sp.csr_array, z: Array) -> Array:
    """Multipliers of cvxpy's rows from those of a flat program."""
    share = np.asarray(rows.sum(axis=1)).ravel()
    return np.asarray(rows.T @ (z / np.maximum(share, 1.0)))


def read_flat(conic: ConicProgram) -> FlatReading:
    """A program over all cones, without squares, as one to solve.

    Examples
    --------
    The exponential has no weight, so that x is free of its cone:

    >>> import cvxpy as cp
    >>> x = cp.Variable()
    >>> problem = cp.Problem(cp.Minimize(x + 0 * cp.exp(x)), [x >= 1])
    >>> reading = read_flat(flat_problem(problem).conic)
    >>> reading.program.parts[0].kind, reading.primal({"x": np.ones(1)}).round(4)
    ('nonnegative', array([1.    , 2.7183]))
    """
    steps = steps_of(conic, [unused])
    return FlatReading(conic, *_program(steps[-1].program if steps else conic), steps)


# A cone, and two rows of cvxpy whose mean is each of its rows; mostly these two are the same row.
_Placed = tuple[Piece, Index, Index]


def _program(conic: ConicProgram) -> tuple[FlatProgram, sp.csr_array]:
    """The program, and how its multipliers are sums of those of cvxpy's rows."""
    A, b = conic.matrix, conic.rhs
    placed = [_placed(cone, A, b) for cone in conic.cones if cone.kind != "zero"]
    equations = [cone.rows for cone in conic.cones if cone.kind == "zero"]
    equal = np.concatenate([np.arange(0), *equations])
    # The order of cones that `build` expects.
    placed.sort(key=lambda one: KINDS.index(one[0].kind))
    program = build(conic.cost, A[equal], b[equal], [piece for piece, *_ in placed], conic.constant)
    upper, lower = (np.concatenate([equal, *(one[k] for one in placed)]) for k in (1, 2))
    # If there is no cone, `build` adds one, which has no row of cvxpy.
    shape, at = (program.f.size + program.b.size, b.size), np.arange(upper.size)
    sums = sp.csr_array((np.ones(at.size), (at, upper)), shape=shape)
    other = np.flatnonzero(upper != lower)
    sums = sums + sp.csr_array((np.ones(other.size), (other, lower[other])), shape=shape)
    return program, sp.csr_array(sums)


def _placed(cone: ConeRows, A: sp.csr_array, b: Array) -> _Placed:
    """One cone."""
    if cone.kind == "psd":
        return _matrix(cone, A, b)
    sizes = {POWER: cone.exponent, NONNEGATIVE: 1.0}
    size = sizes.get(cone.kind, float(cone.rows.size))
    return Piece(cone.kind, size, A[cone.rows], b[cone.rows]), cone.rows, cone.rows


def _matrix(cone: ConeRows, A: sp.csr_array, b: Array) -> _Placed:
    """The upper triangle of the symmetric part, as a cone."""
    order, rows = cone.order, cone.rows
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
