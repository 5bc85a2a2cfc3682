"""The answer that a cvxpy problem keeps, with the options of its verification."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from sdpdr.base.arrays import Array
from sdpdr.model.conic.flat import FlatProblem
from sdpdr.model.conic.kept import (
    KeptPoint,
    as_rows,
    kept_multipliers,
    kept_point,
    kept_value,
    shapes_of,
)
from sdpdr.program.run import Verdict
from sdpdr.program.solution import Solution
from sdpdr.solving.verify.given import UNNAMED, Settings, as_claimed

# What cvxpy says of problems without an optimum, also where it is not sure.
_VERDICTS = {"infeasible": Verdict.INFEASIBLE, "unbounded": Verdict.UNBOUNDED}
# Solvers of cvxpy have gaps that are absolute where the value is smaller than this.
_SCALE = 1.0


@dataclass(frozen=True, eq=False)
class KeptAnswer:
    """A problem, and what cvxpy and its solver say of it.

    Attributes
    ----------
    flat : FlatProblem
    settings : Settings
    """

    flat: FlatProblem
    settings: Settings

    @cached_property
    def point(self) -> KeptPoint:
        """The unknowns of the flat program."""
        return kept_point(self.flat)

    @cached_property
    def multipliers(self) -> Array:
        """The multipliers of the flat program; ``nan`` where cvxpy keeps none."""
        return kept_multipliers(self.flat)

    @property
    def values(self) -> dict[str, Array]:
        """Values of the problem's own variables; empty unless all are known."""
        found = {v.name(): kept_value(v) for v in self.flat.problem.variables()}
        known = {name: value for name, value in found.items() if value is not None}
        return known if len(known) == len(found) else {}

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Shapes of the variables that a `Solution` keeps as rows, all but symmetric matrices."""
        return shapes_of(self.flat.problem)

    def as_rows(self, values: Mapping[str, Array]) -> dict[str, Array]:
        """Values as a `Solution` keeps them: rows, and symmetric matrices."""
        return as_rows(values, self.shapes)

    @property
    def scale(self) -> float:
        """A size of the objective below which gaps are absolute."""
        return _SCALE if self.settings.gap_scale is None else self.settings.gap_scale

    @property
    def budget(self) -> float:
        """CPU seconds that proofs may take."""
        stats = self.flat.problem.solver_stats
        return self.settings.budget(0.0 if stats is None else float(stats.solve_time or 0.0))

    @property
    def verdict(self) -> Verdict:
        """What the solver says."""
        said = (self.flat.problem.status or "").partition("_")[0]
        return _VERDICTS.get(said, Verdict.SOLVED)

    def claimed(self, message: str) -> Solution:
        """What the solver claims, and what was missing in its answer."""
        problem = self.flat.problem
        stats = problem.solver_stats
        return as_claimed(
            problem.value,
            self.settings,
            who=UNNAMED if stats is None else str(stats.solver_name).lower(),
            status=problem.status or "not solved",
            message=message,
            verdict=self.verdict,
            maximize=self.flat.maximize,
            gap_scale=self.scale,
        )
