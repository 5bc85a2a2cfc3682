"""Optimal values with many digits, to judge others by."""

from __future__ import annotations

from dataclasses import dataclass

from sdpdr.base.errors import DataError, NotAcceptedError
from sdpdr.program.sdp import SDP
from sdpdr.solvers.multiprecision.adapter import Multiprecision, default_bits


@dataclass(frozen=True)
class Reference:
    """An optimal value from both sides.

    Attributes
    ----------
    status : str
        "solved" if both sides agree to the digits that were asked for; else "stuck", "infeasible",
        "unbounded", "dual infeasible", "time limit", "iteration limit" or "interrupted".
        "unbounded" is said of a ray and a feasible point, the latter up to residuals; without the
        point it is "dual infeasible", since the program may be infeasible as well.
    primal, dual : str
        Values of both sides in decimals, in the sense that the person wrote; "inf" or "-inf" of
        both if the program is infeasible or unbounded, "nan" of both if it is not known which.
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
    from sdpdr.solvers.multiprecision.engine import Options, run

    tol = 10.0**-digits
    options = Options(tol, bits or default_bits(tol))
    if max_iter is not None:
        options = Options(tol, options.bits, max_iter)
    if time_limit is not None:
        options = Options(tol, options.bits, options.max_iter, time_limit)
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
