"""Our own solver: every matrix variable as K = R R^T with few columns, by one of four engines."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np

from sdpdr.base.arrays import Array
from sdpdr.base.deadline import Deadline
from sdpdr.base.errors import (
    DataError,
    DisconnectedGraphError,
    ModelError,
    NotAcceptedError,
    UnknownNameError,
)
from sdpdr.program.point import Factor, Point
from sdpdr.program.run import Claim, Verdict
from sdpdr.program.sdp import SDP
from sdpdr.solvers.base import Outcome, Progress, Solver
from sdpdr.solvers.lowrank.edge import form as edges
from sdpdr.solvers.lowrank.edge.effort import expected_rank, why_not_factored
from sdpdr.solvers.lowrank.edge.engine import solve_edge_program
from sdpdr.solvers.lowrank.edge.form import EdgeForm
from sdpdr.solvers.lowrank.edge.start import SHRINK, isomap_start
from sdpdr.solvers.lowrank.frame import Options, Result
from sdpdr.solvers.lowrank.general.compile import why_not
from sdpdr.solvers.lowrank.general.engine import solve_factored
from sdpdr.solvers.processes.ends import is_worker, post
from sdpdr.solvers.tolerance import TOLERANCES

_VERDICTS = {
    "converged": Verdict.SOLVED,
    "stalled": Verdict.INACCURATE,
    "infeasible": Verdict.INFEASIBLE,
    "unbounded": Verdict.UNBOUNDED,
    "time_limit": Verdict.TIME_LIMIT,
    "max_iter": Verdict.ITERATION_LIMIT,
    "interrupted": Verdict.INTERRUPTED,
    "out_of_memory": Verdict.FAILED,
}
ENGINES = ("auto", "edges", "interior", "descent", "general")
_LEAST_COLUMNS = 3  # of the first factor that Isomap makes
_REQUESTED = "The engine was requested."
# Order up to which the general engine continues if the edge engine stalls. It gets this multiple of
# the seconds so far, and these seconds more.
_RETRIED = 3000
_RETRY_RATIO, _RETRY_SECONDS = 5.0, 10.0


@dataclass(frozen=True)
class LowRank(Solver):
    """Low-rank factors, with a certificate (options as in `Solver`).

    Variance, spread of pairs or side information under limits on squared edge lengths goes to the
    interior-point method of `sdpdr.solvers.lowrank.edge` where its factorizations stay sparse.
    Other programs with inequalities go to that of `sdpdr.solvers.lowrank.interior`, for rows of any
    kind, equations whose factorizations fill in to the descent of `sdpdr.solvers.lowrank.descent`,
    and all others to the augmented Lagrangian of `sdpdr.solvers.lowrank.general`. If every row is
    penalized and factorizations are too expensive, penalties are smoothed by proximal steps
    (`sdpdr.solvers.lowrank.interior.penalties`). The claim's message says which one ran, and why.

    Its own options are ``engine`` ("auto", "edges", "interior", "descent" or "general") and those
    of `sdpdr.solvers.lowrank.Options`.
    """

    name: ClassVar[str] = "lowrank"
    package: ClassVar[str] = "sdpdr"
    module: ClassVar[str] = "sdpdr"
    forms: ClassVar[tuple[str, ...]] = ("factor",)
    licence: ClassVar[str] = "Apache-2.0"
    takes_start: ClassVar[bool] = True

    def accepts(self, sdp: SDP) -> str | None:
        """Programs that one of the engines takes."""
        engine = self._engine()
        if engine == "edges":
            return edges.why_not(sdp)
        is_of_edges = engine == "auto" and edges.why_not(sdp) is None
        return None if is_of_edges else why_not(sdp)

    def run(
        self, sdp: SDP, progress: Progress | None = None, *, start: Point | None = None
    ) -> Outcome:
        """Choose an engine and solve.

        Parameters
        ----------
        sdp : SDP
        progress : callable, optional
        start : Point, optional
            Values and multipliers to start from; missing parts are chosen as without a start.
        """
        deadline = Deadline(self.time_limit)
        form, sparse, reason = self._choose(sdp)
        compiled, solver = deadline.spent, replace(self, time_limit=deadline.left())
        if form is not None and sparse:
            outcome = solver._run_edges(sdp, form, progress, start, reason)
            stalled = outcome.verdict is Verdict.INACCURATE and self._engine() == "auto"
            if stalled and sdp.psd_variables[0].n <= _RETRIED:
                outcome = self._second_try(sdp, outcome, progress, deadline)
        else:
            if form is not None and start is None:
                start = Point({sdp.psd_variables[0].name: Factor(self._first_shape(form))})
            outcome = solver._run_general(sdp, progress, start, reason, form is not None)
        return replace(outcome, seconds={"compile": compiled, **outcome.seconds})

    def _second_try(
        self, sdp: SDP, first: Outcome, progress: Progress | None, deadline: Deadline
    ) -> Outcome:
        """Continue with the general engine if the edge engine stalled; return the better one."""
        patience, left = _RETRY_RATIO * deadline.spent + _RETRY_SECONDS, deadline.ahead
        reason = f"It went on from where the edge engine stalled ({first.claim.message})"
        start = Point(first.point.values)
        solver = replace(self, time_limit=min(left, patience))
        second = solver._run_general(sdp, progress, start, reason)
        stopped = second.verdict is Verdict.TIME_LIMIT and left <= patience
        if stopped or second.verdict is Verdict.INTERRUPTED:
            return replace(first, verdict=second.verdict)
        if second.verdict not in (Verdict.SOLVED, Verdict.INFEASIBLE):
            return first
        return replace(second, seconds={"solve": deadline.spent})

    def _first_shape(self, form: EdgeForm) -> Array:
        """Isomap in the columns that the answer needs, or in a requested number of columns."""
        rank = self.options.get("rank") or expected_rank(form.program)
        rank = min(max(rank, _LEAST_COLUMNS), self.options.get("max_rank") or form.program.n)
        return SHRINK * isomap_start(form.program, rank, seed=self.seed)

    def _engine(self) -> str:
        engine = self.options.get("engine", "auto")
        if engine not in ENGINES:
            raise UnknownNameError("engine of solver 'lowrank'", engine, ENGINES)
        return str(engine)

    def _choose(self, sdp: SDP) -> tuple[EdgeForm | None, bool, str]:
        """The edge form if there is one, whether its engine is to run, and the reason."""
        engine = self._engine()
        try:
            form = edges.edge_form(sdp)
        except (NotAcceptedError, ModelError, DataError) as refusal:
            if engine == "edges":
                raise NotAcceptedError(str(refusal)) from refusal
            is_named = engine in ("interior", "descent", "general")
            return None, False, _REQUESTED if is_named else f"It is not an edge program: {refusal}"
        if engine != "auto":
            return form, engine == "edges", _REQUESTED
        reason = why_not_factored(form.program)
        return form, not reason, reason

    def _run_edges(
        self,
        sdp: SDP,
        form: EdgeForm,
        progress: Progress | None,
        start: Point | None,
        reason: str,
    ) -> Outcome:
        watch = Deadline()
        options = self._options(progress)
        if is_worker():
            options = replace(options, keep=partial(_post, sdp, form))
        is_given = self.defaults or "tol" in self.options
        if not is_given and not form.program.has_lower_limits:
            # Shrinking makes the point feasible, so the proved gap is that of the engine.
            rule = TOLERANCES["lowrank without lower limits"]
            options = replace(options, tol=rule.settings(self.tol)["tol"])
        try:
            factor = None if start is None else _first_factor(sdp, start)
            weights = None if start is None else edges.weights_of(form, start)
            result = solve_edge_program(form.program, options, factor, weights)
        except (DisconnectedGraphError, ModelError) as error:
            # The engine finds before its first iteration that the variance is unbounded.
            claim = Claim("unbounded", message=str(error))
            return Outcome(Point(), Verdict.UNBOUNDED, claim)
        outcome = _outcome(
            result,
            edges.to_point(sdp, form, result.R, result.weights),
            -result.value,
            reason,
            watch,
        )
        if max(abs(result.gap), result.infeasibility) <= self.tol:
            # The engine aims at a smaller gap than was requested, and may stop between the two.
            return replace(outcome, verdict=Verdict.SOLVED)
        return outcome

    def _run_general(
        self,
        sdp: SDP,
        progress: Progress | None,
        start: Point | None,
        reason: str,
        on_edges: bool = False,
    ) -> Outcome:
        watch = Deadline()
        # If factorizations of the edge engine are too expensive, so are those of `interior`.
        chosen = {"interior": (True, False), "descent": (False, True), "general": (False, False)}
        auto = (False, False) if on_edges else (None, None)
        interior, descent = chosen.get(self._engine(), auto)
        result = solve_factored(sdp, self._options(progress), start, interior, descent)
        return _outcome(result, result.point, sdp.report(result.value), reason, watch)

    def _options(self, progress: Progress | None) -> Options:
        """Uniform options, overridden by the solver's own."""
        known = {f.name for f in fields(Options)}
        own = {name: value for name, value in self.options.items() if name != "engine"}
        for name in own:
            if name not in known:
                raise UnknownNameError("option of solver 'lowrank'", name, known | {"engine"})
        uniform: dict[str, Any] = {
            **self.tolerances(),
            "enough": self.tol,
            "time_limit": self.time_limit,
            "seed": self.seed,
            "callback": None if progress is None else lambda record: progress(asdict(record)),
        }
        if self.max_iter is not None:
            uniform["max_iter"] = self.max_iter
        return Options(**uniform | own)


def _outcome(result: Result, point: Point, value: float, reason: str, watch: Deadline) -> Outcome:
    """The outcome of an engine, with the reason for its choice in the message."""
    message = f"{result.message} {reason}".strip()
    return Outcome(
        point=point,
        verdict=_VERDICTS[result.status],
        claim=Claim(result.status, value, result.iterations, message),
        seconds={"solve": watch.spent},
        history=tuple(asdict(record) for record in result.history),
    )


def _post(sdp: SDP, form: EdgeForm, R: Array, weights: Array) -> None:
    post(partial(edges.to_point, sdp, form, R, weights))


def _first_factor(sdp: SDP, start: Point) -> Array | None:
    """The factor in a start, if there is one that is not zero."""
    value = start.values.get(sdp.psd_variables[0].name)
    if value is None:
        return None
    factor = Factor.of(value, share=1e-9).factor
    return factor if np.any(factor) else None
