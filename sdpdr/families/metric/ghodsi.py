r"""Ghodsi's program as a model, and it and its relatives in closed form.

.. math::  \min_A\ \langle C, A\rangle + \tfrac\mu2 |A|_F^2 \quad\text{s.t.}\quad
           0 \preceq A \preceq t I,\ \operatorname{tr} A = 1 .

All but the first term depend on the eigenvalues of A only, so A has the eigenvectors of C (von
Neumann's trace inequality), and its eigenvalues a solve the same problem with the eigenvalues w of
C. Any multiplier :math:`\nu` of the sum gives the bound :math:`\nu + \sum_i \min_{0 \le a \le t}
[(w_i - \nu) a + \tfrac\mu2 a^2]`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array
from sdpdr.base.errors import InfeasibleError
from sdpdr.base.keywords import checks_keywords
from sdpdr.families.limits import ROUNDING
from sdpdr.families.metric.pairs import MetricAnswer, Pairs, chosen_pairs
from sdpdr.linalg.spectral import fix_signs
from sdpdr.model import Model
from sdpdr.model.language import minimize, psd, square

_ARGUMENT = "eigenvalues of C and the multiplier of the trace (von Neumann's inequality)"


@checks_keywords
def ghodsi(
    X: ArrayLike,
    y: ArrayLike | None = None,
    *,
    similar: ArrayLike | None = None,
    dissimilar: ArrayLike | None = None,
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
    X, y, similar, dissimilar, n_pairs, seed
        As for `xing`.
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
        As `sdpdr.metric.pairs_from_labels`; or neither labels nor pairs are given, or both.
    InfeasibleError
        If D times the cap is less than one.

    References
    ----------
    Ghodsi, Wilkinson, Southey, "Improving embeddings by flexible exploitation of side
    information", IJCAI, 2007. Course notes *stat946f10*, on metric learning.

    Examples
    --------
    >>> from sdpdr.methods import ghodsi
    >>> model = ghodsi([[0.0, 1.0], [1.0, 5.0], [3.0, 2.0]], ["a", "a", "b"], cap=0.6)
    >>> print(model.describe())
    minimise    ⟨C, A⟩
    over        A ∈ S^2, A ⪰ 0
    subject to  tr A = 1             unit_trace, 1 row
                A ⪯ 0.6 I        cap, psd cone, 3 entries
    """
    ridge = validate.non_negative("ridge", ridge)
    pairs = chosen_pairs(X, y, similar, dissimilar, n_pairs, seed)
    n = pairs.n_features
    _require_room(n, cap)
    A = psd("A", n)
    blocks = (minimize(A.inner(contrast(pairs, normalize))), (A.trace() == 1.0).named("unit_trace"))
    model = Model(blocks, name="ghodsi")
    if cap < 1.0:
        model = model + (A << cap * np.eye(n)).named("cap")
    return model + (0.5 * ridge * square(A)).named("ridge") if ridge > 0.0 else model


@checks_keywords
def contrast(pairs: Pairs, normalize: bool = True) -> Array:
    r"""The matrix :math:`C = M_S/|S| - M_D/|D|`, or :math:`M_S - M_D`, of Ghodsi's objective.

    A kind without pairs contributes no term.

    Parameters
    ----------
    pairs : Pairs
    normalize : bool, default True
        Means rather than sums. With all pairs of c balanced classes of n/c points the sums give
        :math:`M_S - M_D = -n S_B - n (1 - 2/c) S_W`: the scatter within classes does not matter
        for c = 2, and is *rewarded* for more.

    Returns
    -------
    array of shape (D, D)

    Examples
    --------
    >>> import numpy as np
    >>> from sdpdr.methods import contrast
    >>> from sdpdr.metric import Pairs
    >>> pairs = Pairs(np.array([[0.0], [1.0], [3.0]]), [[0, 1]], [[0, 2], [1, 2]])
    >>> contrast(pairs)
    array([[-5.5]])
    """
    similar, dissimilar = pairs.scatter("similar"), pairs.scatter("dissimilar")
    if not normalize:
        return similar - dissimilar
    counts = [max(1, pairs.count(kind)) for kind in ("similar", "dissimilar")]
    return similar / counts[0] - dissimilar / counts[1]


@checks_keywords
def closed_form(scatter: Array, *, cap: float = 1.0, ridge: float = 0.0) -> MetricAnswer:
    r"""The best metric of trace one in closed form.

    Parameters
    ----------
    scatter : array_like of shape (n, n)
        C, symmetric.
    cap : float, default 1
        t, the largest eigenvalue allowed. At 1, no limit: A is the projection onto the
        eigenvector of the smallest eigenvalue of C. At 1/k, A is 1/k times the projection onto
        those of the k smallest.
    ridge : float, default 0
        :math:`\mu`, the penalty on :math:`|A|_F^2 / 2`; a is then :math:`-w/\mu` projected onto
        the (capped) simplex.

    Returns
    -------
    MetricAnswer
        ``unique`` is False if tied eigenvalues leave a choice.

    Raises
    ------
    InfeasibleError
        If n times the cap is less than one.
    DataError
        The ridge is negative.

    References
    ----------
    Ghodsi, Wilkinson, Southey, "Improving embeddings by flexible exploitation of side
    information", IJCAI, 2007. Overton and Womersley, "On the sum of the largest eigenvalues of a
    symmetric matrix", SIAM J. Matrix Anal. Appl. 13(1), 1992, for the cap.

    Examples
    --------
    >>> import numpy as np
    >>> from sdpdr.metric import closed_form
    >>> C = np.diag([-2.0, 1.0, 3.0])
    >>> closed_form(C).value
    -2.0
    >>> closed_form(C, cap=0.5).value  # the mean of the two smallest
    -0.5
    >>> closed_form(C, ridge=10.0).matrix.diagonal().round(3)
    array([0.6, 0.3, 0.1])
    """
    scatter = validate.symmetric("scatter", scatter)
    _require_room(len(scatter), cap)
    ridge = validate.non_negative("ridge", ridge)
    w, vectors = np.linalg.eigh(scatter)
    a, bound = _ridge(w, cap, ridge) if ridge > 0.0 else _linear(w, cap)
    kept = a > 0.0
    # The weights descend. A singular value decomposition would rotate components of equal length.
    components = fix_signs(vectors[:, kept] * np.sqrt(a[kept])).T
    unique = ridge > 0.0 or _is_unique(w, a, cap)
    value, size = float(w @ a + 0.5 * ridge * a @ a), float(np.max(np.abs(w)))
    return MetricAnswer(components, value, bound, _ARGUMENT, unique=unique, scale=size)


def _require_room(n: int, cap: float) -> None:
    """Refuse a cap on n eigenvalues that makes trace one impossible."""
    if not n * cap >= 1.0 - 1e-12:
        raise InfeasibleError(
            f"{n} eigenvalues of at most {cap:g} cannot add up to trace one; the cap must be at "
            f"least 1/{n}. For k dimensions use cap = 1/k with k <= {n}."
        )


def _linear(w: Array, cap: float) -> tuple[Array, float]:
    """Weight ``cap`` on the smallest eigenvalues, the remainder on the next."""
    a = np.clip(1.0 - cap * np.arange(w.size), 0.0, cap)
    # If 1/cap is a whole number, there is no remainder but rounding.
    a[a < 1e-14] = 0.0
    nu = float(w[np.flatnonzero(a)[-1]])
    return a, nu + cap * float(np.minimum(w - nu, 0.0).sum())


def _ridge(w: Array, cap: float, mu: float) -> tuple[Array, float]:
    """Projection of -w/mu onto the capped simplex."""

    def weights(nu: float) -> Array:
        return np.clip((nu - w) / mu, 0.0, cap)

    # The sum of the weights is piecewise linear in nu, with kinks at these.
    kinks = np.sort(np.concatenate([w, w + mu * cap]))
    nu = float(np.interp(1.0, [weights(kink).sum() for kink in kinks], kinks))
    a = weights(nu)
    inside = np.sum((a > 0.0) & (a < cap))
    if inside:  # correct the rounding of the interpolation
        nu += mu * (1.0 - float(a.sum())) / float(inside)
        a = weights(nu)
    return a, nu + float(np.sum((w - nu) * a + 0.5 * mu * a * a))


def _is_unique(w: Array, a: Array, cap: float) -> bool:
    last = w[np.flatnonzero(a)[-1]]
    tied = np.abs(w - last) <= ROUNDING * max(float(np.max(np.abs(w))), 1e-300)
    return bool(np.sum(tied) == 1 or np.all(a[tied] >= cap * (1.0 - 1e-12)))
