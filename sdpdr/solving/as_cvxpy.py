"""The package as a solver of cvxpy's."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from inspect import signature
from typing import Any
from weakref import WeakSet

import cvxpy as cp

from sdpdr.base.deadline import Deadline
from sdpdr.base.errors import SdpdrError, UnknownNameError
from sdpdr.model.conic.interface import ConicInterface, GradedAnswer, read_data
from sdpdr.model.conic.problem import refuse
from sdpdr.solving.solve import solve

_KNOWN = frozenset(signature(solve).parameters) - {"model"}


class CVXPY(ConicInterface):
    """The package as a solver of cvxpy's: ``problem.solve(solver=sdpdr.CVXPY())``.

    Parameters
    ----------
    **options
        Those of `sdpdr.solve`: ``solver``, ``form``, ``tol``, ``time_limit``, ``rigorous`` and
        so on. Those that ``problem.solve`` is given besides win over them. The ``gap_scale`` is one
        unless another is given: gaps of cvxpy's solvers are absolute where the value is small.

    Raises
    ------
    UnknownNameError
        If an option is none of `sdpdr.solve`.

    Notes
    -----
    The graded `Solution` is found in ``problem.solver_stats.extra_stats``. What is proved there
    holds for the numbers that cvxpy made of the problem. Versions of cvxpy that do not say which
    problem they solve hand over a minimisation, so that values of a maximisation have the other
    sign there. `sdpdr.from_cvxpy` keeps the names as well.

    Examples
    --------
    >>> import cvxpy as cp
    >>> import sdpdr
    >>> x = cp.Variable(2)
    >>> problem = cp.Problem(cp.Minimize(x[0] + x[1]), [cp.norm(x) <= 1])
    >>> round(float(problem.solve(solver=sdpdr.CVXPY())), 5), problem.status
    (-1.41421, 'optimal')
    >>> problem.solver_stats.extra_stats.status
    Status.SOLVED
    """

    def __init__(self, **options: Any) -> None:
        super().__init__()
        _refuse_unknown(options)
        # Those that this was chosen for; cvxpy hands over the negative of what is maximised.
        self._problems: WeakSet[cp.Problem] = WeakSet()
        self.options = {"gap_scale": 1.0, "progress": False, **options}

    def can_solve(self, problem_form: Any) -> bool:
        """Whether cvxpy can write a problem for this solver.

        Parameters
        ----------
        problem_form : cvxpy's description of a problem

        Raises
        ------
        cvxpy.SolverError
            It cannot; cvxpy itself would not say why.
        """
        if super().can_solve(problem_form):
            self._problems.add(problem_form._problem)
            return True
        try:
            refuse(problem_form._problem)
        except SdpdrError as error:
            raise cp.SolverError(f"sdpdr.CVXPY cannot solve this problem: {error}") from error
        return False

    def solve_via_data(
        self,
        data: Mapping[str, Any],
        warm_start: bool,
        verbose: bool,
        solver_opts: Mapping[str, Any],
        solver_cache: object = None,
    ) -> GradedAnswer:
        """Solve what cvxpy has made of a problem.

        Parameters
        ----------
        data : mapping
        warm_start : bool
            Without effect.
        verbose : bool
        solver_opts : mapping
        solver_cache : dict, optional
            The problem's own, by which it is recognised.

        Returns
        -------
        GradedAnswer
        """
        _refuse_unknown(solver_opts)
        watch = Deadline()
        solved = [p for p in self._problems if p._solver_cache is solver_cache]
        maximize = any(isinstance(problem.objective, cp.Maximize) for problem in solved)
        reading = read_data(data, maximize=maximize)
        options = {"verbose": verbose or None, **self.options, **solver_opts}
        solution = solve(reading.sdp, **options)
        return GradedAnswer(reading, solution, watch.spent)


def _refuse_unknown(options: Iterable[str]) -> None:
    """Refuse options of other solvers, which would have no effect."""
    for name in options:
        if name not in _KNOWN:
            raise UnknownNameError("option of sdpdr.CVXPY", name, _KNOWN)
