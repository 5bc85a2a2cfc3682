"""Options of plans and runs, and checks: of a wrong kind, or without effect."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from numbers import Real
from time import monotonic
from typing import TYPE_CHECKING, Any, TypeGuard, overload

import numpy as np

from sdpdr.base.deadline import Deadline
from sdpdr.base.errors import DataError, DataTypeError, NotAcceptedError
from sdpdr.base.progress import Progress
from sdpdr.model import Block, Model, from_cvxpy
from sdpdr.program.point import Point
from sdpdr.program.sdp import SDP
from sdpdr.program.solution import Solution
from sdpdr.reduce import Reduction
from sdpdr.solvers.base import Solver

if TYPE_CHECKING:
    import cvxpy as cp

# How long proofs may take: a few times the seconds of the solver, or as long as they need.
BUDGET, FULL = "budget", "full"
# A solver that is left to the rule.
AUTO = "auto"


def require_known_proof(proof: str) -> None:
    """Refuse other words for how long proofs may take."""
    if proof not in (BUDGET, FULL):
        raise DataError(f"proof must be {BUDGET!r} or {FULL!r}; it is {proof!r}.")


@dataclass(frozen=True, eq=False)
class PlanOptions:
    """The arguments of `sdpdr.plan`; the options of solvers are those that were given."""

    solver: str | Solver = AUTO
    form: str = "auto"
    via: tuple[Reduction, ...] = ()
    landmarks: int | None = None
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_auto(self) -> bool:
        """Whether the solver is left to the rule."""
        return isinstance(self.solver, str) and self.solver == AUTO

    def arguments(self) -> dict[str, Any]:
        """By the names that `plan` gives them."""
        names = ("solver", "form", "via", "landmarks")
        return {name: getattr(self, name) for name in names} | dict(self.options)


def as_reductions(given: object) -> tuple[Reduction, ...]:
    """A sequence of reductions, checked."""
    if not isinstance(given, Sequence) or isinstance(given, str):
        got = f"one alone, {type(given).__name__}" if isinstance(given, Reduction) else repr(given)
        raise DataTypeError(f"reductions are a list, for instance [reduce.Dual()]; got {got}.")
    for step in given:
        if not isinstance(step, Reduction):
            raise DataTypeError(
                f"{step!r} is no reduction: pass objects of sdpdr.reduce, for instance Dual()."
            )
    return tuple(given)


def refuse_idle(requested: PlanOptions) -> None:
    """Refuse arguments that have no effect."""
    form, landmarks = requested.form, requested.landmarks
    if requested.via and form in ("cvxpy", "landmark"):
        raise DataError(f"via has no effect with form={form!r}: leave one of them out.")
    if form != "landmark":
        if landmarks is not None:
            raise DataError(
                f"landmarks={landmarks} has no effect with form={form!r}: leave one of them out."
            )
        return
    if "max_iter" in requested.options:
        raise DataError(
            f"max_iter={requested.options['max_iter']} has no effect with form='landmark', which "
            "goes in rounds: leave it out, or limit the rounds by time_limit."
        )


def is_problem(model: object) -> TypeGuard[cp.Problem]:
    """Whether it is a problem of cvxpy."""
    # A user with a problem has imported cvxpy, which takes longer than most solves.
    cvxpy = sys.modules.get("cvxpy")
    return cvxpy is not None and isinstance(model, cvxpy.Problem)


def as_problem(model: Any) -> Any:
    """What was passed; a model without a standard form as the cvxpy problem that it makes."""
    if isinstance(model, Block):
        model = Model((model,))
    is_written = isinstance(model, Model) and not model.has_standard_form
    return model.to_cvxpy() if is_written else model


def has_other_cones(model: object) -> TypeGuard[cp.Problem]:
    """Whether it is a problem of cvxpy that needs exponential or power cones."""
    if not is_problem(model):
        return False
    from sdpdr.model.conic.refusals import needed_cones

    return any(True for _ in needed_cones(model))


@overload
def as_model(model: Model | Block) -> Model: ...
@overload
def as_model(model: Model | SDP | Block | cp.Problem) -> Model | SDP: ...
def as_model(model: Any) -> Model | SDP:
    """A model or program from whatever may be solved.

    A block alone, such as an objective, is a model of its own. A problem of cvxpy is read by
    `sdpdr.from_cvxpy`.

    Raises
    ------
    DataTypeError
        If it is none of these.
    """
    if isinstance(model, Block):
        return Model((model,))
    if isinstance(model, (Model, SDP)):
        return model
    if is_problem(model):
        return from_cvxpy(model)
    raise DataTypeError(
        f"{_shown(model)} is no program: write minimize(expression) + constraints, or pass a Model "
        "of sdpdr.methods, an SDP, or a cvxpy.Problem."
    )


def as_planned(model: Model | SDP | Block | cp.Problem) -> Model | SDP:
    """The model or program that a plan is for.

    Raises
    ------
    DataTypeError, NotAcceptedError
    """
    problem = as_problem(model)
    if is_problem(model) or not has_other_cones(problem):
        return as_model(problem)
    from sdpdr.model.conic.refusals import needed_cones

    what, kind = next(needed_cones(problem))
    raise NotAcceptedError(
        f"plans are for models in standard form: {what} of this one needs the {kind} cone. "
        "sdpdr.solve(model) solves it over that cone, with a proof."
    )


def require_solver(solver: object) -> None:
    """Refuse what is not a solver."""
    if isinstance(solver, (list, tuple)):
        raise DataTypeError(
            f"{_shown(solver)} is no solver: write solve(minimize(expression) + constraints), "
            "where constraints may be a list."
        )
    if not isinstance(solver, (str, Solver)):
        raise DataTypeError(
            f"{_shown(solver)} is no solver: pass one of the names of sdpdr.solvers(), or a "
            "configured solver."
        )


@dataclass(eq=False)
class Clock:
    """Seconds by phase."""

    seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def __call__(self, phase: str) -> Iterator[None]:
        """Time what happens inside, as part of a phase."""
        begin = monotonic()
        try:
            yield
        finally:
            self.add({phase: monotonic() - begin})

    def add(self, seconds: Mapping[str, float]) -> None:
        """Count seconds measured elsewhere."""
        for phase, value in seconds.items():
            self.seconds[phase] = self.seconds.get(phase, 0.0) + value


@dataclass(frozen=True, eq=False)
class Request:
    """The options of a run, apart from the choice of a solver; see `sdpdr.solve`.

    If nothing is to be proved attainable (`attainable` is False), the point stays as it is.
    Everything ends by ``deadline``, and ``clock`` counts its seconds. Unless the candidate
    `is_last`, others wait for the time that it leaves.
    """

    model: Model | SDP
    isolate: bool | None = None
    rigorous: bool = False
    gap_scale: float = 0.0
    start: Solution | Point | None = None
    progress: Progress | bool | None = None
    attainable: bool = True
    proof: str = BUDGET
    is_last: bool = True
    deadline: Deadline = field(default_factory=Deadline)
    clock: Clock = field(default_factory=Clock)

    def __post_init__(self) -> None:
        flags = {"rigorous": self.rigorous, "isolate": self.isolate}
        for name, flag in flags.items():
            if not isinstance(flag, (bool, np.bool_, type(None))):
                raise DataTypeError(f"{name} must be True or False; it is {flag!r}.")
        if not isinstance(self.start, (Solution, Point, type(None))):
            raise DataTypeError(
                f"{_shown(self.start)} is no start: pass the Solution of a nearby program, or a "
                "Point."
            )
        require_known_proof(self.proof)
        if not isinstance(self.gap_scale, Real) or not 0.0 <= float(self.gap_scale) < np.inf:
            raise DataError(
                f"gap_scale must be a finite number that is not negative; it is {self.gap_scale!r}."
            )


def _shown(thing: object) -> str:
    """What was passed, for a message."""
    return "None" if thing is None else f"an object of type {type(thing).__name__}"
