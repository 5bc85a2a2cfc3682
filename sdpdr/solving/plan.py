"""A plan: what is done to solve a model, as a value that can be read, changed, and run."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sdpdr.base.deadline import Deadline
from sdpdr.base.errors import (
    DataError,
    InfeasibleError,
    ModelError,
    NotAcceptedError,
    UnknownNameError,
)
from sdpdr.base.progress import Progress
from sdpdr.model import Block, Model
from sdpdr.program.point import Point
from sdpdr.program.run import Status
from sdpdr.program.sdp import SDP
from sdpdr.program.sizes import is_nothing
from sdpdr.program.solution import Solution
from sdpdr.reduce import Composed, FacialReduction, Reduction, facial_reduction
from sdpdr.reduce.squared import Squared, squared
from sdpdr.solvers.base import FORMS, Solver
from sdpdr.solvers.nearest.solver import Nearest
from sdpdr.solvers.registry import find
from sdpdr.solvers.running import until_there_is_a_worker
from sdpdr.solvers.tolerance import check_options
from sdpdr.solving.asked import (
    Asked,
    Request,
    as_model,
    as_reductions,
    refuse_idle,
    refuse_strange,
    require_solver,
)
from sdpdr.solving.attempt import attempt, check_start
from sdpdr.solving.choice import choose
from sdpdr.solving.facing import (
    Prepared,
    contradicted_solution,
    deeper,
    prepared,
    refuted_solution,
)
from sdpdr.solving.forms import configure, standard_form
from sdpdr.solving.grade import Clock, ended_as, with_status, without_what_misses
from sdpdr.solving.join import join
from sdpdr.solving.landmark.solver import landmark_way
from sdpdr.solving.turns import SETTLED, of_proofs, take_turns
from sdpdr.solving.way import BY_HAND, Way

_NOT_RIGOROUS = (
    "rigorous=True accounts for the rounding of a program in the standard form, which this model "
    "has not ({}); solve it without rigorous, or write root_det(S) for log_det(S)."
)


@dataclass(frozen=True, eq=False, repr=False)
class Plan(Way):
    """What `sdpdr.solve` would do to a model, and why.

    ``Plan(reductions, solver)`` writes one down by hand: exactly these steps, for any program.

    Attributes
    ----------
    reductions : tuple of Reduction
        In turn, from the program that is graded to the one that the solver is given.
    solver : Solver
        Configured; a name stands for one with its defaults.
    form : str
    reason : str
        Why this pair.
    model : Model or SDP or None
        What is to be solved.
    prepared : Prepared or None
        The model on the faces that were proved and in units that suit it, which comes before all
        `reductions`, unless some were asked for: those know the program as it was written. None for
        plans that were written by hand, and for the landmark form.
    asked : Asked or None
        The arguments that the plan was made from.
    sdp : SDP or None
        The program that is graded, if there is a standard form; `refusal` says why not.
    cost : Cost or None
        What it is predicted to take, as far as the choice depended on it.
    seconds : mapping
        What planning took, by phase.
    planned : tuple
        The model that the plan was made for, and what was decided for it.
    squares : (Squared, Plan) or None
        Half the square of the length that is the cost, and the plan for it, which is carried out
        first; all else says what that plan does.

    Examples
    --------
    >>> import sdpdr
    >>> from sdpdr import graphs, methods, reduce
    >>> model = methods.mvu(graphs.path([1.0, 2.0]))
    >>> chosen = sdpdr.plan(model)
    >>> chosen.solver.name, [step.name for step in chosen.reductions]
    ('lowrank', ['dedupe'])
    >>> round(chosen.run().value, 4)
    4.6667
    >>> round(chosen.but(solver="clarabel", form="lmi").run().value, 4)
    4.6667
    >>> by_hand = sdpdr.Plan([reduce.Dedupe(), reduce.Scale(), reduce.Dual()], "clarabel")
    >>> round(by_hand.run(model).value, 4)
    4.6667
    """

    form: str = ""
    reason: str = "it was written by hand"
    model: Model | SDP | None = None
    prepared: Prepared | None = None
    asked: Asked | None = None
    seconds: Mapping[str, float] = field(default_factory=dict)
    planned: tuple[Any, ...] = ()
    squares: tuple[Squared, Plan] | None = None

    def __post_init__(self) -> None:
        require_solver(self.solver)
        solver = find(self.solver)() if isinstance(self.solver, str) else self.solver
        object.__setattr__(self, "solver", solver)
        object.__setattr__(self, "reductions", as_reductions(self.reductions))
        object.__setattr__(self, "form", self.form or BY_HAND)
        if self.form not in (*FORMS, "landmark", BY_HAND):
            raise UnknownNameError("form", self.form, (*FORMS, BY_HAND))
        if self.form == "cvxpy" and self.reductions:
            raise DataError("the form 'cvxpy' is the model as written, without reductions.")

    def before(self) -> list[str]:
        """What comes before the reductions, in words."""
        words = [] if self.squares is None else ["half the square of the length that is the cost"]
        return words if self.prepared is None else [*words, *self.prepared.words()]

    def but(self, **changes: Any) -> Plan:
        """The plan for the same model with other arguments of `sdpdr.plan`.

        Raises
        ------
        DataError
            If the plan was written by hand; use `dataclasses.replace` on its parts.
        """
        if self.asked is None or self.model is None:
            raise DataError("this plan was written by hand: replace its parts instead.")
        before = self.asked.arguments()
        if changes.get("form", "landmark") != "landmark":
            before |= {"landmarks": None, "basis": None}
        return plan(self.model, **(before | changes))

    def __reduce__(self) -> tuple[Any, ...]:
        """A plan travels as what was asked, or as what was written."""
        if self.asked is not None and self.model is not None:
            return partial(plan, self.model, **self.asked.arguments()), ()
        return partial(Plan, model=self.model), (self.reductions, self.solver, self.form)

    def run(
        self,
        model: Model | SDP | None = None,
        *,
        isolate: bool | None = None,
        rigorous: bool = False,
        gap_scale: float = 0.0,
        start: Solution | Point | None = None,
        progress: Progress | bool | None = None,
        attainable: bool = True,
    ) -> Solution:
        """Carry the plan out, and grade the answer.

        Parameters
        ----------
        model : Model or SDP, optional
            For plans that were written by hand: what to solve.
        isolate, rigorous, gap_scale, start, progress : see `sdpdr.solve`
        attainable : bool, default True
            Whether to prove that the value is attained, for which the point may be moved.

        Returns
        -------
        Solution

        Raises
        ------
        DataError
            If there is no model, or another one than the plan was made for.
        NotAcceptedError
            If a reduction or the solver does not take the program.
        """
        watch = Deadline()
        chosen = self._of(model)
        assert chosen.model is not None
        request = Request(
            chosen.model,
            isolate=isolate,
            rigorous=rigorous,
            gap_scale=gap_scale,
            start=start,
            progress=progress,
            attainable=attainable,
        )
        return chosen.in_time(request, watch)

    def in_time(self, request: Request, since: Deadline) -> Solution:
        """The answer in the time limit of the solver, of which planning has taken a part."""
        deadline = Deadline(self.solver.time_limit, since=since)
        return self.carried_out(replace(request, deadline=deadline))

    def carried_out(self, request: Request) -> Solution:
        """The answer of a plan that was made for the model of a request as it stands.

        Raises
        ------
        NotAcceptedError
            If rigorous proofs are asked of a model without a standard form.
        """
        from sdpdr.solving.tightening import tightened  # which plans the tangents

        if request.rigorous and self.sdp is None:
            why = standard_form(request.model)[1].rstrip(".")
            raise NotAcceptedError(_NOT_RIGOROUS.format(why))
        solution = self._answered(request)
        try:
            solution = tightened(request.model, solution, request.deadline)
        except KeyboardInterrupt:
            solution = replace(solution, status=Status.INTERRUPTED)
        if request.attainable:
            solution = without_what_misses(solution)
        if not isinstance(request.model, Model):
            return solution
        return replace(solution, of_model=True, shapes=request.model.shapes)

    def _answered(self, request: Request) -> Solution:
        if self.squares is not None:
            return self._by_squares(*self.squares, request)
        clock = Clock(self.seconds)
        first = self._faced(clock, request)
        if self.prepared is None or self.asked is None or self.asked.via:
            return first
        if not request.attainable or not _may_lie_on_a_face(first):
            return first
        return self._deeper(first, clock, request)

    def _by_squares(self, squared: Squared, inner: Plan, request: Request) -> Solution:
        """The answer by half the square of the length; as it is written where that falls short."""
        assert self.sdp is not None
        assert self.asked is not None
        answers = []
        # Who begins somewhere, begins with the length.
        if request.start is None:
            found = inner._answered(replace(request, model=squared.sdp))
            graded = with_status(self.sdp, squared.lift(found), ended_as(found.status))
            answers.append(graded)
            ended = graded.status in (*SETTLED, Status.INTERRUPTED) or request.deadline.is_over()
            # No gap is small relative to zero, by squares or without.
            if ended or is_nothing(self.sdp, graded.attained, graded.bound):
                return graded
        clock = Clock()
        with clock("reduce"):
            faced = facial_reduction(self.sdp)
        plain = _planned(
            request.model, self.sdp, self.asked, faced or None, clock, request.deadline
        )
        return join([*answers, plain._answered(request)])

    def _of(self, model: Model | SDP | None) -> Plan:
        """The plan for a model, where it was written by hand."""
        model = self.model if model is None else model
        if self.asked is not None:
            made_for, *decided = self.planned
            if model is not made_for:
                raise DataError(
                    "this plan was made for a model of its own: run() it, or plan the other model."
                )
            if decided != [self.reductions, self.solver, self.form]:
                raise DataError("a part of this plan was replaced: use but(), or write it by hand.")
            # The numbers of the model may have changed since.
            return self.but()
        if model is None:
            raise DataError("a plan that was written by hand needs a model: run(model).")
        refuse_strange(model, self.solver)
        self.solver.require()
        sdp, refusal = standard_form(model)
        if sdp is None:
            raise NotAcceptedError(f"a plan by hand needs a standard form: {refusal}")
        refusal = self.solver.accepts(Composed(self.reductions).apply(sdp).sdp) or ""
        if refusal:
            raise NotAcceptedError(f"solver {self.solver.name!r} cannot take it: {refusal}.")
        return replace(self, model=model, sdp=sdp)

    def _faced(self, clock: Clock, request: Request) -> Solution:
        """The answer to the model, by way of its faces and units."""
        ready = self.prepared
        if ready is None:
            return self._contradicted(clock, request)
        if ready.faced is not None and ready.faced.infeasible is not None:
            return refuted_solution(ready.faced, clock.seconds, self.solver.tol)
        start = None if request.start is None else ready.push(request.start)
        return ready.lift(
            self._contradicted(clock, replace(request, model=ready.model, start=start))
        )

    def _contradicted(self, clock: Clock, request: Request) -> Solution:
        """The answer to the program that is graded; rows that contradict each other are one."""
        if request.start is not None:
            check_start(self, request.start)
        try:
            return self._carried_out(clock, request)
        except InfeasibleError as error:
            assert self.sdp is not None  # whose rows were compared
            return contradicted_solution(self.sdp, error, clock.seconds, self.solver.tol)

    def _carried_out(self, clock: Clock, request: Request) -> Solution:
        """Run the plan, or one way after the other; their time begins when there is a worker."""
        narrower = self.form == "landmark" or any(step.is_narrower for step in self.reductions)
        # What is lost by a narrower program, no other solver finds.
        if self.asked is not None and self.asked.solver == "auto" and not narrower:

            def in_turn(one: Way, turn: str, proofs: Deadline, start: Solution | None) -> Solution:
                begin = request.start if start is None else start
                return attempt(one, clock, replace(request, proofs=proofs, start=begin), turn)

            return take_turns(self, in_turn, request.deadline, rigorous=request.rigorous)
        if self.solver.time_limit is not None and request.isolate is not False:
            request.deadline.excuse(until_there_is_a_worker(self.solver))
        one = replace(self, solver=replace(self.solver, time_limit=request.deadline.left()))
        return attempt(one, clock, replace(request, proofs=of_proofs(request.deadline)))

    def _deeper(self, first: Solution, clock: Clock, request: Request) -> Solution:
        """The answer, joined with that on a smaller face if one is found in the time left."""
        assert self.asked is not None
        assert self.prepared is not None
        assert self.model is not None
        sdp = self.prepared.standard
        if sdp is None or request.deadline.is_over():
            return first
        try:
            with clock("reduce"):
                known = self.prepared.faced
                found = deeper(sdp, known, request.deadline)
            if found is None:
                return first
            options = dict(self.asked.options) | {"time_limit": request.deadline.left()}
            asked = replace(self.asked, options=options)
            again = _planned(self.model, sdp, asked, found, clock, request.deadline)
            second = again._faced(clock, request)
        except KeyboardInterrupt:
            return replace(first, status=Status.INTERRUPTED)
        except (NotAcceptedError, ModelError, ArithmeticError, np.linalg.LinAlgError, MemoryError):
            # A solver need not take what is left on the face, nor be able to compute with it.
            return first
        both = join([first, second])
        if second.status is Status.INTERRUPTED and both.status not in SETTLED:
            return replace(both, status=Status.INTERRUPTED)
        return both


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
    return _planned(model, sdp, asked, faced or None, clock, deadline, refusal)


def _planned(
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
    inner = _planned(length.sdp, length.sdp, asked, faced or None, clock, deadline)
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


def _may_lie_on_a_face(solution: Solution) -> bool:
    """Whether a point that nobody could prove feasible was found, or a claim without a proof."""
    if solution.status is Status.UNVERIFIED:
        return solution.claimed.verdict in ("infeasible", "unbounded")
    short = (Status.OPTIMAL_NEARBY, Status.INACCURATE)
    return solution.status in short and solution.attained is None and bool(solution.values)
