"""Second-order principal components as a scikit-learn transformer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, replace
from functools import wraps
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array
from sdpdr.base.errors import NonUniqueWarning, ShapeError, UncertifiedWarning, warn
from sdpdr.base.estimators import Reconstructing, as_precise, checked
from sdpdr.base.parameters import require_kinds, seconds_for
from sdpdr.families.sopca.bases import (
    Bases,
    RunStatus,
    alternating,
    ascent,
    glram,
    leading,
    square_scatter,
    squares,
    two_d_svd,
)
from sdpdr.families.sopca.interior import Relaxation, interior_point
from sdpdr.families.sopca.recipe import matrices, matrices_and_numbers, numbers_of_components
from sdpdr.linalg.spectral import fix_signs

METHODS = ("convex", "alternating", "glram", "2dsvd")
# Relative gap of the relaxation.
_TOLERANCE = 1e-4


@dataclass(eq=False, repr=False)
class SOPCA(Reconstructing):
    r"""Second-order PCA: matrices :math:`M_i` of shape (p, q) become :math:`A^T M_i B`.

    The bases A of rows and B of columns are sought to keep most of
    :math:`\sum_i |A^T M_i B|_{\mathrm{tr}}`. This is not a convex problem, but it has a convex
    relaxation with an upper bound: the best bases keep at most ``gap_`` more, relatively. A row of
    a table is a matrix of a single row, so that only B is sought: :math:`\sum_i |B^T x_i|`, a
    principal component analysis that is less sensitive to outliers.

    Parameters
    ----------
    n_components : int or pair of int, default 2
        k columns in each basis; or :math:`k_1 \le p` for the rows, :math:`k_2 \le q` for the
        columns.
    method : str, default "convex"
        ``"convex"`` solves the relaxation by an interior-point method, rounds its two matrices to
        their leading eigenvectors, improves these and the bases of Algorithm 1 by
        `sdpdr.bilinear.ascent`, and keeps the better ones. Without bound: ``"alternating"``,
        Algorithm 1 of the thesis; ``"glram"``, for :math:`\sum_i |A^T M_i B|_F^2` instead; and in
        closed form ``"2dsvd"``, from the covariances of rows and columns.
    center : bool, optional
        Subtract the mean matrix first. By default only for tables, as principal component analysis
        does; the thesis does not subtract it from matrices. The method "2dsvd" subtracts it from
        its covariances in any case.
    certify : bool, default False
        Solve the relaxation for the other methods as well, for its bound.
    tol : float, optional
        Relative gap of the relaxation (default 1e-4), or relative change at which the other
        methods end (by default as in `sdpdr.bilinear`).
    max_iter : int, optional
        By default as in `sdpdr.bilinear`.
    time_limit : float or None, default None
        Seconds, for each iteration; "auto" is the default.

    Attributes
    ----------
    rows_ : array of shape (p, k_1)
        A, orthonormal columns: of "2dsvd" as there, else in the order of the squares
        that :math:`A^T M_i B` has along them.
    columns_ : array of shape (q, k_2)
        B, likewise.
    mean_ : array of shape (p, q)
        Zero unless it was subtracted.
    objective_ : float
        :math:`\sum_i |A^T M_i B|_{\mathrm{tr}}`, whatever the method.
    upper_bound_ : float
        No bases have a larger objective; ``inf`` where nothing is proved.
    gap_ : float
        ``(upper_bound_ - objective_) / objective_``.
    energy_ratio_ : float
        Share of the sum of squares that is kept.
    explained_variance_ratio_ : array of shape (k_1 k_2,), or None
        Share of each entry of :math:`A^T M_i B` in the variance of the data, if they vary.
    relaxation_ : Relaxation or None
        As `sdpdr.bilinear.interior_point` returns it.
    status_, n_iter_
        How the iteration ended, and after how many steps.
    image_shape_ : tuple of int
        (p, q).
    n_features_in_, feature_names_in_

    Raises
    ------
    DataError, ShapeError, UnknownNameError
        From `fit`: NaN, only zeros, too many components, or matrices of different shapes.

    Warns
    -----
    NonUniqueWarning
        Eigenvalues are tied, so that other bases are as good.
    UncertifiedWarning
        The relaxation did not reach the tolerance.

    References
    ----------
    Tong thesis, chapter 4.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> import sdpdr
    >>> images = load_digits().images[:200]
    >>> pca = sdpdr.SOPCA(n_components=4).fit(images)
    >>> pca.transform(images).shape, bool(pca.gap_ < 0.01)
    ((200, 4, 4), True)
    """

    n_components: int | Sequence[int] = 2
    _: KW_ONLY
    method: str = "convex"
    center: bool | None = None
    certify: bool = False
    tol: float | None = None
    max_iter: int | None = None
    time_limit: float | str | None = None

    def fit(self, X: Any, y: Any = None) -> SOPCA:
        """Find the bases.

        Parameters
        ----------
        X : array_like of shape (n, p, q), or (n, D)
            Matrices, or a table of vectors.
        y : ignored

        Returns
        -------
        self
        """
        require_kinds(self)
        validate.choice("method", self.method, METHODS)
        raw = self._stack(X, reset=True)
        self.image_shape_ = raw.shape[1:]
        self.n_features_in_ = int(np.prod(self.image_shape_))
        self._is_table = validate.n_dimensions(X) != 3
        center = self._is_table if self.center is None else self.center
        self.mean_ = raw.mean(axis=0) if center else np.zeros(self.image_shape_)
        stack, ks = matrices_and_numbers(raw, self._numbers(), center=center)
        bases, self.relaxation_ = self._solved(stack, ks)
        self.rows_, self.columns_ = bases.rows, bases.columns
        self.objective_ = bases.kept(stack)
        spread, small = stack.var(axis=0).sum(), bases.transform(stack)
        self.explained_variance_ratio_ = small.var(axis=0).ravel() / spread if spread else None
        self.energy_ratio_ = squares(small) / squares(stack)
        found, self.upper_bound_, self.gap_ = self.relaxation_, float("inf"), float("inf")
        if found:  # if both are equal, rounding may put either above the other
            self.upper_bound_ = max(found.bound, self.objective_)
        if self.objective_ > 0.0:
            self.gap_ = (self.upper_bound_ - self.objective_) / self.objective_
        self.status_, self.n_iter_ = bases.status, max(1, len(bases.history) - 1)
        if found and found.status is not RunStatus.CONVERGED:
            warn(
                f"the bound is within {found.gap:.1e} of the optimum of the relaxation only: "
                f"{found.status.name}. {found.status.advice}",
                UncertifiedWarning,
            )
        if not bases.unique:
            warn(
                "eigenvalues are tied where the basis ends, so other bases are as good; one of "
                "them is returned. Another n_components makes the answer unique.",
                NonUniqueWarning,
            )
        return self

    def transform(self, X: Any) -> Array:
        r"""The matrices :math:`A^T (M_i - \bar M) B`.

        Parameters
        ----------
        X : array_like of shape (m, p, q), or (m, D)

        Returns
        -------
        array of shape (m, k_1, k_2), or flattened, (m, k_1 k_2), of a table
        """
        return self._mapped(X)

    def inverse_transform(self, X: Any) -> Array:
        r"""The matrices :math:`A D_i B^T + \bar M` nearest to those with this transform.

        Parameters
        ----------
        X : array_like of shape (m, k_1, k_2), or (m, k_1 k_2)

        Returns
        -------
        array of shape (m, p, q), or (m, p q)
        """
        check_is_fitted(self, "rows_")
        small = np.asarray(X, dtype=float)
        k, l = self.rows_.shape[1], self.columns_.shape[1]  # noqa: E741
        if small.ndim not in (2, 3) or small.shape[1:] not in ((k, l), (k * l,)):
            raise ShapeError(
                f"X must have shape (m, {k}, {l}) or (m, {k * l}); it has {small.shape}."
            )
        stack = self.rows_ @ small.reshape(-1, k, l) @ self.columns_.T + self.mean_
        return np.asarray(stack if small.ndim == 3 else stack.reshape(len(stack), -1))

    def _mapped(self, X: Any) -> Array:
        """`transform`, always as an array."""
        check_is_fitted(self, "rows_")
        small = self.rows_.T @ ((self._stack(X, reset=False) - self.mean_) @ self.columns_)
        flat = validate.n_dimensions(X) != 3
        return as_precise(small.reshape(len(small), -1) if flat else small, X)

    def _solved(self, stack: Array, ks: tuple[int, int]) -> tuple[Bases, Relaxation | None]:
        limit = seconds_for(self)
        given = {"tol": self.tol, "max_iter": self.max_iter}
        options: dict[str, Any] = {key: v for key, v in given.items() if v is not None}
        found = None
        if self.method == "convex":
            found = interior_point(stack, ks, time_limit=limit, **{"tol": _TOLERANCE, **options})
        elif self.certify:
            found = interior_point(stack, ks, time_limit=limit, tol=_TOLERANCE)
        if self.method == "2dsvd":  # its eigenvectors stay in their own order
            return two_d_svd(stack, ks), found
        if self.method != "convex":
            search = alternating if self.method == "alternating" else glram
            return _along_axes(search(stack, ks, time_limit=limit, **options), stack), found
        assert found is not None
        rounded, first = found.round(stack), alternating(stack, ks, time_limit=limit)
        starts = ((bases.rows, bases.columns) for bases in (rounded, first))
        polished = [ascent(stack, ks, start=start, time_limit=limit) for start in starts]
        best = max(polished, key=lambda bases: bases.value)
        # A tie of the relaxation leaves a choice of the start, and so of the result.
        best = replace(best, status=found.status, history=found.history, unique=rounded.unique)
        return _along_axes(best, stack), found

    def _numbers(self) -> tuple[int, int]:
        """Columns of both bases; of vectors one number is enough."""
        p, q = self.image_shape_
        if not self._is_table or isinstance(self.n_components, (Sequence, np.ndarray)):
            return numbers_of_components(self.n_components, (p, q))
        why = f"the columns (n_features={q})"
        return 1, validate.positive_integer("n_components", self.n_components, at_most=q, why=why)

    def _stack(self, X: Any, *, reset: bool) -> Array:
        """The matrices, from a stack or a table of vectors."""
        if validate.n_dimensions(X) != 3:
            X = np.asarray(checked(self, X, reset=reset))[:, None, :]
        stack = matrices(X)
        if not reset and stack.shape[1:] != self.image_shape_:
            raise ShapeError(
                f"X holds matrices of shape {stack.shape[1:]}, expected were {self.image_shape_}."
            )
        return stack

    @property
    def _n_features_out(self) -> int:
        return int(self.rows_.shape[1] * self.columns_.shape[1])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.three_d_array = True
        return tags


def _along_axes(bases: Bases, stack: Array) -> Bases:
    """Bases rotated within their spans, columns in the order of the squares along them.

    The sum of trace norms does not depend on the rotation, which rounding would choose.
    """
    small = bases.transform(stack)
    scatters = (square_scatter(side) for side in (small, small.transpose(0, 2, 1)))
    of_rows, of_columns = (leading(C, len(C)) for C in scatters)
    rows, columns = fix_signs(bases.rows @ of_rows), fix_signs(bases.columns @ of_columns)
    return replace(bases, rows=rows, columns=columns)


def _arrays_of_stacks(name: str) -> None:
    """Keep scikit-learn from putting the results for a stack into a two-dimensional data frame."""
    framed = getattr(SOPCA, name)

    @wraps(framed)
    def method(self: SOPCA, X: Any, *y: Any, **options: Any) -> Any:
        if validate.n_dimensions(X) != 3:
            return framed(self, X, *y, **options)
        fitted = self.fit(X, *y, **options) if name == "fit_transform" else self
        return fitted._mapped(X)

    setattr(SOPCA, name, method)


for _name in ("transform", "fit_transform"):
    _arrays_of_stacks(_name)
