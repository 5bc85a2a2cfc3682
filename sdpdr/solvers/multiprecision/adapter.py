"""The multi-precision method as a solver, and `reference`, an optimal value with many digits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import ceil, inf, log2
from typing import TYPE_CHECKING, Any, ClassVar

from sdpdr.base.deadline import Deadline
from sdpdr.base.errors import DataError, NotAcceptedError
from sdpdr.base.keywords import checks_keywords
from sdpdr.program.run import Claim, Verdict
from sdpdr.program.sdp import SDP
from sdpdr.solvers.base import Outcome, Progress, Solver, printing
from sdpdr.solvers.equality import equality_rows_of_both

if TYPE_CHECKING:
    from sdpdr.solvers.multiprecision.engine import PreciseOptions, PreciseRun

# Largest order of a matrix and number of rows: such programs take minutes, not hours.
MAX_ORDER, MAX_ROWS = 200, 1500
# Iterations: well-posed programs take twenty or thirty, ill-posed ones up to hundreds.
_ITERATIONS = 500
_LINE = (
    "{iteration:4d}  {value: .15g}  {dual: .15g}  mu {mu:.1e}  errors "
    "{primal_error:.1e} {dual_error:.1e}  {seconds:.1f} s"
)
_VERDICTS = {
    "solved": Verdict.SOLVED,
    "stuck": Verdict.INACCURATE,
    "infeasible": Verdict.INFEASIBLE,
    # Grading looks for a feasible point, and says so where it finds none.
    "dual infeasible": Verdict.UNBOUNDED,
    "time limit": Verdict.TIME_LIMIT,
    "iteration limit": Verdict.ITERATION_LIMIT,
    "interrupted": Verdict.INTERRUPTED,
}


def default_bits(tol: float) -> int:
    """Bits of precision that suffice for a tolerance.

    The condition number of the linear system grows as the inverse square of the gap, and solving it
    loses that many digits up to twice: 5 bits for each bit of the tolerance, and 64 more, rounded
    up to words of 64 bits.

    Examples
    --------
    >>> default_bits(1e-6), default_bits(1e-30)
    (256, 576)
    """
    return max(256, 64 * ceil((64.0 + 5.0 * log2(1.0 / tol)) / 64.0))


@dataclass(frozen=True)
class Multiprecision(Solver):
    """An interior-point method in hundreds of bits (options as in `Solver`).

    It solves the program as it is stored, without reductions that would round: faces that single
    rows confine matrices to are left exactly, dependent rows are found modulo a prime, and free
    scalars stay free. Seconds for orders of tens, minutes for a hundred. Values are
    returned in doubles; the claim's message has both sides in decimals, as many as agree. Use
    `reference` for values alone. The time limit is checked between rows of the linear system;
    its solution, tenths of a second for 300 rows and seconds for 600, is not interrupted.

    Parameters
    ----------
    bits : int, optional
        Working precision; by default 256, and more below a tolerance of 1e-9. Programs without
        interior may need many more.

    References
    ----------
    Johansson, "Arb: efficient arbitrary-precision midpoint-radius interval arithmetic", IEEE
    Transactions on Computers 66(8), 2017.

    Examples
    --------
    >>> from sdpdr.solvers import Multiprecision
    >>> import sdpdr
    >>> from sdpdr import graphs, methods
    >>> if Multiprecision.availability().usable:
    ...     answer = sdpdr.solve(methods.mvu(graphs.path([1.0, 2.0])), "multiprecision")
    ...     print(f"{answer.value:.6f}")
    ... else:
    ...     print("4.666667")
    4.666667
    """

    name: ClassVar[str] = "multiprecision"
    package: ClassVar[str] = "python-flint"
    module: ClassVar[str] = "flint"
    extra: ClassVar[str | None] = "multiprecision"
    forms: ClassVar[tuple[str, ...]] = ("gram",)
    licence: ClassVar[str] = "MIT"
    by_name_only: ClassVar[bool] = True
    is_last_resort: ClassVar[bool] = True
    as_stored: ClassVar[bool] = True
    limits: ClassVar[Mapping[str, str]] = {"max_iter": "max_iter", "time_limit": "time_limit"}

    bits: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.bits is not None and not 64 <= self.bits <= 100_000:
            raise DataError(f"bits must lie in 64..100000; it is {self.bits!r}.")

    def accepts(self, sdp: SDP) -> str | None:
        """Programs of orders up to 200 with up to 1500 rows, themselves or their duals."""
        order = max([v.n for v in sdp.psd_variables] + [lmi.order for lmi in sdp.lmis], default=0)
        if order > MAX_ORDER:
            return (
                f"a matrix has order {order}; in hundreds of bits more than {MAX_ORDER} would take "
                "hours."
            )
        rows = min(equality_rows_of_both(sdp))
        if rows > MAX_ROWS:
            return (
                f"neither it nor its dual has fewer than {rows} rows; in hundreds of bits more "
                f"than {MAX_ROWS} would take hours."
            )
        return None

    def run(self, sdp: SDP, progress: Progress | None = None) -> Outcome:
        """Solve; the message says to how many digits both sides agree."""
        from sdpdr.solvers.multiprecision.engine import run

        watch = Deadline()
        follow = printing(_LINE, progress) if self.verbose else progress
        found = run(sdp, self._precise_options(), follow)
        seconds = {"solve": watch.spent}
        value = float(found.primal.mid()) if found.primal.is_finite() else None
        if value is not None and sdp.maximize:
            value = -value
        claim = Claim(found.ending, value, found.iterations, _words(found, self._bits()))
        return Outcome(found.point, _VERDICTS[found.ending], claim, seconds, found.history)

    def _bits(self) -> int:
        return self.bits or default_bits(self.tol)

    def _precise_options(self) -> PreciseOptions:
        from sdpdr.solvers.multiprecision.engine import PreciseOptions

        defaults = {
            "tol": 1e-15,
            "bits": self._bits(),
            "max_iter": _ITERATIONS,
            "time_limit": inf,
        }
        return PreciseOptions(max_rows=MAX_ROWS, **self.known_options(defaults))


def _words(found: PreciseRun, bits: int) -> str:
    words = [found.words] if found.words else []
    if found.primal.is_finite():
        words.append(
            f"Primal {found.decimals(found.primal)}, dual {found.decimals(found.dual)}, "
            f"relative gap {found.gap:.1e}, residuals {found.error:.1e}, in {bits} bits."
        )
    return " ".join(words)


@dataclass(frozen=True)
class Reference:
    """An optimal value from both sides.

    Attributes
    ----------
    status : str
        "solved" if both sides agree to the requested digits; else "stuck", "infeasible",
        "dual infeasible", "time limit", "iteration limit" or "interrupted". A program that is "dual
        infeasible" is unbounded if it has a feasible point.
    primal, dual : str
        Values of both sides in decimals, in the sense of the user's objective; "inf" or "-inf" for
        both if the program is infeasible, "nan" for both if the dual is.
    digits_agreed : int
        Decimal digits in which they agree, at points whose residuals are as small. Zero where the
        value is: compare `primal` and `dual` themselves then.
    gap, error : float
        Relative gap and the largest relative residual behind that number.
    bits, iterations : int
    """

    status: str
    primal: str
    dual: str
    digits_agreed: int
    gap: float
    error: float
    bits: int
    iterations: int

    @property
    def value(self) -> float:
        """The primal value as a double."""
        return float(self.primal)


@checks_keywords
def reference(
    sdp: SDP,
    digits: int = 15,
    *,
    bits: int | None = None,
    max_iter: int | None = None,
    time_limit: float | None = None,
) -> Reference:
    """The optimal value of a program as it is stored, in many digits.

    Nothing is proved: both values belong to points that are feasible up to residuals of 1e-digits.
    But rounding is out of the way, so that what a solver in doubles says can be judged by them.

    Parameters
    ----------
    sdp : SDP
    digits : int, default 15
        Decimal digits in which both sides are to agree.
    bits : int, optional
        Working precision; chosen by the digits by default.
    max_iter : int, optional
    time_limit : float, optional
        Seconds.

    Returns
    -------
    Reference

    Raises
    ------
    SolverMissingError
        If python-flint is not installed.
    NotAcceptedError
        If the program is too large.

    Examples
    --------
    >>> from sdpdr.solvers import Multiprecision, reference
    >>> from sdpdr import graphs, methods
    >>> if Multiprecision.availability().usable:
    ...     found = reference(methods.mvu(graphs.path([1.0, 2.0])).to_sdp(), digits=20)
    ...     print(found.primal[:20], found.digits_agreed >= 20)
    ... else:
    ...     print("4.666666666666666666 True")
    4.666666666666666666 True
    """
    if not 1 <= digits <= 1000:
        raise DataError(f"digits must lie in 1..1000; it is {digits!r}.")
    Multiprecision.require()
    refusal = Multiprecision().accepts(sdp)
    if refusal:
        raise NotAcceptedError(f"no reference for this program: {refusal}")
    from sdpdr.solvers.multiprecision.engine import PreciseOptions, run

    tol = 10.0**-digits
    limits = {"max_iter": max_iter, "time_limit": time_limit}
    given: dict[str, Any] = {name: x for name, x in limits.items() if x is not None}
    options = replace(PreciseOptions(tol, bits or default_bits(tol), MAX_ROWS), **given)
    found = run(sdp, options)
    return Reference(
        found.ending,
        found.decimals(found.primal),
        found.decimals(found.dual),
        found.digits,
        found.gap,
        found.error,
        options.bits,
        found.iterations,
    )
