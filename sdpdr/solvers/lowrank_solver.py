"""Our own solver: K = R R^T with few columns, by a primal-dual interior-point method."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass, fields
from typing import Any, ClassVar

from sdpdr.errors import DisconnectedGraphError, ModelError, UnknownNameError
from sdpdr.program.point import Point
from sdpdr.program.sdp import SDP
from sdpdr.program.solution import Claim
from sdpdr.solvers.base import Outcome, Progress, Solver, Verdict
from sdpdr.solvers.edges import edge_form, to_point, why_not
from sdpdr.solvers.lowrank import Options, solve_edge_program

_VERDICTS = {
    "converged": Verdict.SOLVED,
    "stalled": Verdict.INACCURATE,
    "time_limit": Verdict.TIME_LIMIT,
    "max_iter": Verdict.ITERATION_LIMIT,
    "interrupted": Verdict.INTERRUPTED,
}


@dataclass(frozen=True)
class LowRank(Solver):
    """The low-rank interior-point method of `sdpdr.solvers.lowrank` (options as in `Solver`).

    Its own options are ``rank``, ``max_rank`` and ``max_fill`` (see
    `sdpdr.solvers.lowrank.Options`). Takes variance under limits on squared edge lengths, hard or
    priced.
    """

    name: ClassVar[str] = "lowrank"
    package: ClassVar[str] = "qdldl"
    module: ClassVar[str] = "qdldl"
    forms: ClassVar[tuple[str, ...]] = ("factor",)
    licence: ClassVar[str] = "Apache-2.0"

    def accepts(self, sdp: SDP) -> str | None:
        """Edge programs only."""
        return why_not(sdp)

    def run(self, sdp: SDP, progress: Progress | None = None) -> Outcome:
        """Recognise the edge program and solve it."""
        start = time.perf_counter()
        form = edge_form(sdp)
        compiled = time.perf_counter()
        options = self._engine_options(progress)
        try:
            result = solve_edge_program(form.program, options)
        except (DisconnectedGraphError, ModelError) as error:
            # The engine sees before its first iteration that nothing holds the points together.
            claim = Claim("unbounded", message=str(error))
            return Outcome(Point(), Verdict.UNBOUNDED, claim, {"compile": compiled - start})
        seconds = {"compile": compiled - start, "solve": time.perf_counter() - compiled}
        return Outcome(
            point=to_point(sdp, form, result.R, result.weights),
            verdict=_VERDICTS[result.status],
            claim=Claim(result.status, -result.value, result.iterations, result.message),
            seconds=seconds,
            history=tuple(asdict(record) for record in result.history),
        )

    def _engine_options(self, progress: Progress | None) -> Options:
        known = {f.name for f in fields(Options)}
        for name in self.options:
            if name not in known:
                raise UnknownNameError("option of solver 'lowrank'", name, known)
        uniform: dict[str, Any] = {
            "tol": self.tol / 10.0,
            "time_limit": self.time_limit,
            "seed": self.seed,
            "callback": None if progress is None else lambda record: progress(asdict(record)),
        }
        if self.max_iter is not None:
            uniform["max_iter"] = self.max_iter
        return Options(**{**uniform, **self.options})
