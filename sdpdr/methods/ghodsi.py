"""Ghodsi's metric learning: a linear objective over metrics of trace one."""

from __future__ import annotations

from numpy.typing import ArrayLike

from sdpdr.blocks import Cap, FrobeniusBall, Mahalanobis, Scatter, SizePrice, UnitTrace
from sdpdr.errors import DataError, UnknownNameError
from sdpdr.linalg.svec import Array
from sdpdr.metric import Pairs, choose_pairs
from sdpdr.metric.fantope import require_room
from sdpdr.model import Model

SCALES = ("trace", "frobenius")


def contrast(pairs: Pairs, normalize: bool = True) -> Array:
    r"""The matrix :math:`C = M_S/|S| - M_D/|D|`, or :math:`M_S - M_D`, of Ghodsi's objective.

    Parameters
    ----------
    pairs : Pairs
    normalize : bool, default True
        Means rather than sums. With all pairs of c balanced classes of n/c points the sums give
        :math:`M_S - M_D = -n S_B - n (1 - 2/c) S_W`: the scatter within classes does not matter
        for c = 2, and is *rewarded* for more.

    Examples
    --------
    >>> import numpy as np
    >>> pairs = Pairs(np.array([[0.0], [1.0], [3.0]]), [[0, 1]], [[0, 2], [1, 2]])
    >>> contrast(pairs)
    array([[-5.5]])
    """
    similar, dissimilar = pairs.scatter("similar"), pairs.scatter("dissimilar")
    if not normalize:
        return similar - dissimilar
    return similar / len(pairs.similar) - dissimilar / len(pairs.dissimilar)


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
    scale: str = "trace",
) -> Model:
    r"""Ghodsi's program for a Mahalanobis metric, and its k-dimensional generalisation.

    .. math::

        \min_{A \succeq 0}\ \langle C, A\rangle + \tfrac\mu2 |A|_F^2 \quad\text{s.t.}\quad
        \operatorname{tr} A = 1,\quad A \preceq t I, \qquad C = M_S/|S| - M_D/|D| .

    With t = 1 and :math:`\mu = 0` the optimum is the projection onto the eigenvector of the
    smallest eigenvalue of C, always one dimension. With t = 1/k it is 1/k times the projection onto
    the k smallest. No solver is needed (`sdpdr.metric.closed_form`); as a model it can be combined
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
    scale : {"trace", "frobenius"}, default "trace"
        ``"frobenius"`` asks for :math:`|A|_F \le 1` instead of trace one.

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
    UnknownNameError
        For a scale that is neither.

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
    if scale not in SCALES:
        raise UnknownNameError("scale", scale, SCALES)
    if not ridge >= 0.0:
        raise DataError(f"ridge must be a number >= 0; it is {ridge!r}.")
    pairs = choose_pairs(X, y, similar, dissimilar, n_pairs, seed)
    n = pairs.n_features
    if scale == "trace":
        require_room(n, cap)
    size = UnitTrace(n) if scale == "trace" else FrobeniusBall(n)
    blocks = (Mahalanobis(n), Scatter(contrast(pairs, normalize)), size)
    model = Model(blocks, name="ghodsi", maximize=False)
    if cap < 1.0:
        model = model + Cap(n, cap)
    return model + SizePrice(n, ridge) if ridge > 0.0 else model
