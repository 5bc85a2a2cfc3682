"""A plan: what is done to solve a model, as a value that can be read, changed, and run."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from math import inf
from typing import TYPE_CHECKING, Any

from sdpdr.base.deadline import Deadline
from sdpdr.base.errors import (
    DataError,
    InfeasibleError,
    NotAcceptedError,
    UnknownNameError,
)
from sdpdr.base.keywords import checks_keywords
from sdpdr.base.progress import Progress
from sdpdr.certify.answer import is_nothing
from sdpdr.certify.proof_file import write_proof
from sdpdr.model import Block, Model
from sdpdr.program.point import Point
from sdpdr.program.run import Status
from sdpdr.program.sdp import SDP
from sdpdr.program.solution import Solution
from sdpdr.reduce import Composed, Reduction
from sdpdr.reduce.squared import Squared, squared
from sdpdr.solvers.base import FORMS, Solver
from sdpdr.solvers.lowrank.edge import form as edge_form
from sdpdr.solvers.nearest.solver import Nearest
from sdpdr.solvers.registry import find
from sdpdr.solving.attempt import check_start
from sdpdr.solving.candidate import Candidate, configure, shares, standard_form
from sdpdr.solving.choice import POSSIBLE, Choice, choose
from sdpdr.solving.grade import ended_as, go_on, with_status, without_what_misses
from sdpdr.solving.join import join
from sdpdr.solving.landmark import landmark_candidate
from sdpdr.solving.options import (
    Clock,
    PlanOptions,
    Request,
    as_model,
    as_reductions,
    refuse_idle,
    require_solver,
)
from sdpdr.solving.portfolio import SETTLED, of_solvers, take_turns
from sdpdr.solving.presolve import Presolved, contradicted_solution, presolve, refuted_solution

if TYPE_CHECKING:
    import cvxpy as cp

_NOT_RIGOROUS = (
    "rigorous=True accounts for the rounding of a program in the standard form, which this model "
    "has not ({}); solve it without rigorous, or write root_det(S) for log_det(S)."
)
# What stands in place of a form where there is none to choose.
BY_HAND = "by hand"
_FORMS = {**FORMS, "landmark": "a narrower program", BY_HAND: "the steps written there"}


@dataclass(frozen=True, eq=False, repr=False)
class Plan(Candidate):
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
    sdp : SDP or None
        The program that is graded, if there is a standard form.
    presolved : Presolved or None
        The model on the faces that were proved and in units that suit it, which comes before all
        `reductions`; None where there is none of either.
    requested : PlanOptions or None
        The arguments of `sdpdr.plan`.
    choice : Choice or None
        The candidates that were considered.
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
    ('lowrank', [])
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
    sdp: SDP | None = None
    presolved: Presolved | None = None
    requested: PlanOptions | None = None
    choice: Choice | None = None
    seconds: Mapping[str, float] = field(default_factory=dict)
    planned: tuple[Any, ...] = ()
    squares: tuple[Squared, Plan] | None = None

    def __post_init__(self) -> None:
        require_solver(self.solver)
        solver = find(self.solver)() if isinstance(self.solver, str) else self.solver
        object.__setattr__(self, "solver", solver)
        object.__setattr__(self, "reductions", as_reductions(self.reductions))
        object.__setattr__(self, "form", self.form or BY_HAND)
        if self.form not in _FORMS:
            raise UnknownNameError("form", self.form, (*FORMS, BY_HAND))
        if self.form == "cvxpy" and self.reductions:
            raise DataError("the form 'cvxpy' is the model as written, without reductions.")

    # -- reading ----------------------------------------------------------------------------------

    @cached_property
    def sequence(self) -> tuple[Candidate, ...]:
        """All candidates in order; a solver that was requested by name is alone."""
        return (self,) if self.choice is None else tuple(self.choice.candidates())

    @property
    def shares(self) -> tuple[float, ...]:
        """Seconds after which each of the `sequence` gives way; what is left is for proofs."""
        return shares(len(self.sequence), of_solvers(Deadline(self.solver.time_limit)).seconds)

    @property
    def others(self) -> dict[tuple[str, str], str]:
        """Every other pair of solver and form: ``"possible"``, or why not."""
        choice = self.choice or Choice(self.sdp, "", PlanOptions(), None)
        pairs = choice.reasons()
        pairs.pop((self.solver.name, self.form), None)
        return pairs

    def explain(self) -> str:
        """The choice, the candidates after it, and what else there is, in words."""
        steps = " → ".join(r.name for r in self.reductions) or "none"
        before = [] if self.squares is None else ["half the square of the length that is the cost"]
        before += [] if self.presolved is None else self.presolved.words()
        lines = [
            f"solver      {self.solver.name}",
            f"form        {self.form} ({_FORMS[self.form]})",
            *(f"before      {words}" for words in before),
            f"reductions  {steps}",
            f"because     {self.reason}",
            *self._turns(),
        ]
        for title, is_possible in (("also possible", True), ("not possible", False)):
            grouped: dict[tuple[str, str], list[str]] = {}
            for (name, form), words in self.others.items():
                if (words == POSSIBLE) == is_possible:
                    grouped.setdefault((name, words), []).append(form)
            lines += ["", title] if grouped else []
            for (name, words), forms in grouped.items():
                line = f"  {name:<15}{', '.join(forms):<20}"
                lines.append(line.rstrip() if is_possible else f"{line}  {words}")
        return "\n".join(lines)

    def _turns(self) -> list[str]:
        """The candidates with their shares of the time, where there are several."""
        if len(self.sequence) == 1:
            return []
        lines = ["", "in turn, until the answer is proved (and seconds until the next one's turn)"]
        for one, share in zip(self.sequence, self.shares, strict=True):
            allowed = f"{share:.3g} s" if share < inf else "no limit"
            lines.append(f"  {one.solver.name:<15}{one.form:<13}{allowed:>9}")
        return lines

    def __repr__(self) -> str:
        return f"Plan({self.solver.name}, {self.form} form: {self.reason})"

    def but(self, **changes: Any) -> Plan:
        """The plan for the same model with other arguments of `sdpdr.plan`.

        Raises
        ------
        DataError
            If the plan was written by hand; use `dataclasses.replace` on its parts.
        """
        if self.requested is None or self.model is None:
            raise DataError("this plan was written by hand: replace its parts instead.")
        before = self.requested.arguments()
        if changes.get("form", "landmark") != "landmark":
            before["landmarks"] = None
        return plan(self.model, **(before | changes))

    def __reduce__(self) -> tuple[Any, ...]:
        """A plan travels as what was requested, or as what was written."""
        if self.requested is not None and self.model is not None:
            return partial(plan, self.model, **self.requested.arguments()), ()
        return partial(Plan, model=self.model), (self.reductions, self.solver, self.form)

    # -- running ----------------------------------------------------------------------------------

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
    ) -> Solution:
        """Carry the plan out, and grade the answer.

        Parameters
        ----------
        model : Model or SDP, optional
            For plans that were written by hand: what to solve.
        isolate, rigorous, gap_scale, proof, start, progress : see `sdpdr.solve`

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
        request = Request(chosen.model, isolate, rigorous, gap_scale, start, progress, proof=proof)
        return chosen.in_time(request, watch)

    def _of(self, model: Model | SDP | None) -> Plan:
        """The plan for a model, where it was written by hand."""
        model = self.model if model is None else model
        if self.requested is not None:
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
        model = as_model(model)
        self.solver.require()
        sdp, refusal = standard_form(model)
        if sdp is None:
            raise NotAcceptedError(f"a plan by hand needs a standard form: {refusal}")
        refusal = self.solver.accepts(Composed(self.reductions).apply(sdp).sdp) or ""
        if refusal:
            raise NotAcceptedError(f"solver {self.solver.name!r} cannot take it: {refusal}.")
        return replace(self, model=model, sdp=sdp)

    def in_time(self, request: Request, since: Deadline) -> Solution:
        """The answer in the time limit of the solver, of which planning has taken a part.

        Raises
        ------
        NotAcceptedError
            If rigorous proofs are requested for a model without a standard form.
        """
        if request.rigorous and self.sdp is None:
            why = standard_form(request.model)[1].rstrip(".")
            raise NotAcceptedError(_NOT_RIGOROUS.format(why))
        deadline = Deadline(self.solver.time_limit, since=since)
        solution = self._answer(replace(request, deadline=deadline))
        if request.attainable:
            solution = without_what_misses(solution)
        sdp = self.sdp
        # An answer to half the square of a length is one to the length by now.
        if self.presolved is not None and self.squares is None:
            sdp = self.presolved.original
        if sdp is not None:
            prover, writer = partial(go_on, sdp), partial(write_proof, sdp)
            solution = replace(solution, prover=prover, writer=writer)
        if not isinstance(request.model, Model):
            return solution
        return replace(solution, of_model=True, shapes=request.model.shapes)

    def _answer(self, request: Request) -> Solution:
        """The answer to the model, by way of its faces and units."""
        if self.squares is not None:
            return self._by_squares(request, *self.squares)
        ready, tol = self.presolved, self.solver.tol
        request = replace(request, clock=Clock(dict(self.seconds)))
        if ready is not None:
            if ready.refutation is not None:
                return refuted_solution(ready.refutation, self.seconds, tol)
            start = None if request.start is None else ready.push(request.start)
            request = replace(request, model=ready.sdp, start=start)
        if request.start is not None:
            check_start(self, self.sdp, request.start)
        candidates: Iterable[Candidate] = (self,)
        # What is lost by a narrower program, no other solver finds.
        if self.choice is not None and not self.is_narrower:
            candidates = self.choice.candidates()
        try:
            solution = take_turns(candidates, self.sdp, request)
        except InfeasibleError as error:  # Constraints contradict each other exactly.
            assert self.sdp is not None  # whose constraints were compared
            solution = contradicted_solution(self.sdp, error, request.clock.seconds, tol)
        return solution if ready is None else ready.lift(solution)

    def _by_squares(self, request: Request, length: Squared, inner: Plan) -> Solution:
        """The answer by half the square of a length; as it is written where that falls short."""
        assert self.sdp is not None
        assert self.requested is not None
        assert self.model is not None
        answers = []
        # A start is a point of the length itself.
        if request.start is None:
            found = inner._answer(replace(request, model=length.sdp))
            graded = with_status(self.sdp, length.lift(found), ended_as(found.status))
            answers.append(graded)
            ended = graded.status in (*SETTLED, Status.INTERRUPTED) or request.deadline.is_over()
            # No gap is small relative to zero, by squares or without.
            if ended or is_nothing(self.sdp, graded.attained, graded.bound):
                return graded
        plain = _planned(self.model, self.sdp, self.requested, Clock())
        return join([*answers, plain._answer(request)])


@checks_keywords
def plan(
    model: Model | SDP | Block | cp.Problem,
    solver: str | Solver = "auto",
    form: str = "auto",
    *,
    via: Sequence[Reduction] = (),
    skip: Collection[str] = (),
    landmarks: int | None = None,
    tol: float | None = None,
    time_limit: float | None = None,
    max_iter: int | None = None,
    seed: int | None = None,
    verbose: bool | None = None,
) -> Plan:
    """Choose reductions, a solver and a form without solving.

    Parameters
    ----------
    model : Model, SDP, Block or cvxpy.Problem
    solver : str or Solver, default "auto"
        A name, or a configured solver object.
    form : {"auto", "factor", "lmi", "gram", "chordal", "chordal-lmi", "cvxpy", "landmark"}
        Default: "auto".
    via : sequence of Reduction, default ()
        The first steps, for instance ``[reduce.Chordal()]`` or ``[reduce.Dual()]``; solver and
        form are chosen for the program that they lead to. Nothing comes before them.
    skip : collection of str, default ()
        Names that "auto" does not consider.
    landmarks : int, optional
        For the landmark form, see `sdpdr.solve`.
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
    model = as_model(model)
    require_solver(solver)
    uniform = {
        "tol": tol,
        "time_limit": time_limit,
        "max_iter": max_iter,
        "seed": seed,
        "verbose": verbose,
    }
    options = {name: value for name, value in uniform.items() if value is not None}
    requested = PlanOptions(solver, form, as_reductions(via), skip, landmarks, options)
    refuse_idle(requested)
    clock = Clock()
    with clock("build"):
        if form == "landmark":
            one, program = landmark_candidate(model, requested)
            return _made(model, one, program, requested, clock)
        sdp, refusal = standard_form(model)
    length = None
    if form == "auto" and sdp is not None and not _is_plain(sdp, requested):
        length = squared(sdp)
    if length is None or not _is_easier_squared(length, solver):
        return _planned(model, sdp, requested, clock, refusal)
    inner = _planned(length.sdp, length.sdp, requested, clock)
    planned = (model, *inner.planned[1:])
    return replace(inner, model=model, sdp=sdp, planned=planned, squares=(length, inner))


def _is_plain(sdp: SDP, requested: PlanOptions) -> bool:
    """Whether the program is planned as it was written.

    The reductions of ``via`` refer to the program as it was written. In a program of edges no other
    row confines the points to a face, the units are those of the lengths, and the cost is linear.
    """
    is_written = requested.form == "cvxpy" or bool(requested.via)
    return is_written or edge_form.why_not(sdp) is None


def _is_easier_squared(length: Squared, solver: str | Solver) -> bool:
    """Whether half the square of a length takes less than the length."""
    is_distance = Nearest().accepts(length.sdp) is None
    if solver != "auto":
        return is_distance and solver == Nearest.name
    return is_distance or length.heads is not None


def _planned(
    model: Model | SDP, sdp: SDP | None, requested: PlanOptions, clock: Clock, refusal: str = ""
) -> Plan:
    """The plan for a model, on the faces that are proved and in units that suit it."""
    with clock("reduce"):
        ready = None if sdp is None or _is_plain(sdp, requested) else presolve(sdp)
    if ready is not None and ready.refutation is not None:
        # No solver will run; the plan says why.
        solver = configure("lowrank" if requested.is_auto else requested.solver, requested.options)
        one = Candidate((), solver, solver.forms[0], str(ready.refutation.infeasible))
        return _made(model, one, sdp, requested, clock, ready)
    sdp = sdp if ready is None else ready.sdp
    with clock("build"):
        choice = choose(sdp, requested, refusal)
        return _made(model, choice.first, sdp, requested, clock, ready, choice)


def _made(
    model: Model | SDP,
    one: Candidate,
    sdp: SDP | None,
    requested: PlanOptions,
    clock: Clock,
    presolved: Presolved | None = None,
    choice: Choice | None = None,
) -> Plan:
    """The plan that begins with a candidate."""
    return Plan(
        **vars(one),
        model=model,
        sdp=sdp,
        presolved=presolved,
        requested=requested,
        choice=choice,
        seconds=clock.seconds,
        planned=(model, one.reductions, one.solver, one.form),
    )
