"""Faces and units around a solve: before anything is planned, and on the way back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from importlib.metadata import version

from sdpdr.errors import CompileError
from sdpdr.model import Model
from sdpdr.program.point import Point
from sdpdr.program.range import require_admissible
from sdpdr.program.residuals import Residuals
from sdpdr.program.sdp import SDP
from sdpdr.program.solution import Claim, Solution, Status
from sdpdr.reduce import Balance, FacialReduction, Reduced, facial_reduction
from sdpdr.solvers.exposing import lend


def faced_program(model: Model | SDP) -> FacialReduction | None:
    """The program restricted to the faces that are proved at next to no cost.

    Parameters
    ----------
    model : Model or SDP

    Returns
    -------
    FacialReduction or None
        None if there is nothing to reduce, or no standard form.

    Raises
    ------
    ModelError
        If a number is beyond the range that is computed with.
    """
    sdp = _standard(model)
    if sdp is None:
        return None
    faced = facial_reduction(require_admissible(sdp))
    return faced if faced else None


def _standard(model: Model | SDP) -> SDP | None:
    """The standard form; None for models with blocks that are written in cvxpy directly."""
    if isinstance(model, SDP):
        return model
    try:
        return model.to_sdp()
    except CompileError:
        return None


def balanced_program(model: Model | SDP) -> Reduced | None:
    """The program in units that make the rows of its matrices alike; None where they are.

    Units are powers of two, so that it is the same program, and what is proved of it is proved of
    the original: multipliers, value and bound stay as they are.
    """
    sdp, balance = _standard(model), Balance()
    return None if sdp is None or balance.accepts(sdp) is not None else balance.apply(sdp)


def deeper(
    model: Model | SDP, faced: FacialReduction | None = None, time_limit: float | None = None
) -> FacialReduction | None:
    """Look for combinations of rows too, where no interior was found; for small programs.

    Parameters
    ----------
    model : Model or SDP
        The original program.
    faced : FacialReduction, optional
        What is known already.
    time_limit : float, optional
        Seconds for the solver that suggests combinations.

    Returns
    -------
    FacialReduction or None
        None if nothing more was found.
    """
    sdp = _standard(model)
    if sdp is None:
        return None
    found = facial_reduction(sdp, lend=partial(lend, time_limit=time_limit))
    known = 0 if faced is None else len(faced.exposures)
    return found if len(found.exposures) > known else None


def lifted_solution(solution: Solution, faced: FacialReduction | None) -> Solution:
    """An answer to the reduced program as one to the original.

    Value, bound and grade are those of the reduced program, which is equivalent by the proofs in
    ``exposures``. Multipliers of rows that were dropped are zero: they need not be a dual point
    of the original program, which may have none with this value.
    """
    if faced is None or not faced.exposures:
        return solution
    point = faced.lift(Point(solution.values, solution.duals))
    return replace(
        solution,
        values=point.values,
        duals=point.duals,
        argument=f"{solution.argument}; {_words(faced)}",
        exposures=faced.exposures,
    )


def refuted_solution(faced: FacialReduction, seconds: Mapping[str, float], tol: float) -> Solution:
    """The answer to a program that facial reduction proved infeasible; nothing was solved."""
    assert faced.infeasible is not None
    return Solution(
        status=Status.INFEASIBLE,
        value=float("nan"),
        attained_by="there is no point",
        bound=None,
        argument=faced.infeasible,
        values={},
        duals={},
        residuals=Residuals(*[float("nan")] * 6),
        claimed=Claim("infeasible", message=faced.infeasible, verdict="infeasible"),
        timings=dict(seconds),
        solver="none",
        form="facial reduction",
        tol=tol,
        versions={"sdpdr": version("sdpdr")},
        maximize=faced.original.maximize,
        exposures=faced.exposures,
    )


def _words(faced: FacialReduction) -> str:
    before = sum(v.n for v in faced.original.psd_variables)
    after = sum(v.n for v in faced.sdp.psd_variables)
    return (
        f"on the face that {len(faced.exposures)} exposing steps prove (matrices of order "
        f"{before} became {after})"
    )
