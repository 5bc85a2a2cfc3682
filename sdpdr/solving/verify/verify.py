"""The door for answers that were found elsewhere."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from sdpdr.base.errors import DataError, DataTypeError
from sdpdr.base.keywords import checks_keywords
from sdpdr.base.progress import show_progress
from sdpdr.model import Block, Model
from sdpdr.program.point import Factor, Point, Value, Variable, as_dense, as_row
from sdpdr.program.sdp import SDP
from sdpdr.program.solution import Solution
from sdpdr.solving.verify.completing import completed_values
from sdpdr.solving.verify.given import UNNAMED, Settings
from sdpdr.solving.verify.sdp_answer import checked_values, verify_point

if TYPE_CHECKING:
    import cvxpy as cp

Path: TypeAlias = "str | os.PathLike[str]"
Answer: TypeAlias = "Solution | Point | Mapping[str, Value] | Factor | ArrayLike"


_NO_ANSWER = "there is no answer: pass a point or multipliers of the program, or use sdpdr.solve."


@checks_keywords
def verify(
    problem: cp.Problem | SDP | Model | Path,
    answer: Answer | Path | None = None,
    *,
    multipliers: Mapping[str, ArrayLike] | None = None,
    tol: float = 1e-6,
    gap_scale: float | None = None,
    seconds: float | None = None,
    repair: bool = True,
) -> Solution:
    """Prove what another solver found, without solving again.

    A value is proved by a feasible point that exists next to the one given, a bound by multipliers
    next to those given, and all rounding is accounted for (:doc:`/guide/proofs`). Nothing of the
    answer is believed: `Solution.claimed` is what the solver said, `Solution.attained` and
    `Solution.bound` are what is proved, `Solution.moved` is how far the point had to move, and
    `Solution.is_refuted` whether the claim is proved wrong. Where one side of the answer is missing
    or wrong, the other is proved.

    Parameters
    ----------
    problem : cvxpy.Problem, SDP, Model, str or path
        A convex problem that cvxpy has solved by any solver, over any of its cones; a program in
        standard form, or a model; or the file of a program in SDPA's sparse format.
    answer : optional
        Nothing beside a cvxpy problem, which has its answer: the values of its variables and of
        their dual values. For an SDP or a model, a `Solution`, a `sdpdr.program.Point`, or values
        by the names of variables; for a single matrix variable the matrix alone, or
        ``Factor(R)`` for R R^T. Values of variables that a model's functions add, such as norms,
        may be left out if the point may move. For a file, the solution file of CSDP, SDPA or SDPLR.
    multipliers : mapping from constraint label to array, optional
        Those of an SDP or a model whose ``answer`` has none, in the signs of `sdpdr.program.Point`.
        Without multipliers one solve finds them, and ``claimed.message`` says so.
    tol : float, default 1e-6
        Relative gap between value and bound at which they count as one.
    gap_scale : float, optional
        A size of the objective below which the gap is relative to it: no gap is small relative to
        an optimum of zero. By default 1 for cvxpy problems, as solvers of cvxpy have it, and 0
        otherwise.
    seconds : float, optional
        CPU seconds for proofs; what is known by then is returned. By default five times what the
        solver took, and two at least; a minute where that is not known.
    repair : bool, default True
        Whether the point may move. If False, it is proved as it stands: a value is proved if the
        point satisfies every constraint exactly, and ``attained_by`` says by how much it is missed
        otherwise. Multipliers may move in both cases, as a bound is one whatever proves it.

    Returns
    -------
    Solution
        ``SOLVED`` where value and bound agree to the tolerance, ``INFEASIBLE`` and ``UNBOUNDED``
        where that is proved. Its point is the one that is proved, or the given one where none is.

    Raises
    ------
    DataTypeError, NotAcceptedError, ModelError
        If the problem is no convex problem in real numbers, or has coefficients that are out of the
        range that `solve` accepts.
    DataError, ShapeError, UnknownNameError
        If an option is out of its range, or the answer is none of the program.
    FileFormatError
        If a file is not complete, or its solution is of another program.

    Notes
    -----
    What is proved of a cvxpy problem holds for the numbers that cvxpy makes of it: a quadratic form
    over second-order cones has a rounded root of its matrix, for instance.

    Examples
    --------
    >>> import cvxpy as cp
    >>> import numpy as np
    >>> import sdpdr
    >>> x = cp.Variable(3)
    >>> problem = cp.Problem(cp.Maximize(cp.sum(cp.entr(x))), [cp.sum(x) == 1])
    >>> claimed = problem.solve(solver=cp.CLARABEL)
    >>> found = sdpdr.verify(problem)
    >>> found.status, round(found.attained, 4), round(found.bound, 4), found.is_refuted
    (Status.SOLVED, 1.0986, 1.0986, False)

    A factor of a Gram matrix, alone:

    >>> from sdpdr import graphs, methods
    >>> from sdpdr.program import Factor
    >>> line = Factor(np.array([[-4.0], [-1.0], [5.0]]) / 3.0)
    >>> found = sdpdr.verify(methods.mvu(graphs.path([1.0, 2.0])), line)
    >>> found.status, round(found.claimed.value, 4), found.moved < 1e-6
    (Status.SOLVED, 4.6667, True)
    """
    settings = Settings(tol, gap_scale, seconds, repair)
    with show_progress(None, "what an answer lacks"):
        return _verified(problem, answer, multipliers, settings)


def _verified(problem: Any, answer: Any, multipliers: Any, settings: Settings) -> Solution:
    """What is proved, by the kind of problem."""
    if isinstance(problem, (str, os.PathLike)):
        return _files(problem, answer, multipliers, settings)
    if isinstance(problem, Block):
        problem = Model((problem,))
    if isinstance(problem, Model):
        answer = answer_in_rows(problem, answer)
        if not problem.has_standard_form and multipliers is None:
            found = _problem(_with_values(problem, answer), settings)
            return replace(found, of_model=True)
        if settings.repair and lacks_only_added(problem, answer):
            sdp = problem.to_sdp()
            given = checked_values(answer, {v.name: v.extents for v in sdp.variables})
            answer = completed_values(sdp, given)
    if isinstance(problem, (SDP, Model)):
        sdp = problem if isinstance(problem, SDP) else problem.to_sdp()
        who = answer.solver if isinstance(answer, Solution) else UNNAMED
        return verify_point(sdp, point_of(sdp, answer, multipliers), settings, who=who)
    if answer is not None or multipliers is not None:
        raise DataTypeError(
            f"{type(problem).__name__!r} with an answer beside it was passed: an answer belongs to "
            "an SDP, a model or an SDPA file, while a cvxpy.Problem keeps its own."
        )
    return _problem(problem, settings)


def _problem(problem: cp.Problem, settings: Settings) -> Solution:
    # This imports cvxpy, which a user with a problem has imported already.
    from sdpdr.solving.verify.cvxpy_answer import verify_problem

    return verify_problem(problem, settings)


def answer_in_rows(model: Model, answer: Any) -> Any:
    """An answer to a model, of which each value that was passed has the form of a point."""
    if answer is None or isinstance(answer, (Solution, Point)):
        return answer
    known = {v.name: v for v in _own_variables(model)}
    if not isinstance(answer, Mapping):
        if len(known) != 1:
            return answer
        answer = {next(iter(known)): answer}
    return {
        name: as_row(value, known[name]) if name in known else value
        for name, value in answer.items()
    }


def lacks_only_added(model: Model, answer: Any) -> bool:
    """Whether all that an answer lacks are values of variables that the model's functions add."""
    if not isinstance(answer, Mapping) or {v.name for v in _own_variables(model)} - set(answer):
        return False
    return not model.has_standard_form or len(answer) < len(model.to_sdp().variables)


def _own_variables(model: Model) -> list[Variable]:
    """The variables that the user has declared."""
    labels = tuple(f"{label}." for label in model.labels.values())
    return [v for v in model.variables() if not v.name.startswith(labels)]


def _with_values(model: Model, answer: Any) -> cp.Problem:
    """The problem of cvxpy that a model makes, with the values of an answer."""
    values = answer.values if isinstance(answer, (Solution, Point)) else answer
    if not values:
        raise DataError(_NO_ANSWER)
    point = checked_values(values, {v.name: v.extents for v in model.variables()})
    problem = model.to_cvxpy()
    for variable in problem.variables():
        if variable.name() in point:
            variable.save_value(as_dense(point[variable.name()]))
    return problem


def _files(program: Path, answer: Any, multipliers: object, settings: Settings) -> Solution:
    from sdpdr.solving.verify.files import verify_files

    if not isinstance(answer, (str, os.PathLike)) or multipliers is not None:
        raise DataTypeError(
            f"the solution of {os.fspath(program)!r} is no file: pass the path of one that CSDP, "
            "SDPA or SDPLR wrote, or sdpdr.program.read_sdpa(path) in place of the path."
        )
    return verify_files(program, answer, settings)


def point_of(sdp: SDP, answer: Any, multipliers: Mapping[str, Any] | None) -> Point:
    """An answer to a program in standard form, in any way that `verify` accepts, as a point."""
    values: Mapping[str, Any] = {}
    duals: Mapping[str, Any] = {}
    if isinstance(answer, (Solution, Point)):
        # A solution says nan of multipliers that there are none of; from others it is a mistake.
        keep = np.nan_to_num if isinstance(answer, Solution) else np.asarray
        values, duals = answer.values, {label: keep(y) for label, y in answer.duals.items()}
    elif isinstance(answer, Mapping):
        values = answer
    elif answer is not None:
        if len(sdp.variables) != 1:
            names = ", ".join(repr(v.name) for v in sdp.variables)
            raise DataTypeError(
                f"one value was passed for the variables {names}: pass a mapping from their names."
            )
        values = {sdp.variables[0].name: answer}
    duals = duals if multipliers is None else multipliers
    if not values and not duals:
        raise DataError(_NO_ANSWER)
    return Point(values, duals)
