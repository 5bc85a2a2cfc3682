r"""IPOPT on the factor: a second opinion on the low-rank solver, and a reference for narrow bands.

With K = R R^T, R of shape (n, r), the edge program is a sparse nonlinear program,

.. math:: \min_R\ -\sum_i c_i |R_i|^2 \quad\text{s.t.}\quad l_e \le |R_i - R_j|^2 / d_e \le u_e,
          \quad \textstyle\sum_i c_i R_i = 0,

with exact derivatives: a row of the Jacobian has 2 r entries, and the Hessian of the Lagrangian is
that of a weighted graph Laplacian, once for every column of R. IPOPT's multipliers y give the edge
weights w = y / d, which our certificate judges as it judges any other's.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import Any, ClassVar

import numpy as np

from sdpdr.base.arrays import Array, Index
from sdpdr.base.deadline import Deadline
from sdpdr.base.errors import DisconnectedGraphError
from sdpdr.program.point import Point
from sdpdr.program.run import Claim, Verdict
from sdpdr.program.sdp import SDP
from sdpdr.solvers.base import Availability, Outcome, Progress, Solver
from sdpdr.solvers.lowrank import EdgeProgram
from sdpdr.solvers.lowrank.edge.form import edge_form, to_point, why_not
from sdpdr.solvers.lowrank.edge.start import isomap_start, require_bounded
from sdpdr.solvers.processes.silence import undisturbed

_VERDICTS = {
    0: Verdict.SOLVED,
    1: Verdict.INACCURATE,
    2: Verdict.INFEASIBLE,
    4: Verdict.UNBOUNDED,
    -1: Verdict.ITERATION_LIMIT,
    -4: Verdict.TIME_LIMIT,
    -5: Verdict.TIME_LIMIT,
}
_INFINITY = 2e19  # IPOPT's own
# IPOPT rejects a limit of zero seconds.
_MOMENT = 1e-9


@dataclass(frozen=True)
class Ipopt(Solver):
    """IPOPT with MUMPS, through ``ipyopt`` or ``cyipopt`` (options as in `Solver`).

    Its own options go to IPOPT, except ``rank``: the number of columns of R, at least three.
    """

    name: ClassVar[str] = "ipopt"
    package: ClassVar[str] = "ipyopt"
    module: ClassVar[str] = "ipyopt"
    extra: ClassVar[str] = "ipopt"
    forms: ClassVar[tuple[str, ...]] = ("factor",)
    is_native: ClassVar[bool] = True
    licence: ClassVar[str] = "EPL-2.0"

    @classmethod
    def availability(cls) -> Availability:
        """That of ``ipyopt``, or else of ``cyipopt``."""
        found = super().availability()
        if found.installed or importlib.util.find_spec("cyipopt") is None:
            return found
        return Availability(True, True, str(import_module("cyipopt").__version__), "")

    def accepts(self, sdp: SDP) -> str | None:
        """The reason why a program is not supported.

        None for a variance under bounds on edges, without penalties.
        """
        reason = why_not(sdp)
        if reason is not None:
            return reason
        program = edge_form(sdp).program
        if np.isfinite(program.penalty).any() or np.isfinite(program.stiffness).any():
            return "it supports hard bounds only; penalized lengths go to 'lowrank'"
        if not program.objective.is_variance:
            return "it maximises variance only; other objectives go to 'lowrank'"
        return None

    def run(self, sdp: SDP, progress: Progress | None = None) -> Outcome:
        """Recognise the edge program and solve it from a landmark Isomap start."""
        deadline = Deadline(self.time_limit)
        form = edge_form(sdp)
        try:
            require_bounded(form.program)
        except DisconnectedGraphError as error:
            return Outcome(Point(), Verdict.UNBOUNDED, Claim("unbounded", message=str(error)))
        own, limit = dict(self.options), deadline.left()
        nlp = UnfoldingNlp(form.program, own.pop("rank", None), self.seed)
        options = {
            **self.tolerances(),
            "mu_strategy": "adaptive",
            "print_level": 5 if self.verbose else 0,
            "sb": "yes",
            **({} if self.max_iter is None else {"max_iter": self.max_iter}),
            # IPOPT before 3.14 supports no limit on wall time; it runs in one thread here.
            **({} if limit is None else {"max_cpu_time": max(limit, _MOMENT)}),
            **own,
        }
        compiling = deadline.spent
        run = _with_ipyopt if importlib.util.find_spec("ipyopt") else _with_cyipopt
        with undisturbed(self.verbose):
            x, multipliers, status = run(nlp, options)
        seconds = {"compile": compiling, "solve": deadline.spent - compiling}
        factor, weights = nlp.read(x, multipliers)
        value = -float(form.program.mass @ np.square(factor).sum(axis=1))
        verdict = _VERDICTS.get(status, Verdict.FAILED)
        claim = Claim(f"{verdict.value} (IPOPT status {status})", value)
        if not (np.isfinite(factor).all() and np.isfinite(weights).all()):
            claim = Claim(claim.status, message="IPOPT returned numbers that are not finite")
            return Outcome(
                to_point(sdp, form, 0.0 * nlp.start(), 0.0 * form.program.sqdist),
                Verdict.FAILED,
                claim,
                seconds,
            )
        return Outcome(to_point(sdp, form, factor, weights), verdict, claim, seconds)


class UnfoldingNlp:
    """An edge program as a nonlinear program in x = R, row by row; lengths scaled to mean 1.

    Parameters
    ----------
    program : EdgeProgram
    rank : int or None
        Columns of R, at least three and at most n - 1; None takes five.
    seed : int
    """

    def __init__(self, program: EdgeProgram, rank: int | None, seed: int) -> None:
        self._program, self._unit = program, float(np.sqrt(program.sqdist.mean()))
        rank = min(program.n - 1, max(3, 5 if rank is None else rank))
        self._start = 0.9 * isomap_start(program, rank, seed=seed) / self._unit
        self.n, self.r = self._start.shape
        self.m = program.m
        self._i, self._j = program.edges.T

    def start(self) -> Array:
        """The first factor, in the units of the program."""
        return self._start * self._unit

    def first(self) -> Array:
        """The first point x."""
        return np.ascontiguousarray(self._start, dtype=float).ravel()

    def limits(self) -> tuple[Array, Array]:
        """Limits of the rows: relative squared lengths, then the weighted means."""
        p, centre = self._program, np.zeros(self.r)
        lower = np.where(np.isfinite(p.lower), p.lower / p.sqdist, -_INFINITY)
        upper = np.where(np.isfinite(p.upper), p.upper / p.sqdist, _INFINITY)
        return np.concatenate([lower, centre]), np.concatenate([upper, centre])

    def objective(self, x: Array) -> float:
        """Minus the variance."""
        return -float(self._program.mass @ np.square(self._factor(x)).sum(axis=1))

    def gradient(self, x: Array) -> Array:
        """Gradient of the objective."""
        return (-2.0 * self._program.mass[:, None] * self._factor(x)).ravel()

    def rows(self, x: Array) -> Array:
        """Relative squared lengths, then the weighted sums of the columns."""
        factor = self._factor(x)
        lengths = np.square(self._steps(factor)).sum(axis=1)
        return np.concatenate([lengths / self._scale(), self._program.mass @ factor])

    def jacobian_pattern(self) -> tuple[Index, Index]:
        """Row and column of every entry of the Jacobian."""
        column = np.arange(self.r)
        edge = np.repeat(np.arange(self.m), 2 * self.r)
        ends = np.stack([self._i, self._j], axis=1)
        of_edges = (ends[:, :, None] * self.r + column).ravel()
        of_means = np.arange(self.n * self.r)
        return (
            np.concatenate([edge, self.m + np.tile(column, self.n)]),
            np.concatenate([of_edges, of_means]),
        )

    def jacobian(self, x: Array) -> Array:
        """Entries of the Jacobian in the order of its pattern."""
        steps = 2.0 * self._steps(self._factor(x)) / self._scale()[:, None]
        return np.concatenate(
            [np.stack([steps, -steps], axis=1).ravel(), np.repeat(self._program.mass, self.r)]
        )

    def hessian_pattern(self) -> tuple[Index, Index]:
        """Row and column of every entry of the lower triangle of the Hessian."""
        column, diagonal = np.arange(self.r), np.arange(self.n * self.r)
        later = (self._j[:, None] * self.r + column).ravel()
        earlier = (self._i[:, None] * self.r + column).ravel()
        return np.concatenate([diagonal, later]), np.concatenate([diagonal, earlier])

    def hessian(self, multipliers: Array, factor: float) -> Array:
        """Entries of the Hessian of ``factor * objective + multipliers . rows``."""
        weights = 2.0 * multipliers[: self.m] / self._scale()
        degree = np.bincount(self._i, weights, self.n) + np.bincount(self._j, weights, self.n)
        diagonal = np.repeat(degree - 2.0 * factor * self._program.mass, self.r)
        return np.concatenate([diagonal, np.repeat(-weights, self.r)])

    def read(self, x: Array, multipliers: Array) -> tuple[Array, Array]:
        """Factor and edge weights in the units of the program."""
        weights = multipliers[: self.m] * self._unit**2 / self._program.sqdist
        return self._factor(x) * self._unit, weights

    def _factor(self, x: Array) -> Array:
        return np.reshape(x, (self.n, self.r))

    def _steps(self, factor: Array) -> Array:
        return np.asarray(factor[self._i] - factor[self._j])

    def _scale(self) -> Array:
        return self._program.sqdist / self._unit**2


@contextmanager
def _bound_to_its_own() -> Iterator[None]:
    """Load libraries so that they find their own linear algebra before that of others.

    Once PARDISO has run, IPOPT would otherwise use the BLAS of MKL, and no longer see that some
    programs are infeasible.
    """
    if not hasattr(os, "RTLD_DEEPBIND"):
        yield
        return
    before = sys.getdlopenflags()
    sys.setdlopenflags(before | os.RTLD_DEEPBIND)
    try:
        yield
    finally:
        sys.setdlopenflags(before)


def _with_ipyopt(nlp: UnfoldingNlp, options: dict[str, Any]) -> tuple[Array, Array, int]:
    with _bound_to_its_own():
        import ipyopt

    def into(function: Any) -> Any:
        def fill(*arguments: Any) -> None:
            arguments[-1][:] = function(*arguments[:-1])

        return fill

    free = np.full(nlp.n * nlp.r, _INFINITY)
    lower, upper = nlp.limits()
    problem = ipyopt.Problem(
        free.size,
        -free,
        free,
        lower.size,
        lower,
        upper,
        nlp.jacobian_pattern(),
        nlp.hessian_pattern(),
        nlp.objective,
        into(nlp.gradient),
        into(nlp.rows),
        into(nlp.jacobian),
        into(lambda x, multipliers, factor: nlp.hessian(multipliers, factor)),
        ipopt_options=options,
    )
    multipliers, ones = np.zeros(lower.size), np.zeros(free.size)
    x, _, status = problem.solve(
        nlp.first(), mult_g=multipliers, mult_x_L=ones, mult_x_U=ones.copy()
    )
    return x, multipliers, int(status)


def _with_cyipopt(nlp: UnfoldingNlp, options: dict[str, Any]) -> tuple[Array, Array, int]:
    import cyipopt

    class Callbacks:
        objective, gradient, constraints = nlp.objective, nlp.gradient, nlp.rows
        jacobian, jacobianstructure = nlp.jacobian, nlp.jacobian_pattern
        hessianstructure = nlp.hessian_pattern

        def hessian(self, x: Array, multipliers: Array, factor: float) -> Array:
            return nlp.hessian(multipliers, factor)

    lower, upper = nlp.limits()
    problem = cyipopt.Problem(
        n=nlp.n * nlp.r, m=lower.size, problem_obj=Callbacks(), cl=lower, cu=upper
    )
    for name, value in options.items():
        problem.add_option(name, value)
    x, info = problem.solve(nlp.first())
    return x, info["mult_g"], int(info["status"])
