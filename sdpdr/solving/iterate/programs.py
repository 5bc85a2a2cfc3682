"""The programs of an iteration: one set of constraints under changing costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array
from sdpdr.base.deadline import Deadline
from sdpdr.base.errors import DataError, ModelError, NotAcceptedError, ShapeError
from sdpdr.linalg import LinearMap
from sdpdr.program import SDP, Factor, Solution, Status
from sdpdr.program.face import null_vectors
from sdpdr.program.point import PsdVariable, Value
from sdpdr.program.sizes import gap_scale
from sdpdr.solvers.base import Solver, unless_configured
from sdpdr.solvers.registry import find
from sdpdr.solving.asked import Asked
from sdpdr.solving.choice import choose
from sdpdr.solving.iterate.directions import Direction, find_direction
from sdpdr.solving.solve import solve_step

Start: TypeAlias = "Solution | Factor | ArrayLike"

# Solvers that "auto" leaves out: a first-order method takes too long to the accuracy wanted here.
_TOO_COARSE = ("scs",)
_ENOUGH = (Status.SOLVED, Status.OPTIMAL_NEARBY, Status.INTERRUPTED)
_SHORT = (Status.INACCURATE, Status.ITERATION_LIMIT, Status.FAILED)
# Order up to which another solver is given a try where the one that serves falls short.
_SMALL = 150
# How many times as long as the model alone, and how many seconds, the solver that answered it is
# given for the first program with a direction.
_PATIENCE, _AT_LEAST = 10.0, 1.0
# Multiple of the accuracy asked for up to which an answer will do.
TOLERATED = 100.0


@dataclass(frozen=True, eq=False)
class Programs:
    """Programs that differ in the cost of some matrices only.

    Parameters
    ----------
    given : SDP
    names : tuple of str
        The matrices.
    weight : float or None
        How much of a direction is added to the objective; None where it replaces it.
    solver, form : see `sdpdr.solve`
    accuracy : float
    seed : int
        Both of a solver that is named; a configured one keeps its own.
    """

    given: SDP
    names: tuple[str, ...]
    weight: float | None
    solver: str | Solver
    form: str
    accuracy: float
    seed: int

    @cached_property
    def base(self) -> SDP:
        """What all programs share: the constraints, and the objective that is kept (minimised)."""
        program = replace(self.given, maximize=False)
        if self.weight is None:
            for name in self.names:
                n, _ = self.orders[name]
                program = program.with_cost(name, sp.csr_array((n, n)))
        return program

    @cached_property
    def orders(self) -> dict[str, tuple[int, Array]]:
        """Order of each matrix, and orthonormal vectors u with X u = 0."""
        found = {}
        for name in self.names:
            null = null_vectors(self.given, name).toarray()
            found[name] = (len(null), np.linalg.qr(null)[0])
        return found

    def unit(self, ways: Mapping[str, Direction]) -> float:
        """A size of the matrices, as their directions measure it, beside which one counts as zero.

        Weights of points are part of it: they have a unit, that of objectives.
        """
        program = self.base
        for name in self.names:
            program = program.with_cost(name, ways[name].measure(self.orders[name][0]))
        return gap_scale(program)

    @property
    def pull(self) -> float:
        """What a direction is multiplied by."""
        return 1.0 if self.weight is None else self.weight

    def under(self, directions: Mapping[str, LinearMap] | None) -> SDP:
        """The program of some directions; of none, the model alone."""
        program = self.base
        if directions is None or self.pull == 0.0:
            return program
        for name, direction in directions.items():
            kept = program.objective.get(name)
            cost = self.pull * direction
            if self.weight is not None and isinstance(kept, LinearMap):
                cost = kept + cost
            program = program.with_cost(name, cost)
        return program

    def solve(
        self,
        directions: Mapping[str, LinearMap] | None,
        last: Solution | None,
        deadline: Deadline,
        *,
        choose_anew: bool = False,
    ) -> Solution:
        """Solve the program of some directions.

        Parameters
        ----------
        directions : mapping from variable to LinearMap, or None
        last : Solution, optional
            The answer to the program before, to begin from. Under ``"auto"`` its solver and form
            serve again; where they fall short of the accuracy, another pair is tried too.
        deadline : Deadline
        choose_anew : bool, default False
            Under ``"auto"``, give the solver of the last program a while only, then choose as for
            the first one.
        """
        program = self.under(directions)
        if self.solver != "auto":
            return self._ask(program, self.solver, self.form, deadline, last)
        solution = None
        if last is not None:
            patience = _patience(program, last) if choose_anew else np.inf
            solution = self._again(program, last, deadline.sooner(patience))
        if solution is None or (choose_anew and solution.status not in _ENOUGH):
            solution = self._auto(program, deadline)
        small = all(v.n <= _SMALL for v in program.psd_variables)
        if not small or not self._is_poor(solution) or deadline.is_over():
            return solution
        try:
            second = self._auto(program, deadline, skip=(solution.solver,))
        except NotAcceptedError:
            return solution
        return min(solution, second, key=lambda s: (self._is_poor(s), s.apparent_gap))

    def _again(self, program: SDP, last: Solution, deadline: Deadline) -> Solution | None:
        """Solve with what answered the last program; None where that takes other programs only."""
        try:
            return self._ask(program, last.solver, last.form, deadline, last)
        except NotAcceptedError:
            return None

    def _auto(self, program: SDP, deadline: Deadline, skip: tuple[str, ...] = ()) -> Solution:
        """Solve with what is predicted to be best."""
        left_out, options = (*_TOO_COARSE, *skip), {"tol": self.accuracy}
        chosen = choose(program, Asked("auto", self.form, skip=left_out, options=options))
        return self._ask(program, chosen.solver, chosen.form, deadline, None)

    def _is_poor(self, solution: Solution) -> bool:
        """Whether an answer is so far from what was asked that another solver is worth its time."""
        error = max(solution.apparent_gap, solution.residuals.primal())
        return solution.status in _SHORT and not self.tolerates(error)

    def tolerates(self, error: float) -> bool:
        """Whether an answer will do, beside the accuracy asked for."""
        return error <= TOLERATED * self.accuracy

    def _ask(
        self,
        program: SDP,
        solver: str | Solver,
        form: str,
        deadline: Deadline,
        last: Solution | None,
    ) -> Solution:
        """Solve, from the last answer where the solver can begin from a given point."""
        takes_start = (find(solver) if isinstance(solver, str) else solver).takes_start
        return solve_step(
            program,
            solver,
            form,
            tol=unless_configured(solver, self.accuracy),
            time_limit=deadline.left(),
            seed=unless_configured(solver, self.seed),
            # The optimum of a program that looks for a rank is zero once it is found.
            gap_scale=gap_scale(program),
            start=last if takes_start else None,
        )

    def matrix(self, start: Start, name: str) -> Value:
        """The matrix that a start stands for; points are moved to where the constraints want them.

        Raises
        ------
        DataError
            The points are not finite numbers.
        ShapeError
            Their number is not the order of the matrix.
        """
        n, null = self.orders[name]
        value: Value
        if isinstance(start, Solution):
            value = start.gram(name)
        elif isinstance(start, Factor):
            value = start
        else:
            value = Factor(_moved(validate.points(start, at_least=1), null, n))
        if value.shape != (n, n):
            raise ShapeError(f"the start has {value.shape[0]} points; {name!r} has order {n}.")
        return value


def matrices_of(sdp: SDP, variable: str | Sequence[str] | None) -> tuple[str, ...]:
    """Names of the matrices of low rank; the only one, where none is named."""
    matrices = tuple(v.name for v in sdp.psd_variables)
    if variable is None and len(matrices) != 1:
        words = f"variables {', '.join(matrices)}" if matrices else "no matrix variable"
        raise ModelError(f"the model has {words}; name the one of low rank (variable=...).")
    found = (
        (variable,)
        if isinstance(variable, str)
        else tuple(matrices if variable is None else variable)
    )
    for name in found:
        if not isinstance(sdp.variable(name), PsdVariable):
            raise ModelError(f"{name!r} is a vector; only a matrix has a rank.")
    return found


def directions_of(
    names: Sequence[str], given: str | Direction | Mapping[str, str | Direction], rank: int
) -> dict[str, Direction]:
    """The direction of each matrix, where all have one, or each its own."""
    if not isinstance(given, Mapping):
        return dict.fromkeys(names, find_direction(given, rank))
    if odd := set(names) ^ set(given):
        raise DataError(
            f"direction must have an entry for each matrix, {', '.join(names)}, and no "
            f"other; it differs in {', '.join(sorted(odd))}."
        )
    # A direction in a mapping has the rank of its own matrix; a name means the common one.
    return {
        name: find_direction(way, rank) if isinstance(way, str) else way
        for name, way in given.items()
    }


def _patience(program: SDP, last: Solution) -> float:
    """Seconds; few where exact rows may leave no interior, which low-rank factors do not like."""
    exact = any(r.relation == "==" and len(r.lhs) == 1 and np.any(r.rhs) for r in program.rows)
    return _AT_LEAST if exact else _PATIENCE * (_AT_LEAST + last.timings.get("solve", 0.0))


def _moved(points: Array, null: Array, n: int) -> Array:
    """Points moved until their sum weighted by u vanishes; projected if there are several u."""
    if points.shape[0] != n:
        return points
    if null.shape[1] == 1 and abs(np.sum(null)) > 1e-9:
        return np.asarray(points - (null.T @ points) / np.sum(null))
    return np.asarray(points - null @ (null.T @ points))
