"""Plans are made: faces and units first, then the way that is predicted to take least."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import fields, replace

from numpy.typing import ArrayLike

from sdpdr.base.deadline import Deadline
from sdpdr.model import Block, Model
from sdpdr.program.sdp import SDP
from sdpdr.reduce import FacialReduction, Reduction, facial_reduction
from sdpdr.reduce.squared import Squared, squared
from sdpdr.solvers.base import Solver
from sdpdr.solvers.nearest.solver import Nearest
from sdpdr.solvers.registry import find
from sdpdr.solvers.tolerance import check_options
from sdpdr.solving.asked import Asked, Clock, as_model, as_reductions, refuse_idle, refuse_strange
from sdpdr.solving.choice import choose
from sdpdr.solving.facing import Prepared, prepared
from sdpdr.solving.forms import configure, standard_form
from sdpdr.solving.landmark.solver import landmark_way
from sdpdr.solving.plan import Plan
from sdpdr.solving.way import Way


def plan(
    model: Model | SDP | Block,
    solver: str | Solver = "auto",
    form: str = "auto",
    *,
    via: Sequence[Reduction] = (),
    skip: Collection[str] = (),
    landmarks: int | None = None,
    basis: str | ArrayLike | None = None,
    tol: float | None = None,
    time_limit: float | None = None,
    max_iter: int | None = None,
    seed: int | None = None,
    verbose: bool | None = None,
) -> Plan:
    """Choose reductions, a solver and a form without solving.

    Parameters
    ----------
    model : Model or SDP, or one Block
    solver : str or Solver, default "auto"
        A name, or a configured solver object.
    form : {"auto", "factor", "lmi", "gram", "chordal", "chordal-lmi", "cvxpy", "landmark"}
        Default: "auto".
    via : sequence of Reduction, default ()
        The first steps, for instance ``[reduce.Chordal()]`` or ``[reduce.Dual()]``; solver and
        form are chosen for the program that they lead to. Nothing comes before them.
    skip : collection of str, default ()
        Names that "auto" does not consider.
    landmarks, basis : optional
        Of the landmark form, see `sdpdr.solve`.
    tol, time_limit, max_iter, seed, verbose : optional
        Uniform options; they win over those of a solver object.

    Returns
    -------
    Plan

    Raises
    ------
    UnknownNameError, SolverMissingError, SolverLicenceError
    NotAcceptedError
        If the solver cannot take the program in that form; the message says why.
    DataError
        If an argument would have no effect.

    Notes
    -----
    The model is first brought to the faces that are proved at next to no cost, and to units that
    suit it; ``explain()`` says so. Candidates are ranked by predicted seconds over the squared
    share of the problem library that they solved to the tolerance.

    Examples
    --------
    >>> from sdpdr import graphs, methods, plan
    >>> choice = plan(methods.mvu(graphs.path([1.0, 2.0])))
    >>> choice.solver.name, choice.form
    ('lowrank', 'factor')
    """
    options = {
        "tol": tol,
        "time_limit": time_limit,
        "max_iter": max_iter,
        "seed": seed,
        "verbose": verbose,
    }
    model = as_model(model)
    refuse_strange(model, solver)
    asked = Asked(solver, form, as_reductions(via), skip, landmarks, basis, options)
    refuse_idle(asked)
    check_options({name: value for name, value in options.items() if value is not None})
    clock, deadline = Clock(), Deadline(time_limit)
    if form == "landmark":
        with clock("build"):
            wanted = "reconstruction" if basis is None else basis
            way = landmark_way(model, solver, landmarks, wanted, options)
        return _as_plan(way, model, None, asked, clock)
    with clock("build"):
        sdp, refusal = standard_form(model)
    length = squared(sdp) if sdp is not None and form == "auto" and not asked.via else None
    if length is not None and _is_easier_squared(length, solver):
        return _planned_by_squares(model, sdp, length, asked, clock, deadline)
    # Reductions that were asked for know the program as it was written.
    as_written = form == "cvxpy" or asked.via
    with clock("reduce"):
        faced = None if as_written or sdp is None else facial_reduction(sdp)
    return planned(model, sdp, asked, faced or None, clock, deadline, refusal)


def planned(
    model: Model | SDP,
    sdp: SDP | None,
    asked: Asked,
    faced: FacialReduction | None,
    clock: Clock,
    deadline: Deadline,
    refusal: str = "",
) -> Plan:
    """The plan for a model on the face that is proved."""
    if asked.solver != "auto":
        (find(asked.solver) if isinstance(asked.solver, str) else asked.solver).require()
    if faced is not None and faced.infeasible is not None:
        return _refuted(model, asked, faced, clock)
    with clock("reduce"):
        ready = prepared(model, sdp, faced, units=asked.form != "cvxpy" and not asked.via)
    with clock("build"):
        given = (asked.solver, asked.form, asked.options, asked.via, asked.skip)
        way = choose(ready.sdp, *given, refusal, deadline)
    return _as_plan(way, model, ready, asked, clock)


def _is_easier_squared(length: Squared, solver: str | Solver) -> bool:
    """Whether half the square of a length takes less than the length."""
    is_distance = Nearest().accepts(length.sdp) is None
    if solver != "auto":
        return is_distance and solver == Nearest.name
    return is_distance or length.heads is not None


def _planned_by_squares(
    model: Model | SDP,
    sdp: SDP | None,
    length: Squared,
    asked: Asked,
    clock: Clock,
    deadline: Deadline,
) -> Plan:
    """The plan for half the square of a length, as one for the length."""
    with clock("reduce"):
        faced = facial_reduction(length.sdp)
    inner = planned(length.sdp, length.sdp, asked, faced or None, clock, deadline)
    return replace(
        inner,
        model=model,
        sdp=sdp,
        planned=(model, *inner.planned[1:]),
        squares=(length, inner),
    )


def _refuted(model: Model | SDP, asked: Asked, faced: FacialReduction, clock: Clock) -> Plan:
    """The plan for a program that has no point, by its faces: to say so."""
    assert faced.infeasible is not None
    solver = configure("lowrank" if asked.solver == "auto" else asked.solver, asked.options)
    way = Way((), solver, solver.forms[0], faced.infeasible, faced.original)
    return _as_plan(way, model, Prepared(model, faced.original, faced), asked, clock)


def _as_plan(
    way: Way, model: Model | SDP, ready: Prepared | None, asked: Asked, clock: Clock
) -> Plan:
    return Plan(
        **{part.name: getattr(way, part.name) for part in fields(Way)},
        model=model,
        prepared=ready,
        asked=asked,
        seconds=dict(clock.seconds),
        planned=(model, way.reductions, way.solver, way.form),
    )
