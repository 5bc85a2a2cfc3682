"""Proofs of both sides of an answer: by sparse arguments at any size, and by the dense kernel.

Points of large programs are made feasible in closed form, or next to a factor, and multipliers are
moved inwards until their slack is verified. If that leaves a side open, and the program is small
enough for dense linear algebra, the kernel (`sdpdr.certify`) proves values, bounds, infeasibility
and unboundedness.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from math import fsum, inf

import numpy as np

from sdpdr.base.arrays import Array
from sdpdr.base.deadline import ENDLESS, Deadline
from sdpdr.certify.answer import ProofInterruptedError, Proved, faceless, is_small, prove_answer
from sdpdr.certify.attained import attained
from sdpdr.certify.bounds import certify
from sdpdr.certify.constants import constant_direction, holds_at_zero
from sdpdr.certify.standard import as_written
from sdpdr.program.backward import dual_backward_error
from sdpdr.program.face import complete_multipliers
from sdpdr.program.point import Factor, Point, Value
from sdpdr.program.ray import Ray
from sdpdr.program.run import Verdict
from sdpdr.program.sdp import SDP, without_objective
from sdpdr.solvers.flat import ask_solver
from sdpdr.solving.options import FULL, Request

# CPU seconds that proofs may take by default, and those for each CPU second of the solver.
AT_LEAST, OF_SOLVER = 2.0, 5.0
# Relative distance from the value beyond which a bound is dropped, if the multipliers hold for data
# nearby.
_WORTH = 1e-2
# Numbers of a point up to which the kernel takes milliseconds.
_TINY = 500
# Numbers of a point up to which all are written out, in a second.
_WRITTEN = 1_000_000
_CLAIMS = {Verdict.INFEASIBLE: "infeasible", Verdict.UNBOUNDED: "unbounded"}
# Proves sides of an answer; ``beside`` has those that are proved already.
Argument = Callable[..., Proved]


def budget(solving: float | None, request: Request) -> float:
    """CPU seconds for proofs: by the rule of the budget, or all that is left of a time limit.

    All that is left is used only if no other candidate waits.

    Parameters
    ----------
    solving : float or None
        CPU seconds of the solver, if known.
    request : Request
    """
    left = request.deadline.ahead
    if request.proof == FULL or (request.is_last and request.deadline.seconds < inf):
        return left
    return min(left, max(AT_LEAST, OF_SOLVER * (solving or 0.0)))


def better_sides(sdp: SDP, one: Proved | None, other: Proved) -> Proved:
    """The better value with its point and the better bound with its multipliers."""
    if one is None:
        return other
    by_value = min(one, other, key=lambda p: inf if p.value is None else sdp.report(p.value))
    by_bound = max(other, one, key=lambda p: -inf if p.bound is None else sdp.report(p.bound))
    # An argument about rays alone says nothing of the sides that it leaves open.
    how = {
        side: best.how.get(side) or one.how.get(side) or other.how.get(side, "")
        for side, best in (("value", by_value), ("bound", by_bound))
    }
    return Proved(
        by_value.value,
        by_bound.bound,
        how,
        by_value.values,
        by_bound.duals,
        other.ray or one.ray,
        one.is_late or other.is_late,
    )


@dataclass(frozen=True, eq=False)
class Prover:
    """Proves values and bounds of a program.

    Parameters
    ----------
    sdp : SDP
    tol : float
        Relative gap aimed at.
    gap_scale : float, default 0
        Size of the objective below which the gap is absolute.
    seconds : float, optional
        CPU seconds for the kernel.
    deadline : Deadline, optional
        No proof begins after it.
    stays : bool, default False
        Whether the point may not be replaced by one of a better value; if a narrower program was
        solved, that point would not be in it.
    """

    sdp: SDP
    tol: float
    gap_scale: float = 0.0
    seconds: float = inf
    deadline: Deadline = ENDLESS
    stays: bool = False

    def of(self, given: Point, verdict: Verdict = Verdict.SOLVED, *, value: bool = True) -> Proved:
        """Prove a point and its multipliers, or the claim of a solver that there is no optimum.

        Parameters
        ----------
        given : Point
        verdict : Verdict, optional
            The verdict of the solver.
        value : bool, default True
            Whether a value is to be proved, for which the point may move.

        Raises
        ------
        ProofInterruptedError
        """
        found: Proved | None = None
        for argument in self._arguments(given, _CLAIMS.get(verdict, ""), value=value):
            try:
                found = better_sides(self.sdp, found, argument(beside=found))
            except KeyboardInterrupt as error:
                more = error.proved if isinstance(error, ProofInterruptedError) else Proved()
                raise ProofInterruptedError(better_sides(self.sdp, found, more)) from None
            is_tight = self._is_tight(found, given, value=value)
            if is_tight or found.ray is not None or self.deadline.is_over():
                break
        assert found is not None
        if not value:
            how = {**found.how, "value": "no proof was requested"}
            found = replace(found, value=None, values={}, how=how)
        return found if is_tight else self._unless_poor(found, given)

    def _arguments(self, given: Point, claim: str, *, value: bool) -> Iterator[Argument]:
        """Yield arguments in turn, the faster one first."""
        plain = partial(self._at_any_size, given, value=value)
        has_kernel = bool(given.values or claim) and self.seconds > 0.0 and is_small(self.sdp)
        kernel = [partial(self._by_kernel, given, claim)] if has_kernel else []
        if claim == "unbounded" and sum(v.size for v in self.sdp.variables) <= _WRITTEN:
            yield self._along_ones
        if claim:
            contradicted = [partial(self._contradicted, given)] if claim == "infeasible" else []
            yield from kernel or [plain, *contradicted]
        elif self._suits_the_kernel(given):
            yield from (*kernel, plain)
        else:
            yield from (plain, *kernel)

    def _suits_the_kernel(self, given: Point) -> bool:
        """Whether the kernel is faster than the arguments for one large matrix.

        It is not used first for factors, whose own arguments keep their rank.
        """
        if any(isinstance(value, Factor) for value in given.values.values()):
            return False
        sdp = self.sdp
        matrices = len(sdp.psd_variables) + len(sdp.lmis)
        return matrices > 1 or sum(v.size for v in sdp.variables) <= _TINY

    def _by_kernel(self, given: Point, claim: str, beside: Proved | None) -> Proved:
        """Both sides, or the claim, by the kernel."""
        try:
            found = prove_answer(
                self.sdp,
                given,
                ask_solver,
                tol=self.tol,
                gap_scale=self.gap_scale,
                seconds=min(self.seconds, self.deadline.ahead),
                claim=claim,
                beside=beside,
                stays=self.stays,
            )
        except ArithmeticError as error:
            # Numbers are too large or too small to bound their rounding.
            return Proved(how={"value": str(error), "bound": str(error)})
        values = {
            name: Factor.of(np.asarray(x), 0.0)
            if isinstance(given.values.get(name), Factor) and not isinstance(x, Factor)
            else x
            for name, x in found.values.items()
        }
        return replace(found, values=values)

    def _at_any_size(self, given: Point, beside: Proved | None, *, value: bool) -> Proved:
        """Both sides, by arguments that need no dense matrices."""
        del beside  # `of` takes the better of both sides
        sdp = self.sdp
        missing = "no multipliers of this program are known"
        how = {"value": "no proof was requested", "bound": missing}
        number, bound = None, None
        values: Mapping[str, Value] = {}
        duals: Mapping[str, Array] = {}
        try:
            if given.duals or not sdp.labels:
                goal = self._good_enough(given)
                certificate = certify(sdp, given.duals, goal=goal, deadline=self.deadline)
                bound, how["bound"] = certificate.bound, certificate.argument
                duals = complete_multipliers(sdp, {**given.duals, **certificate.duals})
            # Without factors, these arguments find no point where the kernel has found none.
            is_hopeless = self._suits_the_kernel(given) and "value" in faceless(sdp)
            if given.values and value and not is_hopeless:
                how["value"] = "no point was proved feasible"
                tol, deadline = self.tol, self.deadline
                point = attained(sdp, given.values, goal=bound, tol=tol, deadline=deadline)
                if point is not None:
                    number, values, how["value"] = point.value, point.values, point.argument
        except KeyboardInterrupt:
            raise ProofInterruptedError(Proved(number, bound, how, values, duals)) from None
        return Proved(number, bound, how, values, duals)

    def _along_ones(self, beside: Proved | None) -> Proved:
        """That the objective has no limit, where all points can move together."""
        del beside
        form = as_written(self.sdp)
        if not holds_at_zero(form.flat):
            return Proved()
        for block in (block for block in form.blocks if block.order):
            direction = constant_direction(form.flat, block.places)
            if direction is not None:
                terms = form.flat.c * direction
                margin = abs(fsum(terms)) / fsum(np.abs(terms))
                words = f"a ray, in which all entries of {block.name!r} grow alike"
                values = {block.name: Factor(np.ones((block.order, 1)))}
                zero = form.values(np.zeros(form.flat.c.size))
                return Proved(values=zero, ray=Ray("unbounded", margin, words, values=values))
        return Proved()

    def _contradicted(self, given: Point, beside: Proved | None) -> Proved:
        """Prove infeasibility by multipliers that prove a positive bound of the objective zero."""
        duals, sdp = given.duals, without_objective(self.sdp)
        if (beside is not None and beside.value is not None) or not sdp.is_dual_point(duals):
            return Proved()
        found = certify(sdp, duals, goal=np.inf, deadline=self.deadline)
        if found.bound is None or not found.bound > 0.0:
            return Proved()
        size = sum(float(np.abs(r.rhs) @ np.abs(duals[r.label])) for r in sdp.rows)
        words = f"multipliers that contradict the constraints; {found.argument}"
        margin = min(1.0, found.bound / size) if size else 0.0
        return Proved(ray=Ray("infeasible", margin, words, duals={**duals, **found.duals}))

    def _good_enough(self, given: Point) -> float | None:
        """A bound that leaves most of the tolerance to the value; None without a point."""
        if not given.values:
            return None
        value = value_of(self.sdp, given)
        away = 0.3 * self.tol * abs(value)
        return value + away if self.sdp.maximize else value - away

    def _is_tight(self, found: Proved, given: Point, *, value: bool) -> bool:
        """Whether the bound is within the tolerance of the proved value, or of the given one."""
        number = found.value if value else value_of(self.sdp, given)
        if number is None or found.bound is None:
            return False
        apart = self.sdp.report(number) - self.sdp.report(found.bound)
        return apart <= self.tol * max(abs(number), self.gap_scale)

    def _unless_poor(self, found: Proved, given: Point) -> Proved:
        """Drop a bound far from the value if the given multipliers are right for data nearby.

        Programs whose dual has no interior have such bounds: multipliers that can be proved lie far
        from the optimal ones.
        """
        goal = value_of(self.sdp, given) if found.value is None else found.value
        if found.bound is None or not given.duals or not np.isfinite(goal):
            return found
        if not abs(goal - found.bound) > _WORTH * abs(goal) or found.ray is not None:
            return found
        claimed = self.sdp.report(self.sdp.dual_value(given.duals))
        if abs(goal - claimed) > self.tol * abs(goal):
            return found
        if not dual_backward_error(self.sdp, given.duals) <= self.tol:
            return found
        words = (
            f"the multipliers hold for data nearby, and no more than {found.bound:.6g} is proved"
        )
        return replace(found, bound=None, duals=given.duals, how={**found.how, "bound": words})


def value_of(sdp: SDP, point: Point) -> float:
    """The user's objective at a point; nan without values."""
    return sdp.report(sdp.primal_value(point.values)) if point.values else float("nan")
