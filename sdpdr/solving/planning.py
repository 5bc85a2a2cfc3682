"""Plans are made: faces and units first, then the rule that chooses."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, fields, replace

from numpy.typing import ArrayLike

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
from sdpdr.solving.landmark.solver import landmark_way
from sdpdr.solving.plan import Plan
from sdpdr.solving.way import Way, configure, standard_form


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
    suit it; ``explain()`` says so. The rule that chooses reads sizes alone, and never load, free
    memory or a clock.

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
    planner = Planner(model, asked)
    return planner.landmark() if form == "landmark" else planner.plan()


def _is_easier_squared(length: Squared, solver: str | Solver) -> bool:
    """Whether half the square of a length takes less than the length."""
    is_distance = Nearest().accepts(length.sdp) is None
    if solver != "auto":
        return is_distance and solver == Nearest.name
    return is_distance or length.heads is not None


@dataclass(frozen=True, eq=False)
class Planner:
    """How a model is planned.

    Parameters
    ----------
    model : Model or SDP
    asked : Asked
    clock : Clock, optional
        Seconds are added to it.
    """

    model: Model | SDP
    asked: Asked
    clock: Clock = field(default_factory=Clock)

    def landmark(self) -> Plan:
        """The plan in the landmark form."""
        asked = self.asked
        with self.clock("build"):
            basis = "reconstruction" if asked.basis is None else asked.basis
            way = landmark_way(self.model, asked.solver, asked.landmarks, basis, asked.options)
        return self._plan(way, None)

    def plan(self) -> Plan:
        """The plan in other forms: by squares, on a face, or as the model is written."""
        asked = self.asked
        with self.clock("build"):
            sdp, refusal = standard_form(self.model)
        is_free = asked.form == "auto" and not asked.via
        length = squared(sdp) if sdp is not None and is_free else None
        if length is not None and _is_easier_squared(length, asked.solver):
            return self._by_squares(sdp, length)
        # Reductions that were asked for know the program as it was written.
        as_written = asked.form == "cvxpy" or asked.via
        with self.clock("reduce"):
            faced = None if as_written or sdp is None else facial_reduction(sdp)
        return self.on_face(sdp, faced or None, refusal)

    def on_face(self, sdp: SDP | None, faced: FacialReduction | None, refusal: str = "") -> Plan:
        """The plan on a face that is proved."""
        asked = self.asked
        if asked.solver != "auto":
            (find(asked.solver) if isinstance(asked.solver, str) else asked.solver).require()
        if faced is not None and faced.infeasible is not None:
            return self._refuted(faced, faced.infeasible)
        with self.clock("reduce"):
            units = asked.form != "cvxpy" and not asked.via
            ready = prepared(self.model, sdp, faced, units=units)
        with self.clock("build"):
            way = choose(ready.sdp, asked, refusal)
        return self._plan(way, ready)

    def _by_squares(self, sdp: SDP | None, length: Squared) -> Plan:
        """The plan for half the square of a length, as one for the length."""
        with self.clock("reduce"):
            faced = facial_reduction(length.sdp)
        inner = replace(self, model=length.sdp).on_face(length.sdp, faced or None)
        planned = (self.model, *inner.planned[1:])
        squares = (length, inner)
        return replace(inner, model=self.model, sdp=sdp, planned=planned, squares=squares)

    def _refuted(self, faced: FacialReduction, why: str) -> Plan:
        """The plan for a program that has no point, by its faces: to say so."""
        asked = self.asked
        solver = configure("lowrank" if asked.solver == "auto" else asked.solver, asked.options)
        way = Way((), solver, solver.forms[0], why, faced.original)
        return self._plan(way, Prepared(self.model, faced.original, faced))

    def _plan(self, way: Way, ready: Prepared | None) -> Plan:
        return Plan(
            **{part.name: getattr(way, part.name) for part in fields(Way)},
            model=self.model,
            prepared=ready,
            asked=self.asked,
            seconds=dict(self.clock.seconds),
            planned=(self.model, way.reductions, way.solver, way.form),
        )
