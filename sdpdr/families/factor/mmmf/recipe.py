"""Maximum-margin matrix factorization as a semidefinite program, and its dual."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from sdpdr.base import checks as validate
from sdpdr.base.errors import DataError
from sdpdr.base.keywords import checks_keywords
from sdpdr.families.factor.mmmf.entries import observed_signs
from sdpdr.linalg import Trace
from sdpdr.model import Block, Model
from sdpdr.model.language import maximize, minimize, pos, psd, scalar

NORMS = ("trace", "max")
# Limits of finite penalties: the square of c times ridge neither overflows nor vanishes.
_LEAST, _MOST = 1e-50, 1e50


def require_penalties(c: float, ridge: float = np.inf) -> None:
    """Refuse penalties that are not positive, or beyond doubles, and offsets of a hard margin."""
    is_hard = validate.positive_or_infinite("c", c) == np.inf
    if validate.positive_or_infinite("ridge", ridge) < np.inf and is_hard:
        raise DataError(
            f"offsets with the penalty ridge = {ridge!r} need a finite c: with a hard margin "
            "(c = inf) they cost nothing or all. Pass ridge=inf for no offsets."
        )
    for word, penalty in (("c", c), ("ridge", ridge)):
        if np.isfinite(penalty) and not _LEAST <= penalty <= _MOST:
            raise DataError(
                f"{word} = {penalty:g} is a penalty with which sums leave the range of numbers. "
                f"Pass one from {_LEAST:g} to {_MOST:g}, or inf."
            )


@checks_keywords
def mmmf(X: ArrayLike, *, c: float = 1.0, norm: str = "trace") -> Model:
    r"""Matrix of least norm that has the observed signs, with a margin.

    .. math::

        \min\ \tfrac12 (\operatorname{tr} A + \operatorname{tr} B)
        + c \sum_{(i,a) \in S} \max(0, 1 - X_{ia} M_{ia}) \quad\text{s.t.}\quad
        Z = \begin{pmatrix} A & M \\ M^T & B \end{pmatrix} \succeq 0 .

    Only observed entries and the diagonal of Z appear, so its pattern is the graph that joins
    users to the items they rated: sparse, and fit for the chordal forms and for low-rank factors.
    With the max-norm, :math:`\min t` with :math:`A_{ii}, B_{aa} \le t` takes the place of the
    traces, and 1/t is the margin of unit vectors. `sdpdr.factorize.mmmf` solves the first without a
    semidefinite solver.

    Parameters
    ----------
    X : array_like or sparse array of shape (p, q)
        1 and -1 where a sign was observed, 0 or NaN where not.
    c : float, default 1
        Penalty of a unit of slack; infinite for a hard margin, which always has an answer.
    norm : {"trace", "max"}, default "trace"

    Returns
    -------
    Model
        Unsolved. ``solution.gram()[:p, p:]`` is M.

    Raises
    ------
    DataError
        X has other entries or none observed, or c is not positive.
    UnknownNameError
        The norm is neither.

    References
    ----------
    Tong thesis, (2.24) to (2.26); the inequality of (2.24) is the wrong way round, and has the
    optimum M = 0. Srebro, Rennie, Jaakkola, "Maximum-margin matrix factorization", NIPS, 2004.

    Examples
    --------
    >>> from sdpdr.methods import mmmf
    >>> print(mmmf([[1, 0], [-1, 1]], c=0.5).describe())
    minimise    Σ_i c_i Z_ii + Σ_e 0.5 max(b_e Z_ij + 1, 0)
    over        Z ∈ S^4, Z ⪰ 0
    subject to  (penalized)        margins, 3 rows
    """
    require_penalties(c)
    validate.choice("norm", norm, NORMS)
    signs = observed_signs(X)
    p, order = signs.shape[0], sum(signs.shape)
    Z = psd("Z", order)
    agreement = signs.values * Z[signs.rows, p + signs.columns]
    margins = c * pos(1.0 - agreement) if np.isfinite(c) else agreement >= 1.0
    if norm == "trace":
        size = minimize(Trace(order, np.full(order, 0.5)) @ Z)
        return Model((size, margins.named("margins")), name="mmmf")
    t = scalar("t")
    # The signs, with zeros elsewhere, have a max-norm of at most the square root of the smaller
    # side. Twice that excludes no solution, and any multipliers then prove a bound.
    most = 2.0 * float(np.sqrt(min(signs.shape)))
    longest = (Z.diagonal() <= t).named("longest"), (Z.trace() <= order * most).named("trace")
    return Model((minimize(t), margins.named("margins"), *longest), name="mmmf")


@checks_keywords
def mmmf_dual(X: ArrayLike, *, c: float = 1.0, norm: str = "trace") -> Model:
    r"""Dual of `mmmf`: as much weight on the signs as their matrix allows.

    .. math::

        \max_Q \sum_{(i,a) \in S} Q_{ia} \quad\text{s.t.}\quad
        |Q \circ X|_2 \le 1,\quad 0 \le Q_{ia} \le c .

    The constraint of the max-norm is :math:`|Q \circ X|_{\max}^* \le 1`. Any Q in the box, divided
    by that norm if it exceeds one, proves a bound (`sdpdr.factorize.margin_bound`).

    Parameters
    ----------
    X, c, norm
        As for `mmmf`.

    Returns
    -------
    Model
        Unsolved; Q holds one multiplier for each sign, row by row.

    Raises
    ------
    DataError, UnknownNameError
        As for `mmmf`.

    References
    ----------
    Tong thesis, (2.27).

    Examples
    --------
    >>> from sdpdr.methods import mmmf_dual
    >>> print(mmmf_dual([[1, 0], [-1, 1]], c=0.5).describe())
    maximise    1ᵀ Q
    over        Q ∈ R^3, Q ≥ 0
    subject to  Σ_k Q_k C_k + I ⪰ 0        ball, psd cone, 10 entries
                Q_i ≤ 0.5                  margin_multipliers, 3 rows
    """
    require_penalties(c)
    validate.choice("norm", norm, NORMS)
    signs = observed_signs(X)
    Q = scalar("Q", len(signs.values), nonnegative=True)
    position = np.ravel_multi_index((signs.rows, signs.columns), signs.shape)
    where = (signs.values, (position, np.arange(Q.size)))
    weighted = (sp.csr_array(where, (np.prod(signs.shape), Q.size)) @ Q).reshape(signs.shape)
    rows, columns = map(np.eye, signs.shape)
    if norm == "max":
        # |P|* = min sum(a, b) / 2 with (diag a, P; P^T, diag b) psd.
        d = scalar("d", sum(signs.shape))
        rows, columns = np.diag(d[: len(rows)]), np.diag(d[len(rows) :])
    ball = np.block([[rows, weighted], [weighted.T, columns]]) >> 0.0
    blocks: list[Block] = [maximize(Q.sum()), ball.named("ball")]
    if norm == "max":
        blocks.append((0.5 * d.sum() <= 1.0).named("size"))
    if np.isfinite(c):
        blocks.append((c >= Q).named("margin_multipliers"))
    return Model(tuple(blocks), name="mmmf_dual")
