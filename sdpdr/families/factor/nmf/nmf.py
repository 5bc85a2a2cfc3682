"""Non-negative matrix factorization by convex iteration."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sdpdr.base import checks as validate
from sdpdr.base.errors import DataError
from sdpdr.families.factor.nmf.products import search_products
from sdpdr.families.factor.nmf.recipes import nmf_lift
from sdpdr.families.factor.nmf.search import Factorization, ProgramSearch, search_lift
from sdpdr.families.factor.nonnegative.inputs import number_of_components, partial_matrix
from sdpdr.solving.iterate.directions import Direction, Schur
from sdpdr.solving.iterate.records import IterationStatus

METHODS = ("lift", "scalarised")


def nmf(
    X: ArrayLike,
    n_components: int,
    method: str = "lift",
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
    polish_at: float = 1e-2,
    tol: float = 1e-6,
    max_iter: int = 40,
    retries: int = 0,
    grow: float = 2.0,
    resume: Factorization | None = None,
    **options: Any,
) -> Factorization:
    r"""Non-negative factors of a given rank, by semidefinite programs and a polish.

    .. math:: X = W H,\qquad W \in R_+^{n \times k},\ H \in R_+^{k \times m}.

    `sdpdr.methods.nmf_lift` says it as a matrix of rank k, and `ConvexIteration` presses its
    solutions towards that rank: under ``"schur"`` every program lowers
    :math:`\operatorname{tr}(\mathcal W - WW^T) + \operatorname{tr}(\mathcal H - H^TH)`, whose least
    value over the rest is :math:`2 |X - WH|_*`. Factors that come near are polished on the
    equations X = W H themselves, and nothing is said to be a factorization before that has been
    seen to hold.

    The method is local, and a start can stall; several are made. A stall proves nothing about the
    non-negative rank. Where X has no factorization of rank k the iteration ends ``STALLED`` near a
    factorization of least trace norm :math:`|X - WH|_*`, and the polish ends in one whose Frobenius
    norm is least nearby. To look for a given error instead, name it.

    Parameters
    ----------
    X : array_like of shape (n, m)
        Non-negative; ``nan`` where an entry is not known.
    n_components : int
        k, from 1 to min(n, m).
    method : {"lift", "scalarised"}, default "lift"
        ``"scalarised"`` iterates `sdpdr.methods.nmf_products`, n m k small cones in place of one
        large one.
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
        Where the first start begins; by default, as all others, at random, with factors of norm
        :math:`|X|_2^{1/2}`.
    starts : int, default 5
        At most so many.
    seed : int, default 0
    polish : bool, default True
        By `polish_factors`. Without, the factors are those of a program, negative entries cut off.
    polish_at : float, default 1e-2
        Relative error at which a program's factors are polished. The last ones of a start are in
        any case.
    tol : float, default 1e-6
        Relative error at which the factorization counts as exact.
    max_iter : int, default 40
        Programs in a start.
    retries : int, default 0
        With ``error``: how often it may be enlarged after a stall.
    grow : float, default 2.0
        By this factor.
    resume : Factorization, optional
        Go on from this one, of the same X and with the same options; limits may differ.
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
    UnknownNameError

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
    validate.choice("method", method, METHODS)
    known = partial_matrix(X, observed)
    k = number_of_components(n_components, known.shape)
    for name, number in (("starts", starts), ("max_iter", max_iter)):
        validate.positive_integer(name, number)
    near = polish_at if polish and sparsity is None else None
    search = ProgramSearch(known, k, tol, near, starts, seed, max_iter, best=resume)
    if method == "scalarised":
        if error is not None or sparsity is not None or not known.is_complete:
            raise DataError(
                "method='scalarised' knows complete matrices and exact products only; use "
                "method='lift'."
            )
        return search_products(search, init, **options)
    if direction == "schur":
        size = float(np.sqrt(np.linalg.norm(known.values, 2)))
        direction = Schur(k, size if sparsity is None else 1.0, known.shape)
    options = {"solver": "clarabel", **options}
    options |= {"direction": direction, "start": search.start(init)}
    for radius in _radii(error, retries, grow):
        model = nmf_lift(known.with_gaps(), k, error=radius, sparsity=sparsity, dnn=dnn)
        found = search_lift(replace(search, radius=radius), model, **options)
        if found.status is not IterationStatus.STALLED:
            break
        search = replace(search, best=None)
    return found


def _radii(error: float | None, retries: int, grow: float) -> list[float | None]:
    """The errors to allow, one after the other."""
    validate.positive_integer("retries", retries, at_least=0)
    if error is None:
        if retries:
            raise DataError("retries enlarge an error that is allowed: name one (error=...).")
        return [None]
    if not grow > 1.0:
        raise DataError(f"grow must exceed 1; it is {grow}.")
    return [error * grow**step for step in range(retries + 1)]
