"""Metric learning as semidefinite programs: Ghodsi's linear objective, Xing's sums of distances."""

from __future__ import annotations

from numpy.typing import ArrayLike

from sdpdr.base import checks as validate
from sdpdr.families.metric.choose import choose_pairs
from sdpdr.families.metric.ghodsi import contrast as contrast
from sdpdr.families.metric.ghodsi import require_room
from sdpdr.families.metric.whiten import whiten
from sdpdr.model import Model
from sdpdr.model.blocks import (
    Cap,
    Distances,
    LeadingDiagonal,
    LeadingTrace,
    Mahalanobis,
    Scatter,
    SizePrice,
    UnitTrace,
)


def ghodsi(
    X: ArrayLike,
    y: ArrayLike | None = None,
    *,
    similar: ArrayLike | None = None,
    dissimilar: ArrayLike | str | None = None,
    n_pairs: int | None = None,
    seed: int = 0,
    normalize: bool = True,
    cap: float = 1.0,
    ridge: float = 0.0,
) -> Model:
    r"""Ghodsi's program for a Mahalanobis metric, and its k-dimensional generalisation.

    .. math::

        \min_{A \succeq 0}\ \langle C, A\rangle + \tfrac\mu2 |A|_F^2 \quad\text{s.t.}\quad
        \operatorname{tr} A = 1,\quad A \preceq t I, \qquad C = M_S/|S| - M_D/|D| .

    With t = 1 and :math:`\mu = 0` the optimum is the projection onto the eigenvector of the
    smallest eigenvalue of C, always one dimension. With t = 1/k it is 1/k times the projection onto
    the k smallest. Trace one keeps A from vanishing, so similar pairs alone or dissimilar pairs
    alone will do. No solver is needed (`sdpdr.metric.closed_form`); as a model it can be combined
    with further blocks.

    Parameters
    ----------
    X : array_like of shape (n, D)
    y, similar, dissimilar, n_pairs, seed
        The pairs, see `sdpdr.metric.choose_pairs`.
    normalize : bool, default True
        Means over pairs rather than sums; see `contrast`.
    cap : float, default 1
        t; 1/k for a metric of k dimensions.
    ridge : float, default 0
        :math:`\mu`.

    Returns
    -------
    Model
        Unsolved.

    Raises
    ------
    DataError
        As `sdpdr.metric.choose_pairs`.
    InfeasibleError
        If D times the cap is less than one.

    References
    ----------
    Ghodsi, Wilkinson, Southey, "Improving embeddings by flexible exploitation of side
    information", IJCAI, 2007. Course notes *stat946f10*, on metric learning.

    Examples
    --------
    >>> model = ghodsi([[0.0, 1.0], [1.0, 5.0], [3.0, 2.0]], ["a", "a", "b"], cap=0.6)
    >>> print(model.describe())
    minimise    ⟨C, A⟩
    over        A ∈ S^2, A ⪰ 0
    subject to  tr A = 1             unit_trace, 1 row
                ... ⪰ 0        cap, psd cone, 3 entries
    """
    ridge = validate.non_negative("ridge", ridge)
    pairs = choose_pairs(X, y, similar, dissimilar, n_pairs, seed)
    n = pairs.n_features
    require_room(n, cap)
    blocks = (Mahalanobis(n), Scatter(contrast(pairs, normalize)), UnitTrace(n))
    model = Model(blocks, name="ghodsi", maximize=False)
    if cap < 1.0:
        model = model + Cap(n, cap)
    return model + SizePrice(n, ridge) if ridge > 0.0 else model


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
    r"""Xing's program for a Mahalanobis metric, in the form that solvers can solve.

    .. math::

        \min_{A \succeq 0}\ \langle M_S, A\rangle \quad\text{s.t.}\quad
        \sum_{D} \sqrt{\delta^T A\, \delta} \ge 1, \qquad
        M_S = \sum_{S} \delta\delta^T, \quad \delta = x_i - x_j .

    Scaling A by c scales the objective by c and the sum of distances by its square root. So the
    same A, up to scale, maximizes the sum of distances g subject to
    :math:`\langle M_S, A\rangle \le 1`, and the least objective is :math:`1 / g^2`. That form is
    solved, in coordinates in which :math:`M_S = I` (`sdpdr.metric.whiten`), with square roots as in
    `sdpdr.blocks.Distances`:

    .. math::

        \max_{Z \succeq 0}\ \sum_p \delta_p'^T b_p \quad\text{s.t.}\quad
        Z = \begin{pmatrix} A' & B \\ B^T & U \end{pmatrix},\quad U_{pp} = 1,\quad
        \operatorname{tr} A' \le 1 .

    The matrix has one row for every feature and every dissimilar pair. For thousands of pairs use
    `sdpdr.metric.solve_xing`, which certifies its answer as well.

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
