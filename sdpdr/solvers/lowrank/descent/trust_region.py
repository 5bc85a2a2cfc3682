r"""Trust regions on a manifold: conjugate gradients that stop at the border of what is trusted.

The step minimises the quadratic model :math:`\langle g, D\rangle + \tfrac12 \langle D, H D\rangle`
over tangent directions of length at most :math:`\Delta`, in the norm of the preconditioner. Where
the curvature is negative it goes to the border, so that saddles are left.

References
----------
Steihaug, SIAM J. Numer. Anal. 20, 1983; Absil, Baker and Gallivan, "Trust-region methods on
Riemannian manifolds", Found. Comput. Math. 7, 2007.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg.blas import daxpy

from sdpdr.base.arrays import Array
from sdpdr.solvers.lowrank.descent.curvature import Curvature

# Of the step along the first direction alone: the first region.
_FIRST = 10.0
# Ratios of decrease and model below which a region shrinks, above which it grows, and to accept.
_POOR, _GOOD, _ACCEPTED = 0.25, 0.75, 0.05
_SHRINK, _GROW = 0.25, 2.0


@dataclass(frozen=True, eq=False)
class Step:
    """A step, what the model promises of it, and what it took.

    Attributes
    ----------
    change : array
    promise : float
        Decrease of the model, positive.
    at_border : bool
    radius : float
        Of the region in which it was found.
    products : int
    """

    change: Array
    promise: float
    at_border: bool
    radius: float
    products: int


def truncated(
    curvature: Curvature,
    gradient: Array,
    radius: float,
    accuracy: float,
    limit: int,
    late: Callable[[], bool],
) -> Step:
    """The step of a trust region.

    Parameters
    ----------
    curvature : Curvature
    gradient : array
        Tangent.
    radius : float
        In the norm of the preconditioner; infinite for one that suits the gradient.
    accuracy : float
        Relative residual at which conjugate gradients stop.
    limit : int
        Most products.
    late : callable
        Says when time is up.
    """
    step, residual = np.zeros_like(gradient), gradient.copy()
    solved = curvature.inverse(residual)
    rho = first = float(residual @ solved)
    direction = -solved
    # Products, since powers of numbers that run away are errors.
    step2, overlap, size2 = 0.0, 0.0, rho
    at_border, count = False, 0
    while count < max(limit, 1):
        count += 1
        product = curvature @ direction
        bend = float(direction @ product)
        length = rho / bend if bend != 0.0 else np.inf
        if not np.isfinite(radius):
            radius = _FIRST * abs(length if np.isfinite(length) else 1.0) * float(np.sqrt(size2))
        next2 = step2 + 2.0 * length * overlap + length * length * size2
        at_border = bend <= 0.0 or next2 >= radius * radius
        if at_border:
            root = np.sqrt(max(overlap * overlap + size2 * (radius * radius - step2), 0.0))
            length = float(root - overlap) / size2
        step, residual = daxpy(direction, step, a=length), daxpy(product, residual, a=length)
        if at_border:
            break
        step2 = next2
        solved = curvature.inverse(residual)
        rho_next = float(residual @ solved)
        if not rho_next > accuracy**2 * first or late():
            break
        beta = rho_next / rho
        overlap = beta * (overlap + length * size2)
        size2, rho = rho_next + beta * beta * size2, rho_next
        direction *= beta
        direction -= solved
    # The residual is the gradient of the model at the step.
    promise = -0.5 * float((gradient + residual) @ step)
    return Step(step, promise, at_border, radius, count)


@dataclass
class Region:
    """The radius, which follows how well the model foresees."""

    radius: float = float("inf")

    def learn(self, step: Step, decrease: float, rounding: float) -> bool:
        """Take what a step brought; whether to accept it.

        Parameters
        ----------
        step : Step
        decrease : float
            Of the function.
        rounding : float
            What both numbers may be wrong by.

        Examples
        --------
        >>> region = Region(1.0)
        >>> region.learn(Step(np.zeros(1), 1.0, True, 1.0, 1), 1.0, 0.0), region.radius
        (True, 2.0)
        """
        ratio = (decrease + rounding) / (step.promise + rounding) if step.promise > 0.0 else -1.0
        self.radius = step.radius
        if not ratio >= _POOR:
            self.radius *= _SHRINK
        elif ratio > _GOOD and step.at_border:
            self.radius *= _GROW
        return bool(ratio > _ACCEPTED)
