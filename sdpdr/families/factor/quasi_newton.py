"""Local minimizers by SciPy's L-BFGS-B, which end at a deadline with the best point so far."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import Bounds, OptimizeResult, minimize

from sdpdr.base.arrays import Array
from sdpdr.base.deadline import ENDLESS, Deadline

NONNEGATIVE = (0.0, np.inf)


def minimized(
    objective: Callable[[Array], tuple[float, Array]],
    x: Array,
    limits: tuple[Any, Any] | None = None,
    *,
    deadline: Deadline = ENDLESS,
    enough: float = -np.inf,
    **options: Any,
) -> Array:
    """A local minimizer near x of an objective, which returns its value and gradient.

    Parameters
    ----------
    objective : callable
    x : array
        The start.
    limits : pair of numbers or arrays, optional
        The least and the largest x.
    deadline : Deadline, optional
    enough : float, optional
        A value at which to stop.
    **options
        Those of the method: ``maxiter``, ``ftol``, ``gtol`` and others.
    """

    def stop(intermediate_result: OptimizeResult) -> None:
        if intermediate_result.fun <= enough or deadline.is_over():
            raise StopIteration

    found = minimize(
        objective, x, jac=True, method="L-BFGS-B", callback=stop, options=options,
        bounds=None if limits is None else Bounds(*limits),
    )  # fmt: skip
    return np.asarray(found.x)
