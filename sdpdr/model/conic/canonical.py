"""What cvxpy makes of a problem: a program over cones, with the names of the problem."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import cvxpy as cp
import cvxpy.settings as names
import numpy as np
import scipy.sparse as sp
from cvxpy.reductions.solvers.conic_solvers.conic_solver import ConicSolver

from sdpdr.base.arrays import Index
from sdpdr.base.errors import NotAcceptedError
from sdpdr.linalg.spectral import form_root
from sdpdr.model.conic.labels import final_labels, names_of
from sdpdr.model.conic.program import (
    AUXILIARY,
    Columns,
    ConeRows,
    ConicProgram,
    Kind,
    with_numbers,
)
from sdpdr.model.labels import Labels

KINDS: dict[type, Kind] = {
    cp.constraints.Zero: "zero",
    cp.constraints.NonNeg: "nonnegative",
    cp.SOC: "second-order",
    cp.constraints.PSD: "psd",
    cp.constraints.ExpCone: "exponential",
    cp.constraints.PowCone3D: "power",
}
# Cones that semidefinite programs do not describe.
OTHER_CONES = (cp.constraints.ExpCone, cp.constraints.PowCone3D)
# Relative size up to which negative eigenvalues of forms count as rounding.
_INDEFINITE = 1e-12


@contextmanager
def without_values(problem: cp.Problem) -> Iterator[None]:
    """Hide the values of a problem's variables.

    Canonicalization computes from them the values of the variables that it adds, and fails if they
    are nan, as those of a solver that has failed may be.
    """
    kept = [(v, v._value) for v in problem.variables()]
    for v, _ in kept:
        v.save_value(None)
    try:
        yield
    finally:
        for v, value in kept:
            v._value = value


@dataclass(frozen=True, eq=False)
class Canonicalized:
    """A problem, and the program over cones that cvxpy makes of it.

    Attributes
    ----------
    problem : cvxpy.Problem
    chain, inverse : cvxpy's reductions, and the data for their inversion
    stuffed : cvxpy's program over cones
        Its constraints are in the order of the rows.
    conic : ConicProgram
        The same with the names of the problem.
    """

    problem: Any
    chain: Any
    inverse: Any
    stuffed: Any
    conic: ConicProgram

    @property
    def steps(self) -> list[tuple[Any, Any]]:
        """The reductions with the data of their inverses, without the last one."""
        return list(zip(self.chain.reductions, self.inverse, strict=True))[:-1]

    @property
    def maximize(self) -> bool:
        """Whether the problem maximises the negative of the program's objective."""
        return self.conic.maximize

    @cached_property
    def labels(self) -> dict[int, str]:
        """Labels of the problem's constraints, by their identities in the program over cones."""
        return final_labels(self.problem, self.inverse)


def canonicalized(problem: cp.Problem, interface: ConicSolver) -> Canonicalized:
    """What cvxpy makes of a problem for an interface.

    Raises
    ------
    NotAcceptedError
        If cvxpy finds no way to write the problem with the cones of the interface.
    ModelError
        If a number is out of range.
    """
    try:
        with without_values(problem):
            data, chain, inverse = _without_repetitions(problem).get_problem_data(interface)
    except cp.SolverError as error:
        raise NotAcceptedError(f"cvxpy finds no way to write the problem: {error}") from error
    conic = conic_program(
        data,
        final_labels(problem, inverse),
        {v.id: name for v, name in names_of(problem).items()},
        maximize=isinstance(problem.objective, cp.Maximize),
    )
    return Canonicalized(problem, chain, inverse, data[names.PARAM_PROB], conic)


def _without_repetitions(problem: cp.Problem) -> cp.Problem:
    """The problem with each constraint once: cvxpy stores one multiplier of each, not their sum."""
    constraints = list({c.id: c for c in problem.constraints}.values())
    if len(constraints) == len(problem.constraints):
        return problem
    return cp.Problem(problem.objective, constraints)


def conic_program(
    data: Mapping[str, Any],
    labels: Mapping[int, str] | None = None,
    variables: Mapping[int, str] | None = None,
    *,
    maximize: bool = False,
    arguments: str | None = None,
) -> ConicProgram:
    """The program that cvxpy passes to a solver, with names.

    Parameters
    ----------
    data : mapping
        As returned by `ConicInterface.apply`.
    labels, variables : mapping from identity to name, optional
        Names of constraints and of variables. Without labels, rows of one kind are one group.
    maximize : bool, default False
        Whether the problem maximises the negative of the cost.
    arguments : str, optional
        The name of columns that stand for expressions.

    Returns
    -------
    ConicProgram

    Raises
    ------
    ModelError
        If a number is out of range.
    """
    stuffed, matrix = data[names.PARAM_PROB], data[names.A].copy()
    matrix.eliminate_zeros()
    # Sorted, as comparisons of rows expect.
    matrix.sort_indices()
    cones = _grouped(stuffed) if labels is None else _labelled(stuffed, labels)
    program = ConicProgram(
        cost=np.asarray(data[names.C], dtype=float),
        constant=float(data[names.OFFSET]),
        matrix=matrix,
        rhs=np.asarray(data[names.B], dtype=float),
        cones=cones,
        columns=columns_of(stuffed, variables or {}),
        maximize=maximize,
        root=_root(data.get(names.P)),
        arguments=arguments,
    )
    return with_numbers(program)


def _root(form: Any) -> sp.csr_array | None:
    """R with R^T R = P, where cvxpy minimises half the form of P; None if P is zero."""
    if form is None or not sp.csr_array(form).count_nonzero():
        return None
    P = sp.csr_array(form)
    diagonal = P.diagonal()
    if not (P - sp.diags_array(diagonal)).count_nonzero() and np.all(diagonal >= 0.0):
        used = np.flatnonzero(diagonal)
        return sp.csr_array(sp.diags_array(np.sqrt(diagonal), format="csr")[used])
    used = np.flatnonzero(abs(P).sum(axis=0))
    root, least = form_root(P[used][:, used].toarray())
    if least < -_INDEFINITE:
        raise NotAcceptedError(
            "the objective is not convex: the matrix of a quadratic form in it has a negative "
            f"eigenvalue, {least:.1e} relative to its size; drop the concave part."
        )
    return sp.csr_array(sp.csr_array(root) @ sp.eye_array(P.shape[0], format="csr")[used])


def _cones(stuffed: Any) -> Iterator[tuple[Any, ConeRows]]:
    """Constraints in cvxpy's order, with each of their cones; these have no labels."""
    for c, rows in rows_of(stuffed.constraints):
        kind = KINDS[type(c)]
        if kind == "psd":
            # The entries of a batch of matrices are interleaved.
            batch = math.prod(c.args[0].shape[:-2])
            each = rows.reshape(-1, batch).T
        else:
            each = np.atleast_2d(rows)
        exponents = np.ravel(c.alpha.value, order="F") if kind == "power" else np.zeros(len(each))
        for part, exponent in zip(each, exponents.tolist(), strict=True):
            yield c, ConeRows(kind, "", part, exponent)


def rows_of(constraints: Sequence[Any]) -> Iterator[tuple[Any, Index]]:
    """Constraints with their rows in cvxpy's order; a row of indices for each of several cones."""
    begin = 0
    for c in constraints:
        rows = np.arange(begin, begin + c.size)
        begin += c.size
        if isinstance(c, cp.SOC):
            count = c.num_cones()
            rows = np.column_stack([rows[:count], rows[count:].reshape(count, -1)])
        elif isinstance(c, OTHER_CONES):
            rows = rows.reshape(3, -1).T
        yield c, rows


def _labelled(stuffed: Any, labels: Mapping[int, str]) -> list[ConeRows]:
    """A cone for each constraint, or several if it holds several; the first has its label."""
    seen, left = Labels(labels.values()), dict(labels)
    return [
        replace(cone, label=left.pop(c.id, "") or seen.take(labels.get(c.id, AUXILIARY)))
        for c, cone in _cones(stuffed)
    ]


def _grouped(stuffed: Any) -> list[ConeRows]:
    """All equations as one group, all inequalities as another, and numbered other cones."""
    cones: list[ConeRows] = []
    linear = {"zero": [np.arange(0)], "nonnegative": [np.arange(0)]}
    for _, cone in _cones(stuffed):
        if cone.kind in linear:
            linear[cone.kind].append(cone.rows)
        else:
            cones.append(replace(cone, label=f"{cone.kind} {len(cones) + 1}"))
    return [
        ConeRows("zero", "equations", np.concatenate(linear["zero"])),
        ConeRows("nonnegative", "inequalities", np.concatenate(linear["nonnegative"])),
        *cones,
    ]


def columns_of(stuffed: Any, variables: Mapping[int, str]) -> list[Columns]:
    """Columns by variable; those that cvxpy has added are one group at the end."""
    named, added = [], [np.arange(0)]
    seen = Labels([AUXILIARY])
    for v in stuffed.variables:
        begin = stuffed.var_id_to_col[v.id]
        place = np.arange(begin, begin + v.size)
        name = variables.get(v.id, v.name() if v.name() in variables.values() else None)
        if name is None:
            added.append(place)
            continue
        named.append(Columns(seen.take(name), place))
    return [*named, Columns(AUXILIARY, np.concatenate(added))]
