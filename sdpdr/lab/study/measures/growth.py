"""Growth curves: the exponent at which seconds grow with size, with an interval."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.optimize import brentq, minimize_scalar
from scipy.stats import t as student

from sdpdr.base.arrays import Array
from sdpdr.base.errors import DataError
from sdpdr.lab.study.measures.frame import CONTESTANT, need

FEWEST_SIZES = 3
"""Below that no exponent is fitted."""
STEEPEST = 12.0
"""Exponents are sought between 0 and this."""
_EXPONENTS = np.linspace(0.0, STEEPEST, 121)
_ROUNDING = 1e-12  # squares: no clock is more exact than a millionth


@dataclass(frozen=True)
class Growth:
    r"""A curve :math:`t(n) = c_0 + c\, n^b`.

    Attributes
    ----------
    exponent : float
        The b above; ``nan``, as all that follows, if there are too few sizes.
    low, high : float
        Ends of its confidence interval. The upper end is infinite where the times do not bound the
        exponent: on times that hardly grow, any power is hidden below the overhead.
    factor : float
        The c above, seconds.
    overhead : float
        The :math:`c_0` above, seconds.
    scatter : float
        Standard deviation of the logarithms around the curve; 0.1 is about ten percent.
    sizes : int
        How many distinct sizes it was fitted to.
    """

    exponent: float
    low: float
    high: float
    factor: float
    overhead: float
    scatter: float
    sizes: int

    def seconds(self, n: ArrayLike) -> Array:
        """The curve at a size or several."""
        return np.asarray(self.overhead + self.factor * np.asarray(n, dtype=float) ** self.exponent)


def fit_growth(n: ArrayLike, seconds: ArrayLike, *, level: float = 0.95) -> Growth:
    r"""Fit an overhead and a power of the size to times.

    The model is :math:`\log t_i = \log(c_0 + c\, n_i^b) + e_i` with :math:`c_0, b \ge 0` and equal
    normal errors: noise of a machine is relative. A straight line through all points of a log-log
    plot would be too flat, as every program takes some time for nothing; a rule that drops small
    sizes depends on where one cuts. Here the overhead is a parameter, and what it leaves uncertain
    is in the interval.

    The estimate minimises the sum of squares :math:`S`. The interval is the profile one,
    all b with

    .. math:: \min_{c_0, c} S(c_0, c, b) \le S_{\min} \Bigl(1 + \frac{t^2}{\nu}\Bigr),

    t the quantile of Student's distribution with :math:`\nu = N - 3` degrees of freedom. It needs
    no linearisation, so that an overhead of zero, at the edge of what is allowed, is no exception.

    With three sizes the overhead cannot be told from the rest: it is taken as zero, with
    :math:`\nu = N - 2`. Where it is not, the exponent is too small, and the interval does not know.

    Parameters
    ----------
    n : array_like of shape (N,)
        Sizes, positive.
    seconds : array_like of shape (N,)
        Positive.
    level : float, default 0.95
        Of confidence.

    Returns
    -------
    Growth
        All ``nan`` with fewer than three distinct sizes.

    Raises
    ------
    DataError
        A size or time is not positive and finite, their numbers differ, or the level is not in
        (0, 1).

    References
    ----------
    Bates and Watts, *Nonlinear Regression Analysis and Its Applications*, Wiley 1988, chapter 6.

    Examples
    --------
    >>> import numpy as np
    >>> n = np.array([20, 40, 80, 160, 320])
    >>> growth = fit_growth(n, 0.5 + 1e-5 * n**2.5)
    >>> round(growth.exponent, 4), round(growth.overhead, 4), growth.low <= 2.5 <= growth.high
    (2.5, 0.5, True)
    >>> fit_growth([10, 20], [1.0, 2.0]).exponent
    nan
    """
    size, t = np.asarray(n, dtype=float).ravel(), np.asarray(seconds, dtype=float).ravel()
    both = np.concatenate([size, t])
    if size.shape != t.shape or not (np.isfinite(both).all() and (both > 0).all()):
        raise DataError(f"sizes and times must be as many, positive and finite: {size}, {t}")
    if not 0 < level < 1:
        raise DataError(f"the level must be between 0 and 1, not {level:g}")
    distinct = len(np.unique(size))
    if distinct < FEWEST_SIZES:
        nan = float("nan")
        return Growth(nan, nan, nan, nan, nan, nan, distinct)
    return _Curve(size, t, with_overhead=distinct > FEWEST_SIZES).fit(level)


class _Curve:
    """The least squares problem, with factor and overhead eliminated for a given exponent.

    The overhead is counted in units of the power at the middle size, as the exponential of a
    number; minus infinity is none.
    """

    def __init__(self, n: Array, seconds: Array, *, with_overhead: bool) -> None:
        self.middle = float(np.exp(np.mean(np.log(n))))
        self.x = np.log(n / self.middle)
        self.y = np.log(seconds)
        self.with_overhead = with_overhead
        self.sizes = len(np.unique(n))

    def fit(self, level: float) -> Growth:
        best = self._best_exponent()
        freedom = len(self.y) - (3 if self.with_overhead else 2)
        least, log = self._eliminate(best)
        quantile = float(student.ppf(0.5 + level / 2, freedom))
        allowed = least * (1 + quantile**2 / freedom) + _ROUNDING * len(self.y)
        unit = float(np.exp(np.mean(self._rest(best, log))))
        return Growth(
            exponent=best,
            low=self._end(best, allowed, [b for b in _EXPONENTS if b < best][::-1], 0.0),
            high=self._end(best, allowed, [b for b in _EXPONENTS if b > best], float("inf")),
            factor=unit * self.middle**-best,
            overhead=unit * float(np.exp(log)),
            scatter=float(np.sqrt(least / freedom)),
            sizes=self.sizes,
        )

    def _best_exponent(self) -> float:
        rough = np.array([np.min(self._squares(b, self._logs(b))) for b in _EXPONENTS])
        return _least(lambda b: self._eliminate(b)[0], _EXPONENTS, rough)[1]

    def _eliminate(self, exponent: float) -> tuple[float, float]:
        """Least sum of squares at an exponent, and the logarithm of the overhead there."""
        logs = self._logs(exponent)
        squares = self._squares(exponent, logs)
        none = float(squares[0]), float(logs[0])
        if len(logs) == 1:
            return none
        return min(none, _least(lambda log: self._square(exponent, log), logs[1:], squares[1:]))

    def _square(self, exponent: float, log: float) -> float:
        return float(self._squares(exponent, np.array([log]))[0])

    def _logs(self, exponent: float) -> Array:
        """None, then from far below the power at the least size to far above it at the largest."""
        if not self.with_overhead:
            return np.array([-np.inf])
        ends = exponent * self.x.min() - 8.0, exponent * self.x.max() + 8.0
        return np.concatenate([[-np.inf], np.linspace(*ends, 64)])

    def _squares(self, exponent: float, logs: Array) -> Array:
        rest = self._rest(exponent, logs[:, None])
        return np.asarray(np.sum((rest - rest.mean(axis=1, keepdims=True)) ** 2, axis=1))

    def _rest(self, exponent: float, log: Array | float) -> Array:
        return np.asarray(self.y - np.logaddexp(log, exponent * self.x))

    def _end(self, best: float, allowed: float, outward: Sequence[float], edge: float) -> float:
        """Where the least sum of squares first exceeds what is allowed."""

        def excess(b: float) -> float:
            return self._eliminate(b)[0] - allowed

        for b in outward:
            if excess(b) > 0:
                return float(brentq(excess, best, b, xtol=1e-6))
        return edge


def _least(function: Callable[[float], float], grid: Array, rough: Array) -> tuple[float, float]:
    """The least value of a function, and where: about the best of a grid, by its rough values."""
    at = int(np.argmin(rough))
    ends = float(grid[max(at - 1, 0)]), float(grid[min(at + 1, len(grid) - 1)])
    found = minimize_scalar(function, bounds=ends, method="bounded", options={"xatol": 1e-9})
    return min((function(x), x) for x in (float(found.x), *ends))


def growth(runs: pd.DataFrame, *, level: float = 0.95) -> pd.DataFrame:
    """Growth of every contestant on every family.

    Fitted to the sizes that are solved. Times beyond the limit are unknown, so the largest sizes
    fitted tend to be the lucky ones, and an exponent that rests on sizes near the limit is a little
    too small.

    Parameters
    ----------
    runs : DataFrame
        From `runs_by_median`. Lines without a family are passed over.
    level : float, default 0.95
        Of confidence.

    Returns
    -------
    DataFrame
        One line for every family, variant, tolerance and contestant, with

        - ``family, variant, method, tol, solver, form``,
        - ``exponent, low, high, factor, overhead, scatter, sizes``: see `Growth`,
        - ``smallest, largest_solved``: sizes solved, ``<NA>`` if none is,
        - ``first_failed``: the least size that is not solved, ``<NA>`` if all are.

    Examples
    --------
    >>> n = np.array([10, 20, 40, 80, 160])
    >>> runs = pd.DataFrame({"family": "path", "variant": "", "method": "mvu", "n": n, "tol": 1e-6,
    ...     "solver": "p", "form": "gram", "seconds": 1e-4 * n**2.0, "solved": n < 160})
    >>> growth(runs)[["exponent", "sizes", "largest_solved", "first_failed"]].round(3)
       exponent  sizes  largest_solved  first_failed
    0       2.0      4              80           160
    """
    need(runs, *_BY, "method", "n", "seconds", "solved")
    families = runs[runs["family"] != ""]
    table = pd.DataFrame(_lines(families, level), columns=_COLUMNS)
    return table.astype(dict.fromkeys(("smallest", "largest_solved", "first_failed"), "Int64"))


_BY = ("family", "variant", "tol", *CONTESTANT)
_FITTED = ("exponent", "low", "high", "factor", "overhead", "scatter", "sizes")
_COLUMNS = (
    "family", "variant", "method", "tol", "solver", "form", *_FITTED, "smallest",
    "largest_solved", "first_failed",
)  # fmt: skip


def _lines(runs: pd.DataFrame, level: float) -> Iterator[dict[str, object]]:
    for name, lines in runs.groupby(list(_BY), sort=False):
        sized = lines[lines["n"].notna()]
        done = sized[sized["solved"].astype(bool) & (sized["seconds"] > 0)]
        missed = sized[~sized["solved"].astype(bool)]
        curve = fit_growth(done["n"].astype(float), done["seconds"], level=level)
        yield {
            **dict(zip(_BY, name, strict=True)),
            "method": lines["method"].iloc[0],
            **{part: getattr(curve, part) for part in _FITTED},
            "smallest": done["n"].min() if len(done) else pd.NA,
            "largest_solved": done["n"].max() if len(done) else pd.NA,
            "first_failed": missed["n"].min() if len(missed) else pd.NA,
        }
