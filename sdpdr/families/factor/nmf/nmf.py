"""Nonnegative matrix factorization by convex iteration on semidefinite programs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sdpdr.base import checks as validate
from sdpdr.base.errors import DataError
from sdpdr.families.factor.nmf.recipes import nmf_lift
from sdpdr.families.factor.nmf.search import Factorization, LiftSearch
from sdpdr.families.factor.nonnegative.inputs import number_of_components, partial_matrix
from sdpdr.solving.iterate.directions import Direction, Schur
from sdpdr.solving.iterate.records import IterationStatus


def nmf(
    X: ArrayLike,
    n_components: int,
    *,
    observed: ArrayLike | None = None,
    error: float | None = None,
    sparsity: float | None = None,
    dnn: bool = False,
    direction: str | Direction = "schur",
    init: tuple[ArrayLike, ArrayLike] | None = None,
    starts: int = 5,
    seed: int = 0,
    polish: bool = True,
    tol: float = 1e-6,
    max_iter: int = 40,
    retries: int = 0,
    grow: float = 2.0,
    resume: Factorization | None = None,
    **options: Any,
) -> Factorization:
    r"""Nonnegative factors of a given rank, by convex iteration and a polish.

    .. math:: X = W H,\qquad W \in R_+^{n \times k},\ H \in R_+^{k \times m}.

    `sdpdr.methods.nmf_lift` states it as a matrix of rank k, and `ConvexIteration` drives its
    solutions towards that rank: under ``"schur"`` every program lowers
    :math:`\operatorname{tr}(\mathcal W - WW^T) + \operatorname{tr}(\mathcal H - H^TH)`, whose least
    value for given W and H is :math:`2 |X - WH|_*`. Factors that come near are polished on the
    equations X = W H themselves, and only factors that multiply to X are reported as a
    factorization.

    The method is local, and a start can stall, so several are made. A stall proves nothing about
    the nonnegative rank. If X has no factorization of rank k, the iteration ends ``STALLED`` near a
    factorization of least trace norm :math:`|X - WH|_*`, and the polish ends in one whose Frobenius
    norm is a local minimum. To look for a given error instead, pass ``error``.

    Parameters
    ----------
    X : array_like of shape (n, m)
        Non-negative; ``nan`` where an entry is not known.
    n_components : int
        k, from 1 to min(n, m).
    observed : array_like of bool, shape (n, m), optional
        False where an entry is not known.
    error : float, optional
        Look for :math:`|X - WH|_F \le \epsilon` (over known entries) instead of equality.
    sparsity : float, optional
        Hoyer's measure of the whole W. Such factors are not polished, which would change it, and
        W has Frobenius norm one.
    dnn : bool, default False
        See `sdpdr.methods.nmf_lift`.
    direction : {"schur", "trailing", "logdet"} or Direction, default "schur"
    init : pair of arrays (W, H), optional
        Factors at which the first start begins. By default, and in all other starts, they are
        random, with norm :math:`|X|_2^{1/2}`.
    starts : int, default 5
        At most.
    seed : int, default 0
    polish : bool, default True
        Whether factors are polished by `polish_factors`: those within one per cent of X, and the
        last ones of a start. Otherwise they are those of a program, clipped at zero.
    tol : float, default 1e-6
        Relative error at which the factorization counts as exact.
    max_iter : int, default 40
        Programs in a start.
    retries : int, default 0
        With ``error``: how often it may be increased after a stall.
    grow : float, default 2.0
        The factor by which it is increased.
    resume : Factorization, optional
        Continue this one, of the same X and with the same options; limits may differ.
    **options
        Of `ConvexIteration`: ``solver`` (here ``"clarabel"`` by default), ``form``, ``accuracy``,
        ``time_limit``, ``patience``, ``stall``, ``progress``.

    Returns
    -------
    Factorization
        Failures are statuses, not exceptions.

    Raises
    ------
    DataError, ModelError
        As `sdpdr.methods.nmf_lift`.

    References
    ----------
    Vasiloglou thesis, section 4.2.7, (2.71)-(2.73), where the first direction is the identity, from
    which all columns of W stay alike; (2.111).

    Examples
    --------
    >>> from sdpdr.datasets import random_nonnegative
    >>> X, _ = random_nonnegative(5, 4, rank=2)
    >>> found = nmf(X, 2)
    >>> found.status, found.error < 1e-12, bool(found.W.min() >= 0.0)
    (IterationStatus.RANK_REACHED, True, True)
    """
    known = partial_matrix(X, observed)
    k = number_of_components(n_components, known.shape)
    for name, number in (("starts", starts), ("max_iter", max_iter)):
        validate.positive_integer(name, number)
    polish = polish and sparsity is None
    search = LiftSearch(known, k, tol, polish, starts, seed, max_iter, best=resume)
    if direction == "schur":
        size = float(np.sqrt(np.linalg.norm(known.values, 2)))
        direction = Schur(k, size if sparsity is None else 1.0, known.shape)
    options = {"solver": "clarabel", **options}
    options |= {"direction": direction, "start": search.start(init)}
    for radius in _radii(error, retries, grow):
        model = nmf_lift(known.with_gaps(), k, error=radius, sparsity=sparsity, dnn=dnn)
        found = replace(search, radius=radius).run(model, **options)
        if found.status is not IterationStatus.STALLED:
            break
        search = replace(search, best=None)
    return found


def _radii(error: float | None, retries: int, grow: float) -> list[float | None]:
    """The errors to allow, in turn."""
    validate.positive_integer("retries", retries, at_least=0)
    if error is None:
        if retries:
            raise DataError("retries increase the error that is allowed: pass one (error=...).")
        return [None]
    if not grow > 1.0:
        raise DataError(f"grow must exceed 1; it is {grow}.")
    return [error * grow**step for step in range(retries + 1)]
