"""The landmark form as a solver: bases, rounds, and multipliers of the whole program."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from sdpdr import graphs
from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array
from sdpdr.base.deadline import Deadline
from sdpdr.base.errors import DataError, NotAcceptedError, UnknownNameError
from sdpdr.graphs.bases import (
    coarse_basis,
    has_coordinates,
    laplacian_basis,
    reconstruction_basis,
)
from sdpdr.model import Model
from sdpdr.program.boxes import repair
from sdpdr.program.point import Factor, Point
from sdpdr.program.run import Claim, Verdict
from sdpdr.program.sdp import SDP
from sdpdr.reduce.landmark import Landmark
from sdpdr.reduce.subspace import on_face
from sdpdr.solvers.base import Outcome, Progress, Solver, configured, unless_configured
from sdpdr.solvers.running import point_found
from sdpdr.solving.candidate import Candidate, standard_form
from sdpdr.solving.choice import choose
from sdpdr.solving.landmark.geometry import Geometry, geometry, routed_multipliers
from sdpdr.solving.landmark.rounds import (
    Rounds,
    Values,
    are_limits_alone,
    settle,
    solve_in_rounds,
)
from sdpdr.solving.options import Clock, PlanOptions

BASES = ("reconstruction", "laplacian")
# Number of points up to which the basis is made from the weights of all of them.
_DIRECT = 20_000
# Forms of the small program, in order of trial; "auto" leaves the choice to the plan.
_SMALL_FORMS = ("lmi", "gram", "auto")
_UNSOLVED = (
    "The small program was not solved. In a narrower cone equations may have no solution: relax "
    "them (`relax(block, band)`), or use another form."
)


@dataclass(frozen=True, eq=False)
class LandmarkSolver(Solver):
    r"""Optimises over K = Q L Q^T and proves how much that loses (options as in `Solver`).

    Rows join a small program as they are broken, until the point satisfies all of them. The
    bound is one of the whole program: its multipliers carry shortest paths through the graph,
    and the usual certificate scales them.

    Parameters
    ----------
    geometry : Geometry
        The graph of the program.
    landmarks : int
        Number of landmarks, or of eigenvectors.
    basis : {"reconstruction", "laplacian"} or array of shape (n, m)
    inner : str or Solver, default "auto"
        Solver of the small program.
    sources : int, default 64
        Number of nodes whose shortest paths make the multipliers.
    """

    name: ClassVar[str] = "landmark"
    package: ClassVar[str] = "sdpdr"
    module: ClassVar[str] = "sdpdr"
    forms: ClassVar[tuple[str, ...]] = ("landmark",)
    licence: ClassVar[str] = "Apache-2.0"

    geometry: Geometry = field(kw_only=True)
    landmarks: int = field(kw_only=True)
    basis: str | Array = "reconstruction"
    inner: str | Solver = "auto"
    sources: int = 64

    def run(self, sdp: SDP, progress: Progress | None = None) -> Outcome:
        """Build the basis, run the rounds, and add multipliers of the whole program."""
        clock, deadline, graph = Clock(), Deadline(self.time_limit), self.geometry.graph
        with clock("basis"):
            basis = on_face(sdp, self._basis())
        with clock("route"):
            sources = graphs.landmarks(graph, min(self.sources, graph.n), self.seed)
            duals = routed_multipliers(sdp, self.geometry, sources)
        with clock("solve"):
            n, m = basis.shape
            centres = np.random.default_rng(self.seed).permutation(n)[: 4 * m]
            rounds = solve_in_rounds(
                sdp,
                basis,
                self.geometry.cells(centres),
                lambda small: self._solve_small(small, self._left(deadline)),
                tol=self.tol,
                make_feasible=lambda values, close: self._feasible(sdp, values, close),
                proceed=lambda entry: self._proceed(entry, deadline, progress),
            )
        late = deadline.is_over()
        verdict = Verdict.TIME_LIMIT if late and not rounds.complete else _verdict(rounds)
        point = Point(rounds.point.values, duals or rounds.point.duals)
        return Outcome(point, verdict, _claim(rounds), clock.seconds, rounds.history)

    def _basis(self) -> Array:
        graph = self.geometry.graph
        if not isinstance(self.basis, str):
            return np.asarray(self.basis, dtype=float)
        if self.basis == "laplacian":
            return laplacian_basis(graph, min(self.landmarks, graph.n - 1), seed=self.seed)
        if graph.n > _DIRECT and has_coordinates(graph) and self.landmarks <= _DIRECT // 10:
            return coarse_basis(graph, self.landmarks, self.seed)
        chosen = graphs.landmarks(graph, self.landmarks, self.seed)
        return reconstruction_basis(graph, chosen)

    def _feasible(self, sdp: SDP, values: Values, close: bool) -> Values:
        """The better of two ways to a feasible point: shrinking all, or moving some."""
        shrunk = repair(sdp, values)
        form, name = self.geometry.form, sdp.psd_variables[0].name
        value = values[name]
        if not close or form is None or not are_limits_alone(form) or not isinstance(value, Factor):
            return shrunk
        settled = repair(sdp, {**values, name: Factor(settle(form, value.factor))})
        return min(shrunk, settled, key=sdp.primal_value)

    def _left(self, deadline: Deadline) -> float | None:
        """Seconds that a small program may take; never none, so that there is a point."""
        left = deadline.left()
        return None if left is None else max(1.0, left)

    def _solve_small(self, small: SDP, time_limit: float | None) -> Point:
        """A point of a small program: the multipliers first, since its rows are dense."""
        refusals, deadline = [], Deadline(time_limit)
        for form in _SMALL_FORMS:
            if deadline.is_over():
                return Point()
            try:
                options = {
                    "tol": unless_configured(self.inner, min(1e-5, 0.1 * self.tol)),
                    "seed": unless_configured(self.inner, self.seed),
                    "verbose": self.verbose,
                    "time_limit": deadline.left(),
                }
                chosen = choose(small, PlanOptions(self.inner, form, options=options)).first
            except NotAcceptedError as error:
                refusals.append(error)
                continue
            point = point_found(chosen.solver, small, chosen.reductions)
            if point.values:
                return point
        if len(refusals) == len(_SMALL_FORMS):
            raise refusals[-1]
        return Point()

    def _proceed(
        self, entry: Mapping[str, float], deadline: Deadline, progress: Progress | None
    ) -> bool:
        if progress is not None:
            progress({**entry, "seconds": deadline.spent})
        return not deadline.is_over()


def landmark_candidate(model: Model | SDP, requested: PlanOptions) -> tuple[Candidate, SDP]:
    """The landmark form of a model, and the program that is graded.

    Raises
    ------
    DataError
        ``landmarks`` is missing or out of range, or the graph is not connected.
    NotAcceptedError
        The program has no Gram matrix with a graph.
    UnknownNameError
        The basis is none that is known.
    """
    solver, basis = (
        requested.solver,
        "reconstruction" if requested.basis is None else requested.basis,
    )
    if isinstance(basis, str) and basis not in BASES:
        raise UnknownNameError("basis", basis, BASES)
    sdp, refusal = standard_form(model)
    if sdp is None:
        raise NotAcceptedError(f"the landmark form needs a standard form: {refusal}")
    found = geometry(model, sdp)
    count = _checked_count(requested.landmarks, found.graph.n, basis)
    if not isinstance(basis, str):
        reason = Landmark(np.asarray(basis, dtype=float)).accepts(sdp)
        if reason:
            raise NotAcceptedError(f"the landmark form cannot use this basis: {reason}.")
    # What a configured solver says of itself holds for the whole, unless this call says otherwise.
    names = ("tol", "time_limit", "max_iter", "seed", "verbose")
    own = {name: getattr(solver, name) for name in names if configured(solver)}
    chosen = LandmarkSolver(
        geometry=found,
        landmarks=count,
        basis=basis if isinstance(basis, str) else np.asarray(basis, dtype=float),
        inner=solver,
        **(own | dict(requested.options)),
    )
    return Candidate((), chosen, "landmark", "it was requested"), sdp


def _checked_count(landmarks: int | None, n: int, basis: str | ArrayLike) -> int:
    if not isinstance(basis, str):
        return int(np.shape(basis)[-1]) if np.ndim(basis) else 0
    if landmarks is None:
        raise DataError(
            "the landmark form needs a number of landmarks, for instance landmarks=40; more of "
            "them lose less and take longer."
        )
    count = validate.positive_integer("landmarks", landmarks, at_least=2)
    if count > n:
        raise DataError(f"landmarks={count} of {n} points: choose 2 to {n}.")
    return count


def _verdict(rounds: Rounds) -> Verdict:
    if not rounds.history:
        return Verdict.FAILED
    return Verdict.SOLVED if rounds.complete else Verdict.INACCURATE


def _claim(rounds: Rounds) -> Claim:
    if not rounds.history:
        return Claim("failed", message=_UNSOLVED)
    words = "all rows hold" if rounds.complete else "rounds ended before all rows held"
    return Claim("landmark optimum", rounds.value, len(rounds.history), f"{words}.")
