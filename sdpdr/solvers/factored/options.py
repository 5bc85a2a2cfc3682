"""What the engine aims at, what it records, and what it hands back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

from sdpdr.program.point import Point


@dataclass(frozen=True)
class Options:
    """What the engine aims at and when it gives up.

    Parameters
    ----------
    tol : float, default 1e-7
        Relative accuracy of feasibility, stationarity and the gap.
    max_iter : int, default 3000
        Limit on Newton steps.
    time_limit : float, optional
        Seconds after which the best point so far is returned.
    seed : int, default 0
        Of the first factors and of Lanczos vectors.
    rank : int, optional
        First number of columns of every factor. Default: about 2 log n, and never more than the
        bound of Barvinok and Pataki.
    max_rank : int, optional
        Largest number of columns.
    newton : {"auto", "cg", "direct"}, default "auto"
        What preconditions the conjugate gradients that solve Newton's equations. "direct": a
        sparse factorization of the equations themselves, wherever they are sparse. "cg": blocks,
        or dense factorizations of moderate order. By default blocks first, and a factorization
        where that is predicted to cost less than the products it saves.
    max_fill : int, default 20_000_000
        Nonzeros of a sparse Newton factor up to which "auto" factors.
    callback : callable, optional
        Called with a `Record` once per Newton step.
    """

    tol: float = 1e-7
    max_iter: int = 3000
    time_limit: float | None = None
    seed: int = 0
    rank: int | None = None
    max_rank: int | None = None
    newton: Literal["auto", "cg", "direct"] = "auto"
    max_fill: int = 20_000_000
    callback: Callable[[Record], Any] | None = None


@dataclass(frozen=True)
class Record:
    """One Newton step; value and bound as the person wrote the program, the rest relative.

    ``note`` says in words what changed with this step: a rank that grew or shrank, and why.
    """

    iteration: int
    value: float
    bound: float | None
    gap: float | None
    penalty: float
    infeasibility: float
    stationarity: float
    rank: int
    products: int
    seconds: float
    note: str = ""


@dataclass(frozen=True, eq=False)
class Result:
    """What the engine found.

    Attributes
    ----------
    point : Point
        Matrix variables as factors; multipliers of all rows.
    status : str
        ``converged``, ``stalled``, ``infeasible``, ``unbounded``, ``time_limit``, ``max_iter``,
        ``interrupted`` or ``out_of_memory``.
    value : float
        Objective at the point, as the person wrote it.
    bound : float or None
        Proved by the multipliers alone (see `sdpdr.program.certify`).
    iterations, products, factorizations : int
        Newton steps, products with the second derivative, and factorizations.
    message : str
        What happened, in a sentence.
    history : tuple of Record
    """

    point: Point
    status: str
    value: float
    bound: float | None
    iterations: int
    products: int
    factorizations: int
    message: str
    history: tuple[Record, ...] = field(default=(), repr=False)
