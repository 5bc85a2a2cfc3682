r"""Newton steps of the inner loop by preconditioned conjugate gradients.

References
----------
Dembo and Steihaug, Math. Program. 26, 1983; Nocedal and Wright, section 7.1.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sdpdr.linalg.svec import Array
from sdpdr.solvers.factored.hessian import Hessian

Solve = Callable[[Array], Array]

_LEAST_BEND = 1e-12  # relative curvature that still counts as positive


def truncated_newton(
    hessian: Hessian,
    gradient: Array,
    precondition: Solve,
    accuracy: float,
    limit: int,
    late: Callable[[], bool],
) -> tuple[Array, int]:
    """A descent direction: Newton's where the second derivative is positive along the way.

    Conjugate gradients stop at a relative residual. Where they meet negative curvature, its
    direction joins the step with a weight that makes both equally long.

    Parameters
    ----------
    hessian : Hessian
    gradient : array
    precondition : callable
        The inverse of a positive definite approximation of the second derivative.
    accuracy : float
    limit : int
        Most products with the second derivative.
    late : callable
        Says when time is up.

    Returns
    -------
    direction : array
    products : int
    """
    step = np.zeros_like(gradient)
    residual = gradient
    solved = precondition(residual)
    rho = first = float(residual @ solved)
    direction = -solved
    step2, overlap, size2 = 0.0, 0.0, rho  # of step and direction, in the preconditioner's norm
    for count in range(1, max(limit, 1) + 1):
        curved = hessian @ direction
        bend = float(direction @ curved)
        if bend <= _LEAST_BEND * size2:
            weight = np.sqrt(step2 / size2) if count > 1 else 1.0
            return step + weight * direction, count
        alpha = rho / bend
        step = step + alpha * direction
        step2 += 2.0 * alpha * overlap + alpha**2 * size2
        residual = residual + alpha * curved
        solved = precondition(residual)
        rho_next = float(residual @ solved)
        if not rho_next > accuracy**2 * first or late():
            break
        beta = rho_next / rho
        overlap = beta * (overlap + alpha * size2)
        size2, rho = rho_next + beta**2 * size2, rho_next
        direction = -solved + beta * direction
    return step, count
