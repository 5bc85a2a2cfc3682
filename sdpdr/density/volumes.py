"""Volumes of balls."""

from __future__ import annotations

import numpy as np
from scipy.special import gammaln


def ball_volume(dimension: int, radius: float = 1.0) -> float:
    r"""Volume of a ball, :math:`\omega_m r^m` with :math:`\omega_m = \pi^{m/2} / \Gamma(m/2+1)`.

    Parameters
    ----------
    dimension : int
        m.
    radius : float, default 1

    Examples
    --------
    >>> round(ball_volume(2), 4), round(ball_volume(3, 2.0), 4)
    (3.1416, 33.5103)
    """
    return float(np.exp(log_ball_volume(dimension)) * radius**dimension)


def log_ball_volume(dimension: int) -> float:
    r"""Logarithm of :math:`\omega_m`, which underflows for large m."""
    return float(0.5 * dimension * np.log(np.pi) - gammaln(0.5 * dimension + 1.0))
