"""Maximum-margin matrix factorization: a matrix of least norm with the signs observed."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array, own_rows
from sdpdr.base.errors import DataError, DataTypeError
from sdpdr.families.factor.margin.entries import Observed, read_entries
from sdpdr.families.factor.margin.norms import NORMS
from sdpdr.families.factor.margin.triples import (
    has_named_rows,
    named_columns,
    refuse_text,
    triples_of,
)
from sdpdr.families.factor.nonnegative.inputs import checked_matrix
from sdpdr.model import Affine, Block, Model, Var, soften
from sdpdr.model.blocks import (
    DualMaxNorm,
    MarginMultipliers,
    Margins,
    MaxNorm,
    ProductLift,
    SpectralNorm,
    TraceAtMost,
    TraceNorm,
)
from sdpdr.model.language import pos, scalar, square
from sdpdr.program import Solution
from sdpdr.program.point import Factor


class Signs(Observed):
    """Entries of which all are 1 or -1."""

    def matrix(self, weights: ArrayLike = 1.0) -> sp.csr_array:
        r"""The sparse matrix :math:`Q \circ Y` of weights Q, one for each sign."""
        values = np.broadcast_to(np.asarray(weights, dtype=float), self.values.shape) * self.values
        return self.spread(values)


def observed_signs(X: Any, name: str = "X") -> Signs:
    """Read a matrix of signs: 1 and -1 where one was observed, 0 or NaN where not.

    Parameters
    ----------
    X : array_like or sparse array of shape (p, q), or triples
        As `read_entries` takes them.
    name : str, default "X"
        What messages call it.

    Raises
    ------
    DataError
        An entry is another number (its place is named), or no sign was observed.
    DataTypeError
        The entries are no real numbers, or truth values.

    Examples
    --------
    >>> signs = observed_signs([[1, 0, -1], [0, -1, float("nan")]])
    >>> signs.places.tolist(), signs.values.tolist()
    ([[0, 0], [0, 2], [1, 1]], [1.0, -1.0, -1.0])
    >>> signs.empty_rows.size, signs.empty_columns.size
    (0, 0)
    """
    given = X if isinstance(X, Observed) else _signs_read(X, name)
    wrong = np.flatnonzero(np.abs(given.values) != 1.0)
    if wrong.size:
        (i, a), value = given.places[wrong[0]], given.values[wrong[0]]
        raise DataError(
            f"{name}[{i}, {a}] = {value:g} is no sign. Entries must be 1 or -1 where a sign was "
            "observed, 0 or NaN where not; of ratings, pass np.sign(ratings - threshold) with "
            "missing ratings as NaN."
        )
    if not given.values.size:
        raise DataError(
            f"no entry of {name} was observed: all are 0 or NaN, so every matrix fits, and the "
            "one of least norm is zero."
        )
    return Signs(**{each.name: getattr(given, each.name) for each in fields(given)})


def _signs_read(X: Any, name: str) -> Observed:
    # A matrix of signs may look like triples of users 0 and 1; no others may.
    triples = triples_of(X)
    users_and_items = () if triples is None else triples.iloc[:, :2]
    if named_columns(X) or not np.all(np.isin(users_and_items, (0, 1))):
        return read_entries(X, name)
    refuse_text(X, signs=True)
    checked = checked_matrix(X, name, accept_sparse="csr", ensure_all_finite=False)
    if (X.dtype if sp.issparse(X) else np.asarray(X).dtype).kind == "b":
        raise DataTypeError(
            f"{name} holds truth values, of which False is 0 and would count as not observed. Pass "
            "signs: 1 and -1 where one was observed, 0 where not."
        )
    entries = own_rows(checked).tocoo()
    seen = (entries.data != 0.0) & ~np.isnan(entries.data)
    places = np.column_stack([entries.row[seen], entries.col[seen]]).astype(np.int64)
    shape = int(checked.shape[0]), int(checked.shape[1])
    names = (X.index.to_numpy(), X.columns.to_numpy()) if has_named_rows(X) else ()
    return Observed(shape, places, entries.data[seen], *names)


# Squares of c times ridge are still numbers.
_LEAST, _MOST = 1e-50, 1e50


def asked_signs(X: Any, c: float, norm: str, ridge: float = np.inf) -> Signs:
    """Signs, read or given, once prices and norm are found to be such.

    Raises
    ------
    DataError, UnknownNameError
    """
    require_prices(c, norm, ridge)
    return X if isinstance(X, Signs) else observed_signs(X)


def require_prices(c: float, norm: str, ridge: float = np.inf) -> None:
    """Refuse prices that are not positive, or beyond doubles, and unknown norms.

    Raises
    ------
    DataError, UnknownNameError
    """
    is_hard = validate.price("c", c) == np.inf
    validate.choice("norm", norm, NORMS)
    if validate.price("ridge", ridge) < np.inf and is_hard:
        raise DataError(
            f"offsets of price ridge = {ridge!r} need a finite c: with a hard margin (c = inf) "
            "they cost nothing or all. Pass ridge=inf for no offsets."
        )
    for word, price in (("c", c), ("ridge", ridge)):
        if np.isfinite(price) and not _LEAST <= price <= _MOST:
            raise DataError(
                f"{word} = {price:g} is a price with which sums leave the range of numbers. Pass "
                f"one from {_LEAST:g} to {_MOST:g}, or inf."
            )


def mmmf(
    X: ArrayLike | Signs, *, c: float = 1.0, norm: str = "trace", ridge: float = np.inf
) -> Model:
    r"""A matrix of least norm that has the signs observed, with a margin.

    .. math::

        \min\ \tfrac12 (\operatorname{tr} A + \operatorname{tr} B)
        + c \sum_{(i,a) \in S} \max(0, 1 - X_{ia} M_{ia}) \quad\text{s.t.}\quad
        Z = \begin{pmatrix} A & M \\ M^T & B \end{pmatrix} \succeq 0 .

    Only observed entries and the diagonal of Z appear, so its pattern is the graph that joins
    users to the items they rated: sparse, and fit for the chordal forms and for low-rank factors.
    With the max-norm, :math:`\min t` with :math:`A_{ii}, B_{aa} \le t` takes the place of the
    traces, and 1/t is the margin of unit vectors. `sdpdr.factorize.mmmf` solves both without a
    semidefinite solver.

    Parameters
    ----------
    X : array_like or sparse array of shape (p, q)
        1 and -1 where a sign was observed, 0 or NaN where not.
    c : float, default 1
        Price of a unit of slack; infinite for a hard margin, which always has an answer.
    norm : {"trace", "max"}, default "trace"
    ridge : float, default inf
        :math:`\kappa`. Where it is finite, scores :math:`M_{ia} + b_i + d_a` take the place of
        :math:`M_{ia}`, at a cost of :math:`c \kappa / 2 (|b|^2 + |d|^2)`.

    Returns
    -------
    Model
        Unsolved. ``ProductLift(shape).read(solution.gram())`` is M.

    Raises
    ------
    DataError
        X has other entries or none observed; c or ridge is not positive, or the first infinite and
        the second not.
    UnknownNameError
        For another norm.

    References
    ----------
    Tong thesis, (2.24) to (2.26); the inequality of (2.24) is the wrong way round, and has the
    optimum M = 0. Srebro, Rennie, Jaakkola, "Maximum-margin matrix factorization", NIPS, 2004.

    Examples
    --------
    >>> print(mmmf([[1, 0], [-1, 1]], c=0.5).describe())
    minimise    Σ_i c_i Z_ii + Σ_e 0.5 max(b_e Z_ij + 1, 0)
    over        Z ∈ S^4, Z ⪰ 0
    subject to  (priced)        margins, 3 rows
    """
    signs = asked_signs(X, c, norm, ridge)
    blocks = completed(signs, signs.values[:, None], c, norm, ridge)
    if norm == "max":
        # The signs filled up with zeros have at most the root of the smaller side. Twice that
        # cuts nothing off, and lets multipliers of any quality prove a bound.
        order, most = sum(signs.shape), 2.0 * float(np.sqrt(min(signs.shape)))
        blocks.append(TraceAtMost(order, order * most, gram="Z"))
    return Model(tuple(blocks), name="mmmf", maximize=False)


def completed(
    entries: Observed, sides: Array, c: float, norm: str, ridge: float, n_thresholds: int = 0
) -> list[Block]:
    """A matrix of least norm whose scores are on their sides of thresholds, with margins.

    Parameters
    ----------
    entries : Observed
        Only their places count.
    sides : array of shape (m, n)
        1 where a score is to be above a threshold, -1 where below.
    c, norm, ridge
        As of `mmmf`.
    n_thresholds : int, default 0
        How many are free; otherwise there is one, at zero.
    """
    lift = ProductLift(entries.shape)
    each, level = np.indices(sides.shape).reshape(2, -1)
    places = entries.places[each]
    scores: Any = lift.entries(places)
    blocks: list[Block] = [lift]
    if np.isfinite(ridge):
        b, d = (scalar(name, n) for name, n in zip("bd", entries.shape, strict=True))
        scores = scores + b[places[:, 0]] + d[places[:, 1]]
        blocks += [square(offsets) * (0.5 * c * ridge) for offsets in (b, d)]
    if n_thresholds:
        scores = scores - scalar("theta", n_thresholds)[level]
    if np.isfinite(ridge) or n_thresholds:
        blocks.append((pos(1.0 - sides.ravel() * scores) * c).named("margins"))
    else:
        margins = Margins(scores, sides.ravel())
        blocks.append(soften(margins, c) if np.isfinite(c) else margins)
    size = TraceNorm if norm == "trace" else MaxNorm
    return [*blocks, size("Z", entries.shape)]


def read_completed(
    solution: Solution, shape: tuple[int, int]
) -> tuple[Array, Array, Array, tuple[Array, Array] | None]:
    """Factors and offsets of an answer to `completed`, and the scales of its multipliers."""
    p, q = shape
    factor, values = Factor.of(solution.values["Z"]).factor, solution.values
    offsets = [np.asarray(values.get(name, np.zeros(n))) for name, n in (("b", p), ("d", q))]
    sides = solution.duals.get("max_norm.diagonal")
    scales = None if sides is None else (sides[:p], sides[p:])
    return factor[:p], factor[p:], np.concatenate(offsets), scales


def mmmf_dual(X: ArrayLike | Signs, *, c: float = 1.0, norm: str = "trace") -> Model:
    r"""The dual of `mmmf`: as much weight on the signs as their matrix allows.

    .. math::

        \max_Q \sum_{(i,a) \in S} Q_{ia} \quad\text{s.t.}\quad
        |Q \circ X|_2 \le 1,\quad 0 \le Q_{ia} \le c .

    The constraint of the max-norm is :math:`|Q \circ X|_{\max}^* \le 1`. Any Q in the box, divided
    by that norm where it exceeds one, proves a bound. `sdpdr.factorize.mmmf_primal` finds the
    matrix that belongs to Q.

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
    >>> print(mmmf_dual([[1, 0], [-1, 1]], c=0.5).describe())
    maximise    1ᵀ Q
    over        Q ∈ R^3, Q ≥ 0
    subject to  Q_i ≤ c                    margin_multipliers, 3 rows
                Σ_k Q_k C_k + I ⪰ 0        spectral_norm, psd cone, 10 entries
    """
    signs = asked_signs(X, c, norm)
    weighted = _weighted(signs)
    cap: Block = SpectralNorm(weighted, signs.shape, limit=1.0)
    if norm == "max":
        cap = DualMaxNorm(weighted, signs.shape, limit=1.0)
    blocks = (MarginMultipliers(len(signs.values), c), cap)
    return Model(blocks, name="mmmf_dual", maximize=True)


def _weighted(signs: Signs) -> Affine:
    """The entries of Q o X, row by row, as an expression of Q."""
    m = len(signs.values)
    place = np.ravel_multi_index(tuple(signs.places.T), signs.shape)
    shape = (signs.shape[0] * signs.shape[1], m)
    return sp.csr_array((signs.values, (place, np.arange(m))), shape=shape) @ Var("Q")
