"""Descent over non-negative variables with a convex quadratic model of the objective."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from sdpdr.base.arrays import Array

# Relative fall of the model's residual at which conjugate gradients end.
_INNER = 0.2
# Shortest step tried, and the share of the predicted fall that a step must bring.
_SHORTEST, _ARMIJO = 1e-6, 1e-4
# Curvature below this share of the preconditioner's is none.
_FLAT = 1e-12


class QuadraticModel(Protocol):
    """Positive semidefinite stand-in for the matrix of second derivatives at a point."""

    def product(self, p: Array) -> Array:
        """The matrix times a vector."""

    def precondition(self, p: Array) -> Array:
        """An approximate inverse, symmetric and positive definite, times a vector."""


Evaluate = Callable[[Array], tuple[float, Array, Callable[[], QuadraticModel]]]


@dataclass(frozen=True, eq=False)
class Descent:
    """Where a descent ended.

    Attributes
    ----------
    x : array of shape (p,)
    value : float
    slope : float
        Norm of the projected gradient.
    iterations, evaluations, products : int
        Steps taken; values and gradients computed; products with models.
    """

    x: Array
    value: float
    slope: float
    iterations: int
    evaluations: int
    products: int


def descend(
    evaluate: Evaluate,
    x: Array,
    *,
    max_iter: int = 20,
    tol: float = 0.0,
    products: int = 100,
    stop: Callable[[], bool] | None = None,
) -> Descent:
    r"""Minimise a smooth function over :math:`x \ge 0` by projected steps.

    At each point, variables at zero that the gradient pushes below stay there; for the others
    the step minimises the quadratic model by preconditioned conjugate gradients. The step is
    halved, and clipped at zero, until the function falls.

    Parameters
    ----------
    evaluate : callable
        Gives value, gradient and a function that makes the model at a point. Models must be
        positive semidefinite; the Gauss-Newton matrix of a sum of squares is.
    x : array of shape (p,)
        Where to begin, non-negative.
    max_iter : int, default 20
        Steps.
    tol : float, default 0
        Norm of the projected gradient at which to stop.
    products : int, default 100
        Products with the model in each step at most.
    stop : callable, optional
        Asked before each step whether to stop.

    Returns
    -------
    Descent

    References
    ----------
    D. P. Bertsekas, "Projected Newton methods for optimization problems with simple constraints",
    SIAM Journal on Control and Optimization 20(2), 1982.

    Examples
    --------
    The point of the quadrant nearest to (1, -2):

    >>> target = np.array([1.0, -2.0])
    >>> class Identity:
    ...     def product(self, p): return p
    ...     def precondition(self, p): return p
    >>> def evaluate(x):
    ...     return 0.5 * np.sum((x - target) ** 2), x - target, Identity
    >>> descend(evaluate, np.array([3.0, 3.0]), tol=1e-9).x
    array([1., 0.])
    """
    value, gradient, model = evaluate(x)
    spent, evaluations, done = 0, 1, 0
    while done < max_iter and _slope(x, gradient) > tol and not (stop is not None and stop()):
        step, used = _step(model(), gradient, ~((x <= 0.0) & (gradient > 0.0)), products)
        spent += used
        length = 1.0
        while length >= _SHORTEST:
            trial = np.maximum(x + length * step, 0.0)
            found, slopes, make = evaluate(trial)
            evaluations += 1
            fall = min(float(gradient @ (trial - x)), 0.0)
            if found < value and found <= value + _ARMIJO * fall:
                break
            length *= 0.5
        else:
            break
        x, value, gradient, model, done = trial, found, slopes, make, done + 1
    return Descent(x, value, _slope(x, gradient), done, evaluations, spent)


def _slope(x: Array, gradient: Array) -> float:
    return float(np.linalg.norm(np.where(x > 0.0, gradient, np.minimum(gradient, 0.0))))


def _step(model: QuadraticModel, gradient: Array, free: np.ndarray, most: int) -> tuple[Array, int]:
    """Conjugate gradients on the free variables."""
    residual = np.where(free, -gradient, 0.0)
    z = np.where(free, model.precondition(residual), 0.0)
    p, step = z, np.zeros_like(gradient)
    size = float(residual @ z)
    goal = _INNER**2 * size
    for used in range(1, most + 1):
        product = np.where(free, model.product(p), 0.0)
        curvature = float(p @ product)
        if curvature <= _FLAT * size:
            return (step if used > 1 else z), used
        alpha = size / curvature
        step = step + alpha * p
        residual = residual - alpha * product
        z = np.where(free, model.precondition(residual), 0.0)
        last, size = size, float(residual @ z)
        if size <= goal:
            break
        p = z + (size / last) * p
    return step, used
