"""The package as a solver of cvxpy's."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from inspect import signature
from typing import Any, ClassVar
from weakref import WeakSet

import cvxpy as cp
import cvxpy.settings as names

from sdpdr.base.deadline import Deadline
from sdpdr.base.errors import SdpdrError, UnknownNameError
from sdpdr.model.conic.canonical import OTHER_CONES, conic_program
from sdpdr.model.conic.flat import read_flat
from sdpdr.model.conic.interface import ConicInterface, GradedAnswer, read_data
from sdpdr.model.conic.labels import final_labels, names_of
from sdpdr.model.conic.refusals import needed_cones, refuse
from sdpdr.solving.over_cones import options_over_cones, solve_over_cones
from sdpdr.solving.solve import given_options, solve

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
    Problems with exponential or power cones, such as those with logarithms, are solved by Clarabel,
    or by a ``solver`` that is named and knows them, and proved over all of these cones. The other
    options there are ``tol``, ``time_limit``, ``gap_scale``, ``proof``, ``max_iter``, ``isolate``
    and ``verbose``; ``rigorous`` is always so, ``progress`` is not shown, and any other option
    raises a `DataError`.

    The graded `Solution` is found in ``problem.solver_stats.extra_stats``. What is proved there
    holds for the numbers that cvxpy made of the problem. Versions of cvxpy that do not say which
    problem they solve hand over a minimisation, so that values of a maximisation have the other
    sign there, and constraints have no names.

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

    SUPPORTED_CONSTRAINTS: ClassVar[list[type]] = [
        *ConicInterface.SUPPORTED_CONSTRAINTS,
        *OTHER_CONES,
    ]

    def __init__(self, **options: Any) -> None:
        super().__init__()
        _refuse_unknown(options)
        # Those that this was chosen for; cvxpy hands over the negative of what is maximised.
        self._problems: WeakSet[cp.Problem] = WeakSet()
        self._has_other_cones = False
        self.options = {"gap_scale": 1.0, "progress": False, **options}

    def supports_quad_obj(self) -> bool:
        """Squares in the objective stay squares, unless there are exponential or power cones."""
        return not self._has_other_cones

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
        # Squares in the objective would stay beside cones that only Clarabel takes.
        problem = problem_form._problem
        self._has_other_cones = any(True for _ in needed_cones(problem))
        # cvxpy would look for a solver of this name when it writes perspectives.
        if super().can_solve(problem_form) and cp.perspective not in problem.atoms():
            self._problems.add(problem)
            return True
        try:
            refuse(problem)
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
        options = {"verbose": verbose or None, **self.options, **solver_opts}
        labels, variables = _names(solved)
        if any(isinstance(c, OTHER_CONES) for c in data[names.PARAM_PROB].constraints):
            _refuse_squares(data)
            read = read_flat(conic_program(data, labels, variables, maximize=maximize))
            answer = solve_over_cones(
                read.program, maximize=maximize, **options_over_cones(given_options(options))
            )
            return GradedAnswer(read, answer, watch.spent)
        reading = read_data(data, labels=labels, variables=variables, maximize=maximize)
        solution = solve(reading.sdp, **options)
        return GradedAnswer(reading, solution, watch.spent)


def _refuse_squares(data: Mapping[str, Any]) -> None:
    """Raise an error about squares beside cones that cvxpy does not list among the atoms."""
    if data.get(names.P) is not None and data[names.P].count_nonzero():
        raise cp.SolverError(
            "sdpdr.CVXPY cannot solve this problem: its objective has squares beside exponential "
            "or power cones that cvxpy hides, as suppfunc does. Minimise a scalar t in their "
            "place, with the constraint t >= square(...)."
        )


def _names(problems: Sequence[cp.Problem]) -> tuple[dict[int, str] | None, dict[int, str]]:
    """Labels of constraints and names of variables of a problem, if it is known."""
    if len(problems) != 1:
        return None, {}
    (problem,) = problems
    inverse = problem._cache.inverse_data
    labels = None if inverse is None else final_labels(problem, inverse)
    return labels, {v.id: name for v, name in names_of(problem).items()}


def _refuse_unknown(options: Iterable[str]) -> None:
    """Refuse options of other solvers, which would have no effect."""
    for name in options:
        if name not in _KNOWN:
            raise UnknownNameError("option of sdpdr.CVXPY", name, _KNOWN)
