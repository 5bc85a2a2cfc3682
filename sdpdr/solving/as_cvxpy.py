"""The package as a solver of cvxpy's."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from inspect import signature
from typing import Any

import cvxpy as cp

from sdpdr.base.deadline import Deadline
from sdpdr.base.errors import SdpdrError, UnknownNameError
from sdpdr.model.conic.interface import ConicInterface, GradedAnswer, read_data
from sdpdr.model.conic.problem import refuse
from sdpdr.program.run import Status
from sdpdr.program.sdp import SDP
from sdpdr.program.solution import Solution
from sdpdr.solvers.base import tolerance
from sdpdr.solving.again.warm import Warm, is_worth_it, solved_warm
from sdpdr.solving.solve import solve

# Options that Newton's method can do with.
_OF_NEWTON = frozenset({"tol", "progress", "gap_scale"})
_KNOWN = frozenset(signature(solve).parameters) - {"model"}


class CVXPY(ConicInterface):
    """The package as a solver of cvxpy's: ``problem.solve(solver=sdpdr.CVXPY())``.

    Parameters
    ----------
    **options
        Of `sdpdr.solve`: ``solver``, ``form``, ``tol``, ``time_limit``, ``rigorous`` and so on.
        Those that ``problem.solve`` is given besides win over them. The ``gap_scale`` is one
        unless another is given: gaps of cvxpy's solvers are absolute where the value is small.

    Raises
    ------
    UnknownNameError
        If an option is none of `sdpdr.solve`.

    Notes
    -----
    Newton's method goes from the last answer to that for other parameters (see `Model.solve`),
    unless ``problem.solve`` is given ``warm_start=False`` or options but ``tol``.

    The graded `Solution` is found in ``problem.solver_stats.extra_stats``; it is that of cvxpy's
    minimisation, so that values of a maximisation have the other sign. What is proved there holds
    for the numbers that cvxpy made of the problem. `sdpdr.from_cvxpy` keeps names and the sense.

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
            Whether to begin with the last answer.
        verbose : bool
        solver_opts : mapping
        solver_cache : dict, optional
            What was answered last.

        Returns
        -------
        GradedAnswer
        """
        _refuse_unknown(solver_opts)
        watch = Deadline()
        reading = read_data(data)
        options = {"verbose": verbose or None, **self.options, **solver_opts}
        cache = solver_cache if isinstance(solver_cache, dict) else {}
        solution = None
        if warm_start and self.name() in cache:
            before, last = cache[self.name()]
            solution = _from(before, last, reading.sdp, options)
        if solution is None:
            solution = solve(reading.sdp, **options)
        cache[self.name()] = (reading.sdp, solution)
        return GradedAnswer(reading, solution, watch.spent)


def _from(before: SDP, last: Solution, sdp: SDP, options: Mapping[str, Any]) -> Solution | None:
    """The answer of Newton's method from the last one; None where it is not asked, or fails."""
    others = {name for name in options.keys() - _OF_NEWTON if options[name] is not None}
    if others or last.status is not Status.SOLVED or not is_worth_it(sdp):
        return None
    warm = Warm.of(before, last)
    tol = tolerance("auto", options.get("tol"))
    found = None if warm is None else solved_warm(sdp, warm, last, tol)
    return None if found is None else replace(found[0], gap_scale=options["gap_scale"])


def _refuse_unknown(options: Iterable[str]) -> None:
    """Refuse options of other solvers, which would have no effect."""
    for name in options:
        if name not in _KNOWN:
            raise UnknownNameError("option of sdpdr.CVXPY", name, _KNOWN)
