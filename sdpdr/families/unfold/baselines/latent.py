"""Gaussian process latent variable model: places from which smooth functions make the data."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from sdpdr.base import checks as validate
from sdpdr.base.arrays import Array, require_squares
from sdpdr.base.deadline import Deadline
from sdpdr.base.errors import DataError, ShapeError, UncertifiedWarning, warn
from sdpdr.base.estimators import Transformer, as_precise, checked
from sdpdr.base.parameters import seconds_for
from sdpdr.base.rows import named, numbered
from sdpdr.families.unfold.baselines.places import BackMap, Found, placed, search
from sdpdr.families.unfold.baselines.process import KERNELS, Process
from sdpdr.linalg.spectral import fix_signs, on_principal_axes

# Of a log-likelihood, what ten steps gain that is worth a word where they are the last: a ratio of
# likelihoods of 1.001. Below it gradients of maps, which are stiff, may go on for ten thousands.
_TOLD = 1e-3


def gplvm(
    X: ArrayLike,
    n_components: int = 2,
    *,
    kernel: str = "rbf",
    max_iter: int = 1000,
    time_limit: float | None = 30.0,
    back_constraint: float | None = None,
) -> Array:
    """Places of a Gaussian process latent variable model; see `GPLVM`.

    Parameters
    ----------
    X : array_like of shape (n, D)
    n_components : int, default 2
    kernel : {"rbf", "linear"}, default "rbf"
    max_iter : int, default 1000
    time_limit : float or None, default 30
    back_constraint : float, optional

    Returns
    -------
    ndarray of shape (n, n_components)

    Raises
    ------
    DataError, UnknownNameError

    Examples
    --------
    >>> gplvm(np.random.default_rng(0).random((8, 3)), 1).shape
    (8, 1)
    """
    model = GPLVM(
        n_components,
        kernel=kernel,
        max_iter=max_iter,
        time_limit=time_limit,
        back_constraint=back_constraint,
    )
    return model.fit_transform(X)


@dataclass(eq=False, repr=False)
class GPLVM(Transformer):
    r"""Gaussian process latent variable model. A baseline.

    Every column of the centred data is a smooth random function of places x, which are found with
    the variance v of the functions and that of the noise, :math:`\sigma^2`:

    .. math::

        \min_{X, v, \sigma}\ \frac{nD}{2} \ln 2\pi + \frac D2 \ln|K|
        + \frac12 \operatorname{tr}(K^{-1} Y Y^T), \qquad
        K_{ij} = v\, e^{-|x_i - x_j|^2/2} + \sigma^2 \delta_{ij},

    by L-BFGS with exact gradients, from principal components: once with any noise, and in the time
    that is left with one that falls step by step; the likelier end is kept. The width of the kernel
    is the unit of the places. With the linear kernel :math:`x_i^T x_j` (and v = 1) the optimum is
    dual probabilistic principal component analysis, in which samples and columns change places;
    with the other one the problem is not convex, and the end is a stationary point. Far points of
    the data are kept apart; near ones need not stay near. With hardly fewer components than
    columns, places can make the data without noise, which falls to its limit then. A step costs
    n^3.

    *Entries that are missing* (NaN) are integrated out: of a column only the samples of which it is
    known take part, and `inverse_transform` says what is expected in the gaps. A step costs n^3 for
    each set of columns that are known of the same samples.

    *A back constraint* makes the places a smooth map of the data, so that near samples are placed
    near each other, and new ones at once.

    Parameters
    ----------
    n_components : int, default 2
    kernel : {"rbf", "linear"}, default "rbf"
    max_iter : int, default 1000
        Steps of each search, after which the places are kept as they are, with a warning. 50 to 90
        noisy samples took 65 to 3400, mostly below 1000; without noise there are gains for
        ten thousands.
    tol : float, default 1e-5
        Largest entry of the gradient at which to stop, of the objective over n D.
    time_limit : float or None, default 30
        Seconds, after which the places are kept as they are, with a warning. 1000 points need more
        than a minute to the end. `transform` has as many. "auto" is the default.
    back_constraint : float, optional
        Width w, in medians of the distances between samples, of the kernel of a map
        :math:`x = \sum_j a_j e^{-|y - y_j|^2 / 2 w^2}` from data to places, of which the
        coefficients are found in their stead: the wider, the smoother. By default places are free.

    Attributes
    ----------
    embedding_ : array of shape (n, n_components)
        Centred, on its principal axes; of linear functions turned alone, about their origin, which
        is the mean where nothing is missing. Of a back constraint, what its map makes of samples.
    signal_, noise_ : float
        v and :math:`\sigma^2`, the latter not below 1e-6 of the mean square of the data.
    log_likelihood_ : float
    mean_ : array of shape (D,)
    n_iter_ : int
    converged_ : bool
    n_features_in_ : int

    Raises
    ------
    DataError, DataTypeError, UnknownNameError
        From `fit`: data that cannot be used, rows or columns without a number, gaps beside a back
        constraint, too many components, another kernel.

    Warns
    -----
    UncertifiedWarning
        The time was over, or the steps, before the gradient was small.

    References
    ----------
    Review of dimensionality reduction, (2.18) and (2.19); N. Lawrence, "Probabilistic non-linear
    principal component analysis with Gaussian process latent variable models", JMLR 6 (2005);
    N. Lawrence and J. Quiñonero-Candela, "Local distance preservation in the GP-LVM through back
    constraints", ICML (2006).

    Examples
    --------
    >>> t = np.linspace(0.0, 3.0, 25)
    >>> X = np.column_stack([np.cos(t), np.sin(t), t**2])
    >>> model = GPLVM(1).fit(X)
    >>> along = model.embedding_[:, 0]
    >>> bool(abs(np.corrcoef(along, t)[0, 1]) > 0.99)
    True
    >>> bool(np.abs(model.inverse_transform(model.embedding_) - X).max() < 0.05)
    True
    """

    n_components: int = 2
    _: KW_ONLY
    kernel: str = "rbf"
    max_iter: int = 1000
    tol: float = 1e-5
    time_limit: float | str | None = 30.0
    back_constraint: float | None = None

    def fit(self, X: Any, y: Any = None) -> GPLVM:
        """Find the places of the rows of X, in which NaN is missing; y is not used."""
        self._require_parameters()
        deadline = Deadline(seconds_for(self))
        given, X = X, self._read(X, by_distance=True, ensure_min_samples=2)
        require_squares(X)
        q = validate.positive_integer(
            "n_components",
            self.n_components,
            at_most=min(X.shape),
            why=f"the lesser of n_samples = {X.shape[0]} and n_features = {X.shape[1]}",
        )
        empty = np.flatnonzero(np.isnan(X).all(axis=0))
        if empty.size:
            raise DataError(f"no number is known of columns {named(empty, given)}: leave them out.")
        self.mean_ = np.nanmean(X, axis=0)
        self._unit, self._samples = _in_a_unit(X - self.mean_)
        self._back = self._map_of(self._samples)
        found = search(
            self._samples,
            q,
            self.kernel,
            None if self._back is None else self._back(self._samples),
            tol=self.tol,
            max_iter=self.max_iter,
            deadline=deadline,
        )
        self._note(found, deadline)
        places = _on_axes(found.places, self.kernel)
        if self._back is not None:
            # Features are centred, so that places differ by a turn.
            turn = np.linalg.lstsq(found.places, places)[0]
            self._coefficients = found.coefficients @ turn
            places = self._back(self._samples) @ self._coefficients
        self._process = Process(places, self._samples, self.kernel, found.signal, found.noise)
        self.embedding_ = as_precise(self._unit_of_places * places, given)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Array:
        """Find the places of the rows of X and return them, shape (n, n_components)."""
        return np.asarray(self.fit(X, y).embedding_)

    def transform(self, X: Any) -> Array:
        """Places of new rows: where they are likeliest, found from those of five near samples.

        Of rows with gaps what is known counts. Samples of the fit are not looked up: a process
        smooths, and ``embedding_`` has their places. With a back constraint places are those of
        its map, for samples of the fit as well.

        Parameters
        ----------
        X : array_like of shape (m, D)

        Returns
        -------
        array of shape (m, n_components)

        Warns
        -----
        UncertifiedWarning
            The time was over before all rows were placed; others are where the nearest sample is.
        """
        check_is_fitted(self, "embedding_")
        given, rows = X, (self._read(X, reset=False) - self.mean_) / self._unit
        if self._back is not None:
            places = self._back(rows) @ self._coefficients
            return as_precise(self._unit_of_places * places, given)
        deadline = Deadline(seconds_for(self))
        places, count = placed(
            self._process,
            self._samples,
            rows,
            tol=self.tol,
            max_iter=self.max_iter,
            deadline=deadline,
        )
        if count < len(rows):
            warn(
                f"{deadline.spent:.0f} seconds were over when {count} of {len(rows)} rows were "
                "placed; others are where the nearest sample is. Raise time_limit, or pass fewer.",
                UncertifiedWarning,
            )
        return as_precise(self._unit_of_places * places, given)

    def inverse_transform(self, X: Any) -> Array:
        r"""Data expected at places, :math:`\bar y + k(x, X) K^{-1} Y`; shape (m, D).

        Parameters
        ----------
        X : array_like of shape (m, n_components)
        """
        process = self._process_at(X)
        found = process.expected(np.asarray(X, dtype=float) / self._unit_of_places)
        return np.asarray(self.mean_ + self._unit * found)

    def variance(self, X: Any) -> Array:
        r"""Variance of each entry of the data at places, shape (m,): how far to trust them.

        .. math:: k(x, x) + \sigma^2 - k(x, X) K^{-1} k(X, x)

        Where entries were missing in the fit, columns are known of different samples, and have
        variances of their own, shape (m, D).

        Parameters
        ----------
        X : array_like of shape (m, n_components)
        """
        process = self._process_at(X)
        found = process.variance(np.asarray(X, dtype=float) / self._unit_of_places)
        found *= self._unit**2
        return found[:, 0] if process.is_whole else found

    def _require_parameters(self) -> None:
        validate.choice("kernel", self.kernel, KERNELS)
        validate.positive_integer("n_components", self.n_components)
        validate.positive_integer("max_iter", self.max_iter)
        validate.positive_number("tol", self.tol)
        if self.back_constraint is not None:
            validate.positive_number("back_constraint", self.back_constraint)

    def _read(self, X: Any, **options: Any) -> Array:
        """Data as numbers, of which every row has one; all of them beside a back constraint."""
        found = checked(self, X, ensure_all_finite="allow-nan", **options)
        # In one order: last digits tell signs of axes where two entries are the largest.
        data, missing = np.ascontiguousarray(found), np.isnan(found)
        holed, empty = (np.flatnonzero(kind(missing, axis=1)) for kind in (np.any, np.all))
        if self.back_constraint is not None and holed.size:
            raise DataError(
                f"a back constraint maps whole rows; rows {numbered(holed)} have NaN. Leave them "
                "out, fill them in, or pass back_constraint=None, with which what is missing is "
                "integrated out."
            )
        if empty.size:
            raise DataError(
                f"no number is known of rows {numbered(empty)}, so they may be anywhere: leave "
                "them out."
            )
        return data

    def _map_of(self, samples: Array) -> BackMap | None:
        return None if self.back_constraint is None else BackMap.of(samples, self.back_constraint)

    def _note(self, found: Found, deadline: Deadline) -> None:
        """Keep what was found, in the unit of the data."""
        unit = self._unit
        self.signal_ = 1.0 if self.kernel == "linear" else unit**2 * found.signal
        self.noise_ = unit**2 * found.noise
        known = int(np.sum(~np.isnan(self._samples)))
        self.log_likelihood_ = -known * (found.value + np.log(unit))
        self.n_iter_, self.converged_ = found.steps, found.converged
        if found.stopped:
            warn(
                f"{deadline.spent:.0f} seconds were over after {found.steps} steps, and the places "
                "are kept as they are. Raise time_limit, or pass fewer samples: a step costs n^3.",
                UncertifiedWarning,
            )
        elif not found.converged and known * found.gain > _TOLD:
            ended = found.steps >= self.max_iter
            reason = f"max_iter={self.max_iter}" if ended else "rounding hides the way on"
            last = "ten" if found.steps > 9 else found.steps
            warn(
                f"the search ended after {found.steps} steps ({reason}) before the gradient was "
                f"small: its largest entry is {found.gradient:.1e}, where tol={self.tol:g}, and "
                f"the last {last} steps gained {known * found.gain:.2g} of a log-likelihood of "
                f"{self.log_likelihood_:.5g}. Raise {'max_iter, or ' if ended else ''}tol if that "
                "gain is small enough.",
                UncertifiedWarning,
            )

    @property
    def _unit_of_places(self) -> float:
        """That of the data where functions are linear; otherwise the width of the kernel is."""
        return self._unit if self.kernel == "linear" else 1.0

    def _process_at(self, X: Any) -> Process:
        """The process, where places have as many components as it has."""
        check_is_fitted(self, "embedding_")
        shape, q = np.shape(X), self.embedding_.shape[1]
        if len(shape) != 2 or shape[1] != q:
            raise ShapeError(f"places must have shape (m, {q}); they have {shape}.")
        return self._process

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.back_constraint is None
        return tags


def _in_a_unit(centred: Array) -> tuple[float, Array]:
    """The root of the mean square of what is known, and the data over it."""
    largest = float(np.nanmax(np.abs(centred)))
    # Squares of what is left of large numbers that hardly differ underflow.
    unit = largest * float(np.sqrt(np.nanmean(np.square(centred / (largest or 1.0))))) or 1.0
    return unit, centred / unit


def _on_axes(places: Array, kernel: str) -> Array:
    """Places on their principal axes, moved and turned as far as the likelihood stays the same."""
    if kernel == "rbf":
        return on_principal_axes(places)
    return fix_signs(places @ np.linalg.svd(places, full_matrices=False)[2].T)
