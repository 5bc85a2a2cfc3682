"""A plan: reductions, solver and form for a model, as a value that can be read and run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from math import inf
from typing import TYPE_CHECKING, Any

from sdpdr.base.deadline import Deadline
from sdpdr.base.errors import InfeasibleError
from sdpdr.base.keywords import checks_keywords
from sdpdr.base.progress import Progress
from sdpdr.certify.answer import is_nothing
from sdpdr.certify.proof_file import write_proof
from sdpdr.model import Block, Model
from sdpdr.program.point import Point
from sdpdr.program.run import Status
from sdpdr.program.sdp import SDP
from sdpdr.program.solution import Solution
from sdpdr.reduce import Reduction
from sdpdr.reduce.squared import SQUARED, Squared, squared
from sdpdr.solvers.base import FORMS, Solver
from sdpdr.solvers.lowrank.edge import form as edge_form
from sdpdr.solvers.nearest.solver import Nearest
from sdpdr.solving.attempt import check_start
from sdpdr.solving.candidate import Candidate, configure, shares, standard_form
from sdpdr.solving.choice import POSSIBLE, Choice, choose
from sdpdr.solving.drifting import drifting_solution
from sdpdr.solving.grade import ended_as, go_on, with_status, without_what_misses
from sdpdr.solving.join import join
from sdpdr.solving.landmark import landmark_candidate
from sdpdr.solving.options import (
    Clock,
    PlanOptions,
    Request,
    as_planned,
    as_reductions,
    refuse_idle,
    require_solver,
)
from sdpdr.solving.portfolio import SETTLED, of_solvers, take_turns
from sdpdr.solving.presolve import Presolved, contradicted_solution, presolve, refuted_solution

if TYPE_CHECKING:
    import cvxpy as cp

_FORMS = {**FORMS, "landmark": "a narrower program"}


@dataclass(frozen=True, eq=False, repr=False)
class Plan:
    """How `sdpdr.solve` would solve a model, and why; `sdpdr.plan` makes it.

    Attributes
    ----------
    first : Candidate
        The first candidate: `reductions` from the program that is graded to the one that the
        `solver` gets, its `form`, and the `reason` for this choice.
    model : Model or SDP
        The model to solve.
    sdp : SDP
        The program that is graded.
    requested : PlanOptions
        The arguments of `sdpdr.plan`.
    seconds : mapping
        Seconds of planning, by phase.
    presolved : Presolved or None
        The model on proved faces and in other units, to which all `reductions` are applied; None
        if there are neither.
    choice : Choice or None
        The candidates that were considered.
    squares : (Squared, Plan) or None
        If the cost is a length, perhaps the program with half its square as cost, and the plan for
        it, which is run first; all other attributes are those of that plan.

    Examples
    --------
    >>> import sdpdr
    >>> from sdpdr import graphs, methods
    >>> model = methods.mvu(graphs.path([1.0, 2.0]))
    >>> chosen = sdpdr.plan(model)
    >>> chosen.solver.name, [step.name for step in chosen.reductions]
    ('lowrank', [])
    >>> round(chosen.run().value, 4)
    4.6667
    >>> round(chosen.but(solver="clarabel", form="lmi").run().value, 4)
    4.6667
    """

    first: Candidate
    model: Model | SDP
    sdp: SDP
    requested: PlanOptions
    seconds: Mapping[str, float]
    presolved: Presolved | None = None
    choice: Choice | None = None
    squares: tuple[Squared, Plan] | None = None

    @property
    def reductions(self) -> tuple[Reduction, ...]:
        """The steps that the first candidate begins with."""
        return self.first.reductions

    @property
    def solver(self) -> Solver:
        """The solver of the first candidate, configured."""
        return self.first.solver

    @property
    def form(self) -> str:
        """The form of the first candidate."""
        return self.first.form

    @property
    def reason(self) -> str:
        """Why this solver and this form come first."""
        return self.first.reason

    # -- reading ----------------------------------------------------------------------------------

    @cached_property
    def sequence(self) -> tuple[Candidate, ...]:
        """All candidates in order; only one if a solver was named."""
        return (self.first,) if self.choice is None else tuple(self.choice.candidates())

    @property
    def shares(self) -> tuple[float, ...]:
        """Seconds of each candidate of the `sequence`; the rest of the time is for proofs."""
        return shares(len(self.sequence), of_solvers(Deadline(self.solver.time_limit)).seconds)

    @property
    def others(self) -> dict[tuple[str, str], str]:
        """Every other pair of solver and form: ``"possible"``, or why not."""
        choice = self.choice or Choice(self.sdp, PlanOptions(), None)
        pairs = choice.reasons()
        pairs.pop((self.solver.name, self.form), None)
        return pairs

    def explain(self) -> str:
        """The choice, later candidates, and other solvers and forms, as text."""
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
        """Lines for the candidates with their shares of the time, if there are several."""
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
        """The plan for the same model with other arguments of `sdpdr.plan`."""
        before = self.requested.arguments()
        if changes.get("form", "landmark") != "landmark":
            before["landmarks"] = None
        return plan(self.model, **(before | changes))

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the arguments of `sdpdr.plan`; the plan is made again."""
        return partial(plan, self.model, **self.requested.arguments()), ()

    # -- running ----------------------------------------------------------------------------------

    def run(
        self,
        *,
        isolate: bool | None = None,
        rigorous: bool = False,
        gap_scale: float = 0.0,
        proof: str = "budget",
        start: Solution | Point | None = None,
        progress: Progress | bool | None = None,
    ) -> Solution:
        """Run the plan and grade the answer.

        Parameters
        ----------
        isolate, rigorous, gap_scale, proof, start, progress : see `sdpdr.solve`

        Returns
        -------
        Solution

        Raises
        ------
        NotAcceptedError
            If a reduction or the solver does not take the program.
        """
        watch = Deadline()
        request = Request(self.model, isolate, rigorous, gap_scale, start, progress, proof=proof)
        # The numbers of the model may have changed since.
        return self.but().in_time(request, watch)

    def in_time(self, request: Request, since: Deadline) -> Solution:
        """Run the plan within the time limit of the solver, which began with planning."""
        deadline = Deadline(self.solver.time_limit, since=since)
        sdp, solution = self.sdp, None
        # An answer to half the square of a length is one to the length in the end.
        if self.presolved is not None and self.squares is None:
            sdp = self.presolved.original
        if request.attainable:
            solution = drifting_solution(sdp, self.seconds, self.solver.tol)
        if solution is None:
            solution = self._answer(replace(request, deadline=deadline))
            solution = without_what_misses(solution) if request.attainable else solution
        prover, writer = partial(go_on, sdp), partial(write_proof, sdp)
        solution = replace(solution, prover=prover, writer=writer)
        if not isinstance(request.model, Model):
            return solution
        model = request.model
        return replace(solution, of_model=True, shapes=model.shapes, labels=model.labels)

    def _answer(self, request: Request) -> Solution:
        """Run the candidates on the presolved model, and lift the answer."""
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
            check_start(self.first, self.sdp, request.start)
        candidates: Iterable[Candidate] = (self.first,)
        # Other solvers cannot find points that a narrower program excludes.
        if self.choice is not None and not self.first.is_narrower:
            candidates = self.choice.candidates()
        try:
            solution = take_turns(candidates, self.sdp, request)
        except InfeasibleError as error:  # Constraints contradict each other exactly.
            solution = contradicted_solution(self.sdp, error, request.clock.seconds, tol)
        return solution if ready is None else ready.lift(solution)

    def _by_squares(self, request: Request, length: Squared, inner: Plan) -> Solution:
        """Solve with half the square of the length as cost, and then as written if that fails."""
        answers = []
        # A start belongs to the program as written.
        if request.start is None:
            found = inner._answer(replace(request, model=length.sdp))
            graded = with_status(self.sdp, length.lift(found), ended_as(found))
            answers.append(graded)
            ended = graded.status in (*SETTLED, Status.INTERRUPTED) or request.deadline.is_over()
            # If the optimum is zero, the program as written would have no small gap either.
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
        If the solver cannot take the program in that form, or the model needs exponential or power
        cones; the message says why.
    DataError
        If an argument would have no effect.

    Notes
    -----
    The model is first restricted to faces that are proved at little cost, and brought to other
    units if coefficients need them; ``explain()`` reports both. The choice depends on sizes only,
    never on load, free memory or a clock.

    Examples
    --------
    >>> from sdpdr import graphs, methods, plan
    >>> choice = plan(methods.mvu(graphs.path([1.0, 2.0])))
    >>> choice.solver.name, choice.form
    ('lowrank', 'factor')
    """
    model = as_planned(model)
    require_solver(solver)
    uniform = {
        "tol": tol,
        "time_limit": time_limit,
        "max_iter": max_iter,
        "seed": seed,
        "verbose": verbose,
    }
    options = {name: value for name, value in uniform.items() if value is not None}
    form = "landmark" if form == "auto" and landmarks is not None else form
    requested = PlanOptions(solver, form, as_reductions(via), landmarks=landmarks, options=options)
    refuse_idle(requested)
    clock = Clock()
    with clock("build"):
        if form == "landmark":
            one, program = landmark_candidate(model, requested)
            return Plan(one, model, program, requested, clock.seconds)
        sdp = standard_form(model)
    length = squared(sdp) if form == "auto" and not _is_plain(sdp, requested) else None
    if length is None or not _is_easier_squared(length, solver):
        return _planned(model, sdp, requested, clock)
    inner = _planned(length.sdp, length.sdp, requested, clock)
    return replace(inner, model=model, sdp=sdp, squares=(length, inner))


def _is_plain(sdp: SDP, requested: PlanOptions) -> bool:
    """Whether the program is planned as it was written.

    The reductions of ``via`` refer to the program as it was written. In a program of edges no other
    row confines the points to a face, the units are those of the lengths, and the cost is linear.
    """
    is_written = requested.form == "cvxpy" or bool(requested.via)
    return is_written or edge_form.why_not(sdp) is None


def _is_easier_squared(length: Squared, solver: str | Solver) -> bool:
    """Whether half the square of a length is easier to minimise than the length.

    It does for Newton's method on distances, and if the length has several arrows, and more
    entries than the program has other unknowns. A single arrow is one cone, which is easy.
    """
    is_distance = Nearest().accepts(length.sdp) is None
    if solver != "auto":
        return is_distance and solver == Nearest.name
    numbers = length.sdp.variable(SQUARED).size
    unknowns = sum(v.size for v in length.sdp.variables) - numbers
    return is_distance or (length.heads is not None and unknowns < numbers)


def _planned(model: Model | SDP, sdp: SDP, requested: PlanOptions, clock: Clock) -> Plan:
    """The plan for a model, on proved faces and in units that its coefficients need."""
    with clock("reduce"):
        ready = None if _is_plain(sdp, requested) else presolve(sdp)
    if ready is not None and ready.refutation is not None:
        # No solver will run; the plan says why.
        solver = configure("lowrank" if requested.is_auto else requested.solver, requested.options)
        one = Candidate((), solver, solver.forms[0], str(ready.refutation.infeasible))
        return Plan(one, model, sdp, requested, clock.seconds, ready)
    sdp = sdp if ready is None else ready.sdp
    with clock("build"):
        choice = choose(sdp, requested)
        return Plan(choice.first, model, sdp, requested, clock.seconds, ready, choice)
