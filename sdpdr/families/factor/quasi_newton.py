"""Local minimizers over x >= 0 by SciPy's L-BFGS-B, which end at a deadline with the best x."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import Bounds, OptimizeResult, minimize

from sdpdr.base.arrays import Array
from sdpdr.base.deadline import ENDLESS, Deadline


def minimized(
    objective: Callable[[Array], tuple[float, Array]],
    x: Array,
    *,
    deadline: Deadline = ENDLESS,
    enough: float = -np.inf,
    **options: Any,
) -> Array:
    """A local minimizer over x >= 0 of an objective, which returns its value and gradient.

    Parameters
    ----------
    objective : callable
    x : array
        The start.
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
        bounds=Bounds(0.0, np.inf),
    )  # fmt: skip
    return np.asarray(found.x)
