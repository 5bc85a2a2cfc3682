"""How many dimensions a spectrum has."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from sdpdr.errors import DataError, UnknownNameError

# Eigenvalues below this part of the largest are rounding errors of a solver.
RANK_TOL = 1e-6
RULES = ("share", "gap", "rank")


def intrinsic_dimension(eigenvalues: ArrayLike, share: float = 0.90, *, rule: str = "share") -> int:
    r"""Number of leading eigenvalues that matter.

    With :math:`\lambda_1 \ge \lambda_2 \ge \dots` the eigenvalues of a centred Gram matrix:

    - ``"share"``: the smallest r with :math:`\lambda_1 + \dots + \lambda_r \ge
      \text{share} \cdot \operatorname{tr} K`;
    - ``"gap"``: the r with the largest :math:`\lambda_r / \lambda_{r+1}` among the eigenvalues that
      are not zero (1 if there is only one);
    - ``"rank"``: how many are above :math:`10^{-6} \lambda_1`.

    The rules answer different questions, and noise makes them disagree: the share counts
    directions until enough is explained, the gap looks for a cliff, the rank for the first zero.

    Parameters
    ----------
    eigenvalues : array_like of shape (r,)
        In any order; those below zero count as zero.
    share : float, default 0.90
        In (0, 1]; read by ``"share"`` alone. Other common values are 0.95 and 0.99.
    rule : {"share", "gap", "rank"}, default "share"

    Returns
    -------
    int

    Raises
    ------
    DataError
        No eigenvalue is positive, one is not finite, or the share is outside (0, 1].
    UnknownNameError
        For another rule.

    References
    ----------
    Weinberger and Saul, "Unsupervised learning of image manifolds by semidefinite programming",
    IJCV 70 (2006), who read the dimension off the gap.

    Examples
    --------
    >>> eigenvalues = [60.0, 26.0, 10.0, 4.0, 1e-9]
    >>> intrinsic_dimension(eigenvalues), intrinsic_dimension(eigenvalues, share=0.95)
    (3, 3)
    >>> intrinsic_dimension(eigenvalues, 0.99), intrinsic_dimension(eigenvalues, rule="rank")
    (4, 4)
    >>> intrinsic_dimension([60.0, 35.0, 3.0, 2.0], rule="gap")
    2
    """
    values = np.sort(np.asarray(eigenvalues, dtype=float).ravel())[::-1]
    if not values.size or not np.isfinite(values).all() or values[0] <= 0.0:
        raise DataError(
            "the dimension of a spectrum needs finite eigenvalues, at least one of them positive."
        )
    if not 0.0 < share <= 1.0:
        raise DataError(f"share={share} is out of range: pass a part of the whole, in (0, 1].")
    if rule == "share":
        total = np.cumsum(np.maximum(values, 0.0))
        # Sums of all eigenvalues in two orders differ by rounding, so a share of 1 needs room.
        return int(np.argmax(total >= share * total[-1] * (1.0 - 1e-12))) + 1
    if rule not in RULES:
        raise UnknownNameError("rule", rule, RULES)
    rank = int(np.count_nonzero(values > RANK_TOL * values[0]))
    if rule == "rank" or rank == 1:
        return rank
    return int(np.argmax(values[: rank - 1] / values[1:rank])) + 1
