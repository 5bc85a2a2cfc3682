"""A plan: what is done to solve a model, as a value that can be read, changed, and run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from sdpdr.base.deadline import Deadline
from sdpdr.base.errors import (
    DataError,
    InfeasibleError,
    NotAcceptedError,
    UnknownNameError,
)
from sdpdr.base.progress import Progress
from sdpdr.certify.proof_file import write_proof
from sdpdr.model import Model
from sdpdr.program.point import Point
from sdpdr.program.run import Status
from sdpdr.program.sdp import SDP
from sdpdr.program.sizes import is_nothing
from sdpdr.program.solution import Solution
from sdpdr.reduce import Composed, FacialReduction, facial_reduction
from sdpdr.reduce.squared import Squared
from sdpdr.solvers.base import FORMS
from sdpdr.solvers.registry import find
from sdpdr.solvers.running import until_there_is_a_worker
from sdpdr.solving.asked import (
    Asked,
    Clock,
    Request,
    as_reductions,
    refuse_strange,
    require_solver,
)
from sdpdr.solving.attempt import attempt, check_start
from sdpdr.solving.facing import (
    Prepared,
    contradicted_solution,
    refuted_solution,
)
from sdpdr.solving.grade import ended_as, go_on, with_status, without_what_misses
from sdpdr.solving.join import join
from sdpdr.solving.turns import SETTLED, of_proofs, take_turns
from sdpdr.solving.way import BY_HAND, Way, standard_form

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
        return _made(self.model, **(before | changes))

    def __reduce__(self) -> tuple[Any, ...]:
        """A plan travels as what was asked, or as what was written."""
        if self.asked is not None and self.model is not None:
            return partial(_made, self.model, **self.asked.arguments()), ()
        return partial(Plan, model=self.model), (self.reductions, self.solver, self.form)

    def run(
        self,
        model: Model | SDP | None = None,
        *,
        isolate: bool | None = None,
        rigorous: bool = False,
        gap_scale: float = 0.0,
        proof: str = "budget",
        start: Solution | Point | None = None,
        progress: Progress | bool | None = None,
        attainable: bool = True,
    ) -> Solution:
        """Carry the plan out, and grade the answer.

        Parameters
        ----------
        model : Model or SDP, optional
            For plans that were written by hand: what to solve.
        isolate, rigorous, gap_scale, proof, start, progress : see `sdpdr.solve`
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
        asked = (isolate, rigorous, gap_scale, start, progress, attainable, proof)
        return chosen.in_time(Request(chosen.model, *asked), watch)

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
        if request.rigorous and self.sdp is None:
            why = standard_form(request.model)[1].rstrip(".")
            raise NotAcceptedError(_NOT_RIGOROUS.format(why))
        solution = self._answered(request)
        if request.attainable:
            solution = without_what_misses(solution)
        sdp = self.prepared.standard if self.prepared is not None else self.sdp
        if sdp is not None:
            prover, writer = partial(go_on, sdp), partial(write_proof, sdp)
            solution = replace(solution, prover=prover, writer=writer)
        if not isinstance(request.model, Model):
            return solution
        return replace(solution, of_model=True, shapes=request.model.shapes)

    def _answered(self, request: Request) -> Solution:
        if self.squares is not None:
            return self._by_squares(*self.squares, request)
        request = replace(request, clock=Clock(self.seconds))
        return self._faced(request)

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
        again = replace(request, clock=Clock())
        with again.clock("reduce"):
            faced = facial_reduction(self.sdp)
        plain = self._planned_again(self.sdp, self.asked, faced or None, again)
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

    def _faced(self, request: Request) -> Solution:
        """The answer to the model, by way of its faces and units."""
        ready = self.prepared
        if ready is None:
            return self._contradicted(request)
        if ready.faced is not None and ready.faced.infeasible is not None:
            return refuted_solution(ready.faced, request.clock.seconds, self.solver.tol)
        start = None if request.start is None else ready.push(request.start)
        return ready.lift(self._contradicted(replace(request, model=ready.model, start=start)))

    def _contradicted(self, request: Request) -> Solution:
        """The answer to the program that is graded; rows that contradict each other are one."""
        if request.start is not None:
            check_start(self, request.start)
        try:
            return self._carried_out(request)
        except InfeasibleError as error:
            assert self.sdp is not None  # whose rows were compared
            return contradicted_solution(self.sdp, error, request.clock.seconds, self.solver.tol)

    def _carried_out(self, request: Request) -> Solution:
        """Run the plan, or one way after the other; their time begins when there is a worker."""
        narrower = self.form == "landmark" or any(step.is_narrower for step in self.reductions)
        # What is lost by a narrower program, no other solver finds.
        if self.asked is not None and self.asked.solver == "auto" and not narrower:

            def in_turn(one: Way, turn: str, proofs: Deadline, start: Solution | None) -> Solution:
                begin = request.start if start is None else start
                return attempt(one, replace(request, proofs=proofs, start=begin), turn)

            return take_turns(self, in_turn, request.deadline, rigorous=request.rigorous)
        if self.solver.time_limit is not None and request.isolate is not False:
            request.deadline.excuse(until_there_is_a_worker(self.solver))
        one = replace(self, solver=replace(self.solver, time_limit=request.deadline.left()))
        return attempt(one, replace(request, proofs=of_proofs(request.deadline)))

    def _planned_again(
        self, sdp: SDP, asked: Asked, faced: FacialReduction | None, request: Request
    ) -> Plan:
        """Another plan for the model, on a face that is known."""
        from sdpdr.solving.planning import Planner

        assert self.model is not None
        return Planner(self.model, asked, request.clock).on_face(sdp, faced)


def _made(model: Model | SDP, **arguments: Any) -> Plan:
    """The plan that is made for a model of some arguments."""
    from sdpdr.solving.planning import plan

    return plan(model, **arguments)
