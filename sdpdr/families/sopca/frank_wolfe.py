r"""The convex program of two bases by the method of Frank and Wolfe, and what its answers hold.

The gradient of F at :math:`(T_P, T_Q)` is half :math:`(\sum P_i, \sum Q_i)`, and a linear function
is largest over a Fantope at the projection onto the leading eigenvectors of its matrix. So a step
needs one eigendecomposition on either side, and a search for its length along a concave function.
The gap falls like 1/t: a way to three digits, where `interior_point` has six.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize_scalar

from sdpdr.base.arrays import Array
from sdpdr.base.errors import DataError, ShapeError
from sdpdr.base.progress import Progress
from sdpdr.families.sopca.bases import Bases, leading, projected, spans, trace_norm
from sdpdr.families.sopca.convex import Evaluation, Pair, Sizes, Spectrum, evaluate, smoothed
from sdpdr.families.sopca.inputs import matrices, numbers_of_components
from sdpdr.families.sopca.local import alternating
from sdpdr.families.sopca.runs import RunRecord, RunStatus, RunStep, follow
from sdpdr.linalg.spectral import fix_signs

# Both matrices, and whether the bases rounded from them are no matter of choice.
SpectralPoint = tuple[Spectrum, Spectrum, bool]


@dataclass(frozen=True, eq=False)
class Relaxation:
    r"""A point of :math:`\max F(T_P, T_Q)` over two Fantopes, and a bound on all of them.

    Attributes
    ----------
    left, right : array of shape (p, p) and (q, q)
        :math:`T_P` and :math:`T_Q`.
    n_components : tuple of two int
        Their traces.
    value : float
        F, at most :math:`f_1 / 2`.
    bound : float
        At least :math:`f_1 / 2`, and so at least :math:`\sum_i |A^T M_i B|_{\mathrm{tr}}` for all
        bases of so many orthonormal columns.
    status : RunStatus
    history : tuple of RunRecord
        One record for each point visited.
    unique : bool
        False where eigenvalues were tied before the matrices were rounded.
    """

    left: Array
    right: Array
    n_components: tuple[int, int]
    value: float
    bound: float
    status: RunStatus
    history: tuple[RunRecord, ...]
    unique: bool = True

    @classmethod
    def of(
        cls, steps: Iterator[RunStep[SpectralPoint]], inside: Pair, ks: Sizes, **limits: Any
    ) -> Relaxation:
        """Where steps within the spans ``inside`` lead to; see `follow` for the limits."""
        run = follow(steps, **limits)
        *sides, unique = run.point
        left, right = (U @ side.matrix @ U.T for U, side in zip(inside, sides, strict=True))
        return cls(left, right, ks, run.value, run.bound, run.status, run.history, unique)

    @property
    def gap(self) -> float:
        """``(bound - value) / value``."""
        return (self.bound - self.value) / self.value

    def __repr__(self) -> str:
        return (
            f"Relaxation({self.status.name} after {len(self.history) - 1} steps: value "
            f"{self.value:.8g}, bound {self.bound:.8g}, gap {self.gap:.1e})"
        )

    def spectra(self) -> tuple[Array, Array]:
        """Eigenvalues of both matrices, the largest first; ones and zeros if they round well."""
        return (
            np.linalg.eigvalsh(self.left)[::-1].copy(),
            np.linalg.eigvalsh(self.right)[::-1].copy(),
        )

    def round(self, stack: Array) -> Bases:
        r"""Leading eigenvectors of both matrices, with :math:`\sum_i |A^T M_i B|_{\mathrm{tr}}`.

        Parameters
        ----------
        stack : array of shape (n, p, q)
            The matrices.
        """
        sides = [
            (Spectrum.of(m), k)
            for m, k in zip((self.left, self.right), self.n_components, strict=True)
        ]
        rows, columns = (fix_signs(side.vectors[:, ::-1][:, :k]) for side, k in sides)
        tied = any(side.is_tied(k) for side, k in sides)
        value = trace_norm(projected(stack, rows, columns))
        return Bases(rows, columns, value, self.status, self.history, self.unique and not tied)


# Longest step: beyond it the matrices would lose the rank that bounds need.
_LONGEST = 0.9
# How far the start is moved inwards.
_SHARE = 0.1


def frank_wolfe(
    X: ArrayLike,
    n_components: int | Sequence[int] = 2,
    *,
    start: tuple[ArrayLike, ArrayLike] | None = None,
    tol: float = 1e-3,
    max_iter: int = 1000,
    time_limit: float | None = None,
    progress: Progress | bool | None = None,
) -> Relaxation:
    r"""Solve the convex program of two bases as `interior_point` does, to fewer digits.

    Parameters
    ----------
    X : array_like of shape (n, p, q)
    n_components : int or pair of int, default 2
        k, of both sides or of each.
    start : tuple of array_like, optional
        :math:`T_P` and :math:`T_Q`, positive definite; by default the bases of `alternating`,
        moved a little towards :math:`\tfrac kp I` and :math:`\tfrac kq I`.
    tol : float, default 1e-3
        Relative gap between the value and the bound.
    max_iter : int, default 1000
    time_limit, progress
        As for `interior_point`.

    Returns
    -------
    Relaxation

    Raises
    ------
    DataError, ShapeError
        As `interior_point`.

    References
    ----------
    Jaggi, "Revisiting Frank-Wolfe: projection-free sparse convex optimization", ICML, 2013.

    Examples
    --------
    >>> X = np.random.default_rng(0).standard_normal((4, 5, 4))
    >>> found = frank_wolfe(X)
    >>> found.gap <= 1e-3, round(2 * found.value, 1), round(2 * found.bound, 1)
    (True, 31.6, 31.6)
    """
    stack = matrices(X)
    ks = numbers_of_components(n_components, stack.shape)
    inside = spans(stack, ks)
    small = projected(stack, *inside)
    if start is None:
        bases = alternating(small, ks)
        first = smoothed(bases.rows, _SHARE), smoothed(bases.columns, _SHARE)
    else:
        left, right = _checked(start, stack.shape, ks)
        first = inside[0].T @ left @ inside[0], inside[1].T @ right @ inside[1]
    limits = {"tol": tol, "max_iter": max_iter, "time_limit": time_limit, "progress": progress}
    steps = _steps(small, ks, first)
    return Relaxation.of(steps, inside, ks, what="two bases, Frank-Wolfe", **limits)


def _checked(start: tuple[ArrayLike, ArrayLike], shape: tuple[int, ...], ks: Sizes) -> Pair:
    left, right = (np.asarray(side, dtype=float) for side in start)
    for side, n, k in zip((left, right), shape[1:], ks, strict=True):
        if side.shape != (n, n):
            raise ShapeError(f"a start needs a matrix of order {n}; it has one of {side.shape}.")
        values = np.linalg.eigvalsh(side)
        if values[0] <= 0.0 or values[-1] > 1.0 + 1e-9 or values.sum() > k + 1e-9:
            raise DataError(
                f"a start needs eigenvalues in (0, 1] that add up to at most {k}; they range from "
                f"{values[0]:.3g} to {values[-1]:.3g} and add up to {values.sum():.6g}. See "
                "sdpdr.bilinear.smoothed."
            )
    return left, right


def _steps(stack: Array, ks: Sizes, point: Pair) -> Iterator[RunStep[SpectralPoint]]:
    while True:
        found = evaluate(stack, Spectrum.of(point[0]), Spectrum.of(point[1]))
        yield RunStep((*found.sides, True), found.lower(ks), found.bound(ks))
        p, q = (leading(factor, k) for factor, k in zip(found.factors, ks, strict=True))
        point = _searched(stack, found, point, (p @ p.T, q @ q.T))


def _searched(stack: Array, found: Evaluation, point: Pair, vertex: Pair) -> Pair:
    def loss(step: float) -> float:
        sides = (Spectrum.of(side) for side in _between(point, vertex, step))
        left, right = (s.vectors * np.sqrt(s.values) for s in sides)
        return -trace_norm(left.T @ (stack @ right)) / found.value

    step = minimize_scalar(loss, bounds=(0.0, _LONGEST), method="bounded", options={"xatol": 1e-3})
    return _between(point, vertex, float(step.x))


def _between(a: Pair, b: Pair, share: float) -> Pair:
    return a[0] + share * (b[0] - a[0]), a[1] + share * (b[1] - a[1])
