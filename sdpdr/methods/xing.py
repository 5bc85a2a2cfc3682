"""Xing's metric learning: similar pairs near, dissimilar pairs apart by the sum of distances."""

from __future__ import annotations

from numpy.typing import ArrayLike

from sdpdr.blocks import Distances, LeadingDiagonal, LeadingTrace
from sdpdr.metric import choose_pairs, whiten
from sdpdr.model import Model


def xing(
    X: ArrayLike,
    y: ArrayLike | None = None,
    *,
    similar: ArrayLike | None = None,
    dissimilar: ArrayLike | str | None = None,
    n_pairs: int | None = None,
    seed: int = 0,
    diagonal: bool = False,
    ridge: float = 0.0,
) -> Model:
    r"""Xing's program for a Mahalanobis metric, in the form that solvers take to.

    .. math::

        \min_{A \succeq 0}\ \langle M_S, A\rangle \quad\text{s.t.}\quad
        \sum_{D} \sqrt{\delta^T A\, \delta} \ge 1, \qquad
        M_S = \sum_{S} \delta\delta^T, \quad \delta = x_i - x_j .

    Scaling A by c scales the objective by c and the sum of distances by its root. So the same A,
    up to scale, maximises the sum of distances g subject to :math:`\langle M_S, A\rangle \le 1`,
    and the least objective is :math:`1 / g^2`. That form is solved, in coordinates in which
    :math:`M_S = I` (`sdpdr.metric.whiten`), with the roots as in `sdpdr.blocks.Distances`:

    .. math::

        \max_{Z \succeq 0}\ \sum_p \delta_p'^T b_p \quad\text{s.t.}\quad
        Z = \begin{pmatrix} A' & B \\ B^T & U \end{pmatrix},\quad U_{pp} = 1,\quad
        \operatorname{tr} A' \le 1 .

    The matrix has one row for every feature and every dissimilar pair. For thousands of pairs use
    `sdpdr.metric.solve_xing`, which is exact as well, and certified.

    Parameters
    ----------
    X : array_like of shape (n, D)
    y, similar, dissimilar, n_pairs, seed
        The pairs, see `sdpdr.metric.choose_pairs`.
    diagonal : bool, default False
        A diagonal: weights of the features.
    ridge : float, default 0
        See `sdpdr.metric.whiten`.

    Returns
    -------
    Model
        Unsolved; its value is g. `sdpdr.metric.answer_of` brings the metric back.

    Raises
    ------
    DataError, InfeasibleError
        As `sdpdr.metric.choose_pairs` and `sdpdr.metric.whiten`.

    References
    ----------
    Xing, Ng, Jordan, Russell, "Distance metric learning, with application to clustering with
    side-information", NIPS 15, 2002. Course notes *stat946f10*, on metric learning.

    Examples
    --------
    >>> model = xing([[0.0], [1.0], [3.0]], similar=[[0, 1]], dissimilar="rest")
    >>> print(model.describe())
    maximise    ⟨C, Z⟩
    over        Z ∈ S^3, Z ⪰ 0
    subject to  Z_ii = 1                distances.unit, 2 rows
                Σ_i c_i Z_ii ≤ 1        leading_trace, 1 row
    """
    pairs = choose_pairs(X, y, similar, dissimilar, n_pairs, seed)
    white = whiten(pairs, diagonal=diagonal, ridge=ridge)
    distances, r = Distances(white.differences), white.basis.shape[1]
    model = Model((distances, LeadingTrace(distances.order, r)), name="xing", maximize=True)
    return model + LeadingDiagonal(distances.order, r) if diagonal and r > 1 else model
