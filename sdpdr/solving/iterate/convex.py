"""Convex iteration: programs whose cost pushes a matrix towards a low rank."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from sdpdr.base import checks as validate
from sdpdr.base.deadline import Deadline
from sdpdr.base.errors import DataError
from sdpdr.base.progress import Progress, show_progress
from sdpdr.linalg import LinearMap
from sdpdr.model import Model
from sdpdr.program import SDP, Solution, Status
from sdpdr.program.point import Value
from sdpdr.program.sizes import gap_scale
from sdpdr.solvers.base import Solver, unless_configured
from sdpdr.solving.grade import attested
from sdpdr.solving.iterate.directions import Direction, directions_of
from sdpdr.solving.iterate.programs import Programs, Start, matrices_of
from sdpdr.solving.iterate.purify import Purified, polish
from sdpdr.solving.iterate.records import (
    RESUMABLE,
    IterationStatus,
    Record,
    State,
    has_settled,
    has_stalled,
)
from sdpdr.solving.portfolio import of_solvers
from sdpdr.solving.solve import solve_step

Costs = Mapping[str, LinearMap]
# How a sequence ends with its last program, whether that has a point or not, and without one.
_ENDS = {
    Status.TIME_LIMIT: IterationStatus.TIME_LIMIT,
    Status.INTERRUPTED: IterationStatus.INTERRUPTED,
}
_POINTLESS = {
    Status.INFEASIBLE: IterationStatus.INFEASIBLE,
    Status.UNBOUNDED: IterationStatus.UNBOUNDED,
}
# No trace is zero where an equation keeps the matrix from it.
_LEAST = np.finfo(float).tiny
# An objective that rises by more than this share is worth a note: the solver was inaccurate.
_RISE = 1e-4
# Multiple of the accuracy requested up to which a point is near enough to feasible.
_TOLERATED = 100.0


@dataclass(frozen=True, eq=False)
class ConvexIteration:
    r"""Convex iteration: semidefinite programs that differ in their cost only, towards a low rank.

    .. math::

        X_{t} = \operatorname{argmin}_X\ f(X) + w \langle W_t, X\rangle
        \quad\text{s.t. the constraints}, \qquad W_{t+1} = W(X_t).

    Without a ``weight`` the model's cost of the matrix is replaced (f = 0, w = 1) and the iteration
    looks for any feasible matrix of the rank: it ends when the excess, the sum of the trailing
    eigenvalues, vanishes. With one the model's objective f is kept, and the iteration lowers
    :math:`f(X) + w\, e(X)` until it settles. With exact solves neither rises from one iteration to
    the next, except under ``"logdet"``.

    A limit of zero is a matrix of the rank; a positive limit proves nothing, because the iteration
    is a local method. Restarts draw another direction at random and keep the best answer.

    The program is compiled once. Where the solver can begin from a given point, it begins from the
    last one. With ``solver="auto"`` the solver and form are chosen for each program.

    Parameters
    ----------
    model : Model or SDP
    rank : int
        The rank wanted, at least 1.
    variable : str or sequence of str, optional
        The matrix whose rank is wanted; needed only if there are several. With more than one name,
        each is to have the rank, and their excesses add up.
    direction : {"trailing", "schur", "logdet"}, Direction, or mapping, default "trailing"
        See `Trailing`, `Schur` and `LogDet`; of several matrices with a rank each, a mapping from
        their names to directions.
    weight : float, optional
        Keep the model's objective and add this much of the direction; 0 or more.
    start : array of shape (n, d), Factor or Solution, optional
        Points, or a matrix, from which the first direction is made. By default the trace is
        minimized first (``"schur"``: a random direction), or with ``weight`` the model is solved
        as it is. ``"random"`` draws the first direction.
    tol : float, default 1e-6
        The rank is met at an excess of ``tol`` times the trace; an objective has settled when an
        iteration lowers it by no more than ``tol`` times its size.
    max_iter : int, default 50
        Programs in each start.
    restarts : int, default 0
        How many random starts may follow one that did not meet the rank, or (with ``weight``) one
        that settled.
    patience, stall : int, float, default 6, 1e-4
        A start is given up when ``patience`` iterations lowered the excess by less than the share
        ``stall``.
    seed : int, default 0
        Seed of all random draws.
    solver, form : see `sdpdr.solve`
    accuracy : float, default 1e-7
        Relative gap requested of each solve, unless the solver is a configured object, which keeps
        its own, as it does its seed.
    time_limit : float, optional
        Seconds for the solvers in one call of `run`.
    progress : bool or callable, optional
        Show progress; by default on a terminal only. A callable is given a mapping an iteration.

    Raises
    ------
    DataError
        A rank that is not in 1..order, less one for each direction that constraints remove; a
        negative weight; a start of another kind.
    ModelError
        The model has several matrices and none was named.
    UnknownNameError
        A direction that is none of the three.

    References
    ----------
    Vasiloglou thesis, sections 4.2.6 and 6.2.1; J. Dattorro, "Convex Optimization and Euclidean
    Distance Geometry", Meboo, 2005, section 4.4.

    Examples
    --------
    A star with four leaves has unfoldings of equal variance in one, two and three dimensions.

    >>> from sdpdr.iterate import ConvexIteration
    >>> from sdpdr import graphs, methods
    >>> star = graphs.from_edges(5, [[0, 1], [0, 2], [0, 3], [0, 4]], [1.0] * 4)
    >>> model = methods.isometric(star, "equality", variance=3.999)
    >>> state = ConvexIteration(model, rank=1).run()
    >>> state.status
    IterationStatus.RANK_REACHED
    >>> [round(float(k), 2) for k in state.spectrum()[:2]]
    [4.0, 0.0]
    """

    model: Model | SDP
    rank: int
    variable: str | Sequence[str] | None = None
    direction: str | Direction | Mapping[str, str | Direction] = "trailing"
    weight: float | None = None
    start: Start | str | None = None
    tol: float = 1e-6
    max_iter: int = 50
    restarts: int = 0
    patience: int = 6
    stall: float = 1e-4
    seed: int = 0
    solver: str | Solver = "auto"
    form: str = "auto"
    accuracy: float = 1e-7
    time_limit: float | None = None
    progress: Progress | bool | None = None

    def __post_init__(self) -> None:
        for name in ("max_iter", "patience"):
            validate.positive_integer(name, getattr(self, name))
        for name in ("tol", "stall", "accuracy"):
            validate.positive_number(name, getattr(self, name))
        validate.positive_integer("restarts", self.restarts, at_least=0)
        if self.weight is not None and not (np.isfinite(self.weight) and self.weight >= 0.0):
            raise DataError(
                f"weight must be 0 or more, or None to replace the objective; it is {self.weight}."
            )
        for name, (n, null) in self.programs.orders.items():
            self.ways[name].check(name, n, null.shape[1])
        if self.start is not None:
            self._given()

    @cached_property
    def programs(self) -> Programs:
        """The programs to solve, compiled once."""
        given = self.model if isinstance(self.model, SDP) else self.model.to_sdp()
        names = matrices_of(given, self.variable)
        return Programs(given, names, self.weight)

    @cached_property
    def ways(self) -> dict[str, Direction]:
        """The direction of each matrix."""
        return directions_of(self.programs.names, self.direction, self.rank)

    @cached_property
    def _unit(self) -> float:
        """The size of matrices beside which one counts as zero."""
        return self.programs.unit(self.ways)

    @cached_property
    def _openings(self) -> tuple[Costs | None, ...]:
        """What the first starts begin with, None for the model alone; others begin at random."""
        given = () if self.start is None else (self._given(),)
        if self.weight is not None:
            return (None, *given)
        return given or (self._drawn(0, first=True),)

    def init(self) -> State:
        """The state before the first program."""
        return State(IterationStatus.RUNNING, (), self._openings[0], self.programs.names[0])

    def done(self, state: State) -> bool:
        """Whether there is nothing left to do."""
        return state.status is not IterationStatus.RUNNING

    def step(self, state: State) -> State:
        """Solve one program and make the next direction; a state that has ended stays as it is."""
        return state if self.done(state) else self._step(state, Deadline(self.time_limit))

    def run(
        self, state: State | None = None, accept: Callable[[State], bool] | None = None
    ) -> State:
        """Iterate until done; the run can be interrupted, and resumed from the state it returns.

        Parameters
        ----------
        state : State, optional
            Go on from this state, also where a limit ended it.
        accept : callable, optional
            Called after every program that has a point. If it returns True, the rank counts as
            reached by the latest answer, ``state.last``, whatever its excess. For callers that can
            repair an answer and check the result.

        Returns
        -------
        State
            However it ended, with the best answer so far: failures are statuses, not exceptions.
        """
        whole = Deadline(self.time_limit)
        deadline = of_solvers(whole)
        state = self.init() if state is None else self._reopened(state)
        with show_progress(self.progress, str(self)) as report:
            while not self.done(state):
                if deadline.is_over():
                    return replace(state, status=IterationStatus.TIME_LIMIT)
                try:
                    state = self._step(state, deadline)
                    if accept is not None and state.solved[-1:] and accept(state):
                        best = state.with_best(state.solved[-1].iteration)
                        state = replace(best, status=IterationStatus.RANK_REACHED)
                except KeyboardInterrupt:
                    return replace(state, status=IterationStatus.INTERRUPTED)
                if report is not None:
                    row = state.rows()[-1]
                    report({**row, "value": row["objective"], "seconds": deadline.spent})
        return self._finished(state, whole)

    def purify(self, state: State) -> Purified:
        """The best answer cut down to exactly the rank and repaired; see `polish`.

        If there are several matrices, the first one.
        """
        return polish(self.programs.base, state.gram(), self.rank, state.variable)

    def _reopened(self, state: State) -> State:
        """A state from which to go on."""
        if state.status in RESUMABLE:
            return replace(state, status=IterationStatus.RUNNING)
        if state.status in (IterationStatus.STALLED, IterationStatus.SETTLED):
            return self._another_start(state, state.status)
        return state

    def _step(self, state: State, deadline: Deadline) -> State:
        """The state after one more program."""
        if len(state.descent) >= self.max_iter:
            return replace(state, status=IterationStatus.ITERATION_LIMIT)
        watch = Deadline()
        program = self.programs.under(state.directions)
        solution = solve_step(
            program,
            self.solver,
            self.form,
            tol=unless_configured(self.solver, self.accuracy),
            time_limit=deadline.left(),
            seed=unless_configured(self.solver, self.seed),
            # The optimum of a program that looks for a rank is zero once it is found.
            gap_scale=gap_scale(program),
            start=state.last,
        )
        record = self._record(state, solution, watch.spent)
        state = replace(state, history=(*state.history, record))
        if solution.values:
            state = self._with_best(state, solution)
        if solution.status in _ENDS:
            # The same program is solved again on resuming, from where it was left.
            return replace(state, status=_ENDS[solution.status])
        if solution.values:
            return self._judged(state)
        if state.best is not None:
            return self._another_start(state, IterationStatus.FAILED)
        return replace(state, status=_POINTLESS.get(solution.status, IterationStatus.FAILED))

    def _with_best(self, state: State, last: Solution) -> State:
        """The state with its latest answer, and the best one so far."""
        state = replace(state, last=last, last_directions=state.directions)
        if state.directions is None:
            state = replace(state, bound=last.bound)
        record, best = state.history[-1], state.history[state.best_iteration]
        if state.best is None or self._measure(record) < self._measure(best):
            return state.with_best(record.iteration)
        return state

    def _judged(self, state: State) -> State:
        """The state with the next program, or ended."""
        verdict = self._verdict(state.descent)
        if verdict is IterationStatus.RUNNING and len(state.descent) >= self.max_iter:
            verdict = IterationStatus.ITERATION_LIMIT
        if verdict is IterationStatus.RANK_REACHED:
            return replace(state, status=verdict)
        if state.start + 1 < len(self._openings):
            # The model alone has been solved, for its bound, and the start that is given follows.
            verdict = IterationStatus.STALLED
        if verdict in (IterationStatus.RUNNING, IterationStatus.ITERATION_LIMIT):
            state = replace(state, directions=self._next(state))
        return state if verdict is IterationStatus.RUNNING else self._another_start(state, verdict)

    def _another_start(self, state: State, verdict: IterationStatus) -> State:
        """The state with the costs of another start, or ended if there may be no more."""
        number = state.start + 1
        if number >= len(self._openings) + self.restarts:
            return replace(state, status=verdict)
        known = number < len(self._openings)
        costs = self._openings[number] if known else self._drawn(number)
        return replace(state, status=IterationStatus.RUNNING, directions=costs, start=number)

    def _finished(self, state: State, deadline: Deadline) -> State:
        """With a value that is proved attainable near the best answer, which stays as it is."""
        if state.best is None:
            return state
        program = self.programs.under(state.best_directions)
        return replace(state, best=attested(program, state.best, deadline))

    def _record(self, state: State, solution: Solution, seconds: float) -> Record:
        """The record of an answer."""
        excess = trace = objective = float("nan")
        if solution.values:
            excess = sum(way.excess(solution.values[name]) for name, way in self.ways.items())
            trace = sum(way.size(solution.values[name]) for name, way in self.ways.items())
            base = self.programs.base.primal_value(solution.values)
            objective = base + self.programs.pull * excess
        descent, note = state.descent, ""
        if state.directions is None:
            note = "the model as it is"
        elif descent and objective > descent[-1].objective + _RISE * self._size(descent[-1]):
            note = f"the objective rose: the solve ended {solution.status.name}"
        return Record(
            iteration=len(state.history),
            start=state.start,
            objective=objective,
            excess=excess,
            share=excess / max(trace, self._unit if self.programs.may_vanish else _LEAST),
            trace=trace,
            infeasibility=solution.residuals.primal(),
            value=solution.value,
            gap=solution.apparent_gap,
            status=solution.status.name,
            seconds=seconds,
            note=note,
        )

    def _measure(self, record: Record) -> tuple[bool, float]:
        """What the best record has the least of; points far from feasible come last."""
        measure = record.share if self.weight is None else record.objective
        return not self._tolerates(record), measure

    def _tolerates(self, record: Record) -> bool:
        """Whether the point of a record is near enough to feasible."""
        return record.infeasibility <= _TOLERATED * self.accuracy

    def _size(self, record: Record) -> float:
        """The size that a change of the objective is relative to."""
        return max(abs(record.objective), self._unit)

    def _verdict(self, descent: tuple[Record, ...]) -> IterationStatus:
        """How the programs since the last start stand, whatever their number."""
        record = descent[-1]
        if self.weight is not None:
            least = self.tol * self._size(record)
            if has_settled(descent, self.patience, least):
                return IterationStatus.SETTLED
        elif record.share <= self.tol and self._tolerates(record):
            return IterationStatus.RANK_REACHED
        elif has_stalled(descent, self.patience, self.stall):
            return IterationStatus.STALLED
        return IterationStatus.RUNNING

    def _next(self, state: State) -> Costs:
        """The costs that the last answer suggests."""
        assert state.last is not None
        seed = [self.seed, state.start, len(state.history)]
        return self._made(state.last.values, len(state.descent) - 1, seed)

    def _drawn(self, number: int, *, first: bool = False) -> Costs:
        """Random costs, for the start of a number."""
        rng = np.random.default_rng([self.seed, number])
        draws = {name: way.first if first else way.random for name, way in self.ways.items()}
        return {name: draw(*self.programs.orders[name], rng) for name, draw in draws.items()}

    def _given(self) -> Costs:
        """The costs that the start asks for."""
        start = self.start
        if isinstance(start, str):
            if start != "random":
                raise DataError(
                    "start must be 'random', points of shape (n, d), a Factor or a Solution; it "
                    f"is {start!r}."
                )
            return self._drawn(0)
        assert start is not None
        matrices = {name: self.programs.matrix(start, name) for name in self.programs.names}
        return self._made(matrices, 0, [self.seed, 0])

    def _made(self, values: Mapping[str, Value], step: int, seed: Sequence[int]) -> Costs:
        """The cost of each matrix, made from its value."""
        return {
            name: self.ways[name].cost(values[name], null, step, np.random.default_rng(seed))
            for name, (_, null) in self.programs.orders.items()
        }

    def __str__(self) -> str:
        return f"rank {self.rank}"
