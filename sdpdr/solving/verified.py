"""What is proved of a problem that somebody has written, and maybe solved, in cvxpy."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from math import inf, isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sdpdr.base.errors import DataError
from sdpdr.base.keywords import checks_keywords
from sdpdr.certify.knowledge import BOUND, INFEASIBLE, OPTIMAL, UNBOUNDED, VALUE, Knowledge
from sdpdr.certify.proof_file.flat import FlatFileProgram, sides_of
from sdpdr.certify.proof_file.write import WrittenProof, write_file_of
from sdpdr.certify.prove import prove
from sdpdr.certify.units import Units
from sdpdr.program.run import Status
from sdpdr.solvers.flat import ask_clarabel

if TYPE_CHECKING:
    import cvxpy as cp

# Seconds of a processor that proofs may take by default, and that over those of the solver.
_AT_LEAST, _OF_SOLVER = 2.0, 5.0
_STATUSES = {
    OPTIMAL: Status.SOLVED,
    INFEASIBLE: Status.INFEASIBLE,
    UNBOUNDED: Status.UNBOUNDED,
}


@dataclass(frozen=True)
class Verified:
    """What is proved of a problem, beside what a solver claimed of it.

    Attributes
    ----------
    status : Status
        ``SOLVED`` where value and bound agree to the tolerance, ``INFEASIBLE`` and ``UNBOUNDED``
        where that is proved, ``INACCURATE`` otherwise.
    value : float
        What some feasible point attains, or betters; infinite where nothing is proved.
    bound : float
        What no feasible point betters; infinite where nothing is proved.
    argument : str
        By what, in words.
    claimed : float or None
        The problem's own value, if it was solved before.
    maximize : bool
    tol : float
    seconds : float
        Of a processor, for solving again and for proofs.
    notes : tuple of str
        What did not succeed, and why.
    writer : callable or None
        What `write_proof` calls.
    """

    status: Status
    value: float
    bound: float
    argument: str
    claimed: float | None
    maximize: bool
    tol: float
    seconds: float
    notes: tuple[str, ...] = ()
    writer: Callable[[str | Path], WrittenProof] | None = field(
        default=None, repr=False, compare=False
    )

    def write_proof(self, path: str | Path) -> WrittenProof:
        """Write what is proved to a file that anybody can check (:doc:`/guide/proof_files`).

        The program in the file is the one that cvxpy makes of the problem.

        Parameters
        ----------
        path : str or path

        Returns
        -------
        WrittenProof

        Raises
        ------
        DataError
            If nothing that is proved can be written.

        Examples
        --------
        >>> import tempfile
        >>> import cvxpy as cp
        >>> import sdpdr
        >>> x = cp.Variable(3)
        >>> found = sdpdr.verify(cp.Problem(cp.Maximize(cp.sum(cp.entr(x))), [cp.sum(x) == 1]))
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     written = found.write_proof(folder + "/entropy.proof")
        >>> round(written.claims["value"], 4), round(written.claims["bound"], 4)
        (1.0986, 1.0986)
        """
        if self.writer is None:
            raise DataError(
                "this knows no program: call write_proof() on what sdpdr.verify returns."
            )
        return self.writer(path)

    @property
    def gap(self) -> float:
        """How far value and bound are apart, relative to the larger; infinite if one is missing."""
        if not (isfinite(self.value) and isfinite(self.bound)):
            return inf
        size = max(abs(self.value), abs(self.bound))
        return abs(self.value - self.bound) / size if size else 0.0

    @property
    def is_refuted(self) -> bool:
        """Whether the value that was claimed is proved wrong, by more than the tolerance.

        It is where it is better than the bound, or worse than the value attained.
        """
        if self.claimed is None:
            return False
        sign = -1.0 if self.maximize else 1.0
        slack = self.tol * max(abs(self.claimed), abs(self.bound) if isfinite(self.bound) else 0.0)
        too_good = sign * self.claimed < sign * self.bound - slack
        too_bad = sign * self.claimed > sign * self.value + slack
        contradicted = self.status in (Status.INFEASIBLE, Status.UNBOUNDED)
        return too_good or too_bad or (contradicted and isfinite(self.claimed))

    def __str__(self) -> str:
        said = f"{self.status.name}: {self.argument}"
        if self.claimed is None:
            return said
        words = "which is refuted" if self.is_refuted else "which nothing contradicts"
        return f"{said} The solver claimed {self.claimed:.9g}, {words}."


@checks_keywords
def verify(
    problem: cp.Problem,
    *,
    tol: float = 1e-6,
    gap_scale: float = 1.0,
    seconds: float | None = None,
) -> Verified:
    """Prove what can be proved of a cvxpy problem, whichever solver it was given to.

    Every cone that cvxpy knows is accounted for: linear, second-order, semidefinite, exponential
    and power. cvxpy keeps the values of the problem's own variables, and not of those that it adds,
    so that the problem is solved again, by Clarabel, whose answer is where the proofs begin and is
    not believed either (`sdpdr.certify`): a value is attained by a point that exists near one that
    is known, a bound is shown by multipliers that do, and all rounding is accounted for.

    Parameters
    ----------
    problem : cvxpy.Problem
        Convex, with values of all parameters; solved or not.
    tol : float, default 1e-6
        Relative gap between value and bound at which they count as one.
    gap_scale : float, default 1
        A size of the objective below which the gap is relative to it, as `sdpdr.CVXPY` has it: no
        gap is small relative to an optimum of zero. Zero for gaps that are always relative.
    seconds : float, optional
        Of a processor, for proofs; what is known by then is returned. By default five times what
        the solver takes, and two at least.

    Returns
    -------
    Verified

    Raises
    ------
    DataTypeError, NotAcceptedError, ModelError
        If it is no convex problem in real numbers, or has coefficients that are not finite.
    DataError
        If ``tol`` or ``seconds`` is no positive number, or ``gap_scale`` is negative.

    Examples
    --------
    >>> import cvxpy as cp
    >>> import sdpdr
    >>> x = cp.Variable(3)
    >>> problem = cp.Problem(cp.Maximize(cp.sum(cp.entr(x))), [cp.sum(x) == 1])
    >>> _ = problem.solve(solver=cp.CLARABEL)
    >>> found = sdpdr.verify(problem)
    >>> found.status, round(found.value, 4), round(found.bound, 4), found.is_refuted
    (Status.SOLVED, 1.0986, 1.0986, False)
    """
    from sdpdr.model.conic.flat import flat_problem

    _require_positive(tol=tol, seconds=inf if seconds is None else seconds)
    if not isinstance(gap_scale, (int, float)) or not 0.0 <= gap_scale < inf:
        raise DataError(f"gap_scale must be a number, zero or above; it is {gap_scale!r}.")
    flat = flat_problem(problem)
    units = Units.of(flat.program)
    program, unit = units.program(flat.program), units.cost
    begin = time.process_time()
    answer = ask_clarabel(program)
    solving = time.process_time() - begin
    budget = max(_AT_LEAST, _OF_SOLVER * solving) if seconds is None else seconds
    known = Knowledge(scale=gap_scale / unit)
    try:
        prove(program, answer, ask_clarabel, tol=tol, seconds=budget, known=known)
    except ArithmeticError as error:
        # Numbers beyond those that rounding can be accounted for.
        known.notes.append(str(error))
    sign = -unit if flat.maximize else unit
    return Verified(
        status=_STATUSES.get(known.status, Status.INACCURATE),
        value=sign * known.value,
        bound=sign * known.bound,
        argument=_argument(known, sign, maximize=flat.maximize),
        claimed=None if problem.value is None else float(problem.value),
        maximize=flat.maximize,
        tol=tol,
        seconds=solving + known.seconds,
        notes=tuple(known.notes),
        writer=partial(
            write_file_of,
            FlatFileProgram(flat.program, program, units, maximize=flat.maximize),
            sides_of(known, units, maximize=flat.maximize),
        ),
    )


def _require_positive(**given: Any) -> None:
    for name, value in given.items():
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not value > 0.0:
            raise DataError(f"{name} must be a positive number; it is {value!r}.")


def _argument(known: Knowledge, unit: float, *, maximize: bool) -> str:
    """What is proved and by what, in a sentence."""
    for status, words in (
        (INFEASIBLE, "no point is feasible"),
        (UNBOUNDED, "feasible points are better than any number"),
    ):
        if known.status == status:
            return f"{words} ({known.how[status]})."
    beyond = "above" if maximize else "below"
    said = []
    if VALUE in known.how:
        said.append(f"the value {unit * known.value:.9g} is attained ({known.how[VALUE]})")
    if BOUND in known.how:
        said.append(f"no point is {beyond} {unit * known.bound:.9g} ({known.how[BOUND]})")
    if not said:
        return "nothing is proved within the budget."
    return f"{'; '.join(said)}."
