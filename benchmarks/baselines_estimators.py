"""Rows of a baseline that fit estimators at their defaults, on small fixed data."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from baselines_digests import gram_spectrum, listed, numbers, spread
from baselines_programs import number, of_solution
from sklearn.datasets import load_digits, load_iris, load_wine

import sdpdr
from sdpdr import baselines, datasets, extend

Made = tuple[Any, tuple[Any, ...]]

# Fitted numbers that say what was found, whatever the method. What counts iterations, or the
# seconds, is not among them.
NUMBERS = (
    "action_error_", "alpha_", "bandwidth_", "best_score_", "c_", "edge_error_", "energy_ratio_",
    "hsic_", "length_kept_", "margin_", "misfit_", "objective_", "ridge_", "rmse_", "scale_",
    "separating_dimension_", "stress_", "upper_bound_",
)  # fmt: skip
# The error of factors: reported as the value of the row, where there is no other.
ERRORS = ("reconstruction_err_", "residual_")
LISTS = ("eigenvalues_", "explained_variance_ratio_", "density_", "likelihoods_")
# These complete a matrix: they predict all of it where nothing is passed.
COMPLETE = ("MMMF", "MMMFCV", "RatingMMMF")


def _roll(n: int) -> Any:
    return datasets.swiss_roll(n, seed=0)[0]


def _plane() -> tuple[Any, Any]:
    X = np.random.default_rng(0).standard_normal((24, 3)) * [3.0, 2.0, 0.1]
    return X, (X[:, 0] > 0.0).astype(int)


def _positive() -> Any:
    return np.abs(np.random.default_rng(1).standard_normal((8, 5))) + 0.1


def _partly(y: Any, every: int = 4) -> Any:
    """Labels of every fourth sample; the others are unlabelled."""
    return np.where(np.arange(len(y)) % every == 0, y, -1)


def _signs(shape: tuple[int, int], seed: int = 2) -> Any:
    return np.sign(np.random.default_rng(seed).standard_normal(shape))


def _ratings(users: int, items: int) -> Any:
    """Ratings from 1 to 5 that follow two hidden tastes, half of them missing."""
    rng = np.random.default_rng(5)
    hidden = rng.standard_normal((users, 2)) @ rng.standard_normal((2, items))
    stars = np.clip(np.round(3.0 + hidden), 1.0, 5.0)
    return np.where(rng.random((users, items)) < 0.5, stars, np.nan)


def _distances() -> Any:
    X, _ = _plane()
    found = np.linalg.norm(X[:, None] - X[None], axis=2)
    found[0, 5:] = np.nan
    return found


def _placed() -> Any:
    return np.where(np.arange(30)[:, None] < 6, _roll(30)[:, :2], np.nan)


def _with(load: Callable[..., Any], rows: int | None = None) -> tuple[Any, Any]:
    X, y = load(return_X_y=True)
    step = 1 if rows is None else len(X) // rows
    return X[::step][:rows], y[::step][:rows]


def _iris(estimator: Callable[[], Any], partly: bool = False) -> Made:
    X, y = _with(load_iris)
    return estimator(), (X, _partly(y) if partly else y)


def _wine(estimator: Callable[[], Any]) -> Made:
    return estimator(), _with(load_wine)


def _few_digits(estimator: Callable[[], Any], partly: bool = False) -> Made:
    X, y = _with(load_digits, 120)
    return estimator(), (X, _partly(y, 3) if partly else y)


def _on_plane(estimator: Callable[[], Any], labels: bool = False) -> Made:
    X, y = _plane()
    return estimator(), (X, y) if labels else (X,)


def _stack() -> Any:
    return np.random.default_rng(3).standard_normal((10, 4, 3))


def _cosines() -> Any:
    t = np.linspace(0.0, 1.0, 30)
    W = np.column_stack([1.0 + np.cos(3 * t), 1.0 + np.sin(3 * t), t])
    return W @ np.random.default_rng(1).random((3, 8))


def _waves() -> tuple[Any, Any]:
    z = np.linspace(0.0, 1.0, 50)
    return z, np.sin(np.outer([1.0, 2.0, 3.0], z))


# Estimators by the name of a row: made anew in its process. The second part of a name, if any, says
# what differs from the defaults, or the data.
EVERY: dict[str, Callable[[], Made]] = {
    "ARE": lambda: (sdpdr.ARE(n_neighbors=3), (_roll(30),)),
    "AnchoredMVU, in the unit of the data": lambda: (
        sdpdr.AnchoredMVU(connect="mst"), (_roll(30), _placed()),
    ),
    "ColoredMVU": lambda: _on_plane(partial(sdpdr.ColoredMVU, connect="mst"), True),
    "ColoredMVU, iris": lambda: _iris(partial(sdpdr.ColoredMVU, connect="mst")),
    "CompletelyPositive": lambda: (
        sdpdr.CompletelyPositive(affinity="precomputed"), (_positive() @ _positive().T,),
    ),
    "DensityMap": lambda: _on_plane(partial(sdpdr.DensityMap, connect="mst")),
    "DistanceCompletion": lambda: (sdpdr.DistanceCompletion(), (_distances(),)),
    "GhodsiMetric": lambda: _on_plane(sdpdr.GhodsiMetric, True),
    "GhodsiMetric, wine": lambda: _wine(sdpdr.GhodsiMetric),
    "ISM": lambda: _on_plane(partial(sdpdr.ISM, connect="mst"), True),
    "IsoNMF": lambda: (sdpdr.IsoNMF(3, n_neighbors=3), (_cosines(),)),
    "IsoProjection": lambda: _on_plane(partial(sdpdr.IsoProjection, 2, connect="mst")),
    "IsoProjection, digits": lambda: _few_digits(partial(sdpdr.IsoProjection, connect="mst")),
    "LDA": lambda: _on_plane(partial(sdpdr.LDA, 1), True),
    "LDA, iris": lambda: _iris(sdpdr.LDA),
    "LDA, digits": lambda: _few_digits(sdpdr.LDA),
    "LOOCVUnfolding": lambda: (
        sdpdr.LOOCVUnfolding(
            n_neighbors=3, isometry="equality", solver="clarabel", form="gram", tol=1e-5
        ),
        (_roll(12),),
    ),
    "LPP": lambda: _on_plane(partial(sdpdr.LPP, 2)),
    "LPP, digits": lambda: _few_digits(partial(sdpdr.LPP, connect="mst")),
    "LSDA": lambda: _on_plane(partial(sdpdr.LSDA, 1), True),
    "LSDA, iris": lambda: _iris(partial(sdpdr.LSDA, connect="mst")),
    "MFNU": lambda: (sdpdr.MFNU(connect="mst"), (_roll(30),)),
    "MMMF": lambda: (sdpdr.MMMF(c=0.442109113, ridge=15.0), (_signs((6, 5)),)),
    "MMMF, 30 x 20": lambda: (sdpdr.MMMF(c=0.5), (_signs((30, 20)),)),
    "MMMFCV": lambda: (
        sdpdr.MMMFCV(cv=2), (np.ceil(5.0 * _positive() / _positive().max()),),
    ),
    "MVE": lambda: (sdpdr.MVE(connect="mst", max_iter=3), (_roll(30),)),
    "MVU": lambda: (sdpdr.MVU(connect="mst"), (_roll(30),)),
    "MVU, roll of 200": lambda: (sdpdr.MVU(), (_roll(200),)),
    "MVU, iris": lambda: _iris(partial(sdpdr.MVU, connect="mst")),
    "MixedLabelPropagation": lambda: (
        sdpdr.MixedLabelPropagation(), (_plane()[0], _partly(_plane()[1])),
    ),
    "MixedLabelPropagation, iris": lambda: _iris(sdpdr.MixedLabelPropagation, True),
    "NMF": lambda: (sdpdr.NMF(2), (_positive(),)),
    "NMF, digits": lambda: (sdpdr.NMF(4), (_with(load_digits, 120)[0],)),
    "NPE": lambda: _on_plane(partial(sdpdr.NPE, 2)),
    "NPE, digits": lambda: _few_digits(partial(sdpdr.NPE, connect="mst")),
    "PolynomialFactorization": lambda: (
        sdpdr.PolynomialFactorization(1), (_positive()[:4, :3],),
    ),
    "RatingMMMF": lambda: (
        sdpdr.RatingMMMF(c=0.271323664), (np.ceil(5.0 * _positive() / _positive().max()),),
    ),
    "RatingMMMF, 40 x 25": lambda: (sdpdr.RatingMMMF(c=1.24839096), (_ratings(40, 25),)),
    "SDA": lambda: (sdpdr.SDA(1), (_plane()[0], _partly(_plane()[1]))),
    "SDA, iris": lambda: _iris(partial(sdpdr.SDA, connect="mst"), True),
    "SOPCA": lambda: (sdpdr.SOPCA(2), (_stack(),)),
    "SpectralRegression": lambda: _on_plane(partial(sdpdr.SpectralRegression, 1), True),
    "SpectralRegression, digits": lambda: _few_digits(sdpdr.SpectralRegression),
    "SpectralRegression, digits with a kernel": lambda: _few_digits(
        partial(sdpdr.SpectralRegression, kernel="rbf")
    ),
    "XingMetric": lambda: _on_plane(sdpdr.XingMetric, True),
    "XingMetric, iris": lambda: _iris(sdpdr.XingMetric),
    "baselines.GPLVM": lambda: (baselines.GPLVM(2), (_roll(25),)),
    "baselines.SPE": lambda: (baselines.SPE(cycles=200), (_plane()[0],)),
    "baselines.Sammon": lambda: (baselines.Sammon(), (datasets.s_curve(60)[0],)),
    "extend.BasisExpansion": lambda: (
        extend.BasisExpansion(8, grid=_waves()[0]), (_waves()[1],),
    ),
    "extend.KernelEigenmaps": lambda: (extend.KernelEigenmaps(), (datasets.s_curve(80)[0],)),
}  # fmt: skip

# Relative differences of digests that mean nothing. Closed forms leave rounding; answers to
# programs are known to the square root of their gaps; local searches may end elsewhere.
RTOL_CLOSED, RTOL_PROGRAM, RTOL_SEARCH = 1e-6, 2e-3, 5e-2
_CLOSED = (
    "IsoProjection", "LDA", "LPP", "LSDA", "NPE", "SDA", "SpectralRegression",
    "MixedLabelPropagation", "extend.BasisExpansion", "extend.KernelEigenmaps",
)  # fmt: skip
_SEARCH = (
    "IsoNMF", "baselines.SPE", "baselines.GPLVM", "CompletelyPositive",
)  # fmt: skip


def rtol(name: str) -> float:
    """Return the relative difference of digests that means nothing for a row."""
    kind = name.partition(",")[0]
    if kind in _CLOSED:
        return RTOL_CLOSED
    return RTOL_SEARCH if kind in _SEARCH else RTOL_PROGRAM


def estimator_names() -> list[str]:
    """List the rows."""
    return list(EVERY)


def estimator(name: str) -> dict[str, Any]:
    """Fit an estimator and describe what it found."""
    made, given = EVERY[name]()
    fitted = made.fit(*given)
    found = proved(fitted)
    return found | {"digest": digest(fitted, *given), "rtol": rtol(name)}


def proved(fitted: Any) -> dict[str, Any]:
    """Return the columns of status, value and bound: of its solution, or those that it states."""
    solution = getattr(fitted, "solution_", None)
    if solution is not None:
        return of_solution(solution, solution.tol)
    status = getattr(getattr(fitted, "status_", None), "name", None)
    found: dict[str, Any] = {"status": "OK", "sense": "min"}
    value = getattr(fitted, "value_", None)
    for error in ERRORS:
        value = getattr(fitted, error, None) if value is None else value
    bound = getattr(fitted, "bound_", None)
    if isinstance(value, (int, float)):
        found["value"] = number(value)
    if isinstance(value, (int, float)) and isinstance(bound, (int, float)):
        # These estimators compute the value at factors that they return: it is attained.
        found |= {"attained": number(value), "bound": number(bound)}
    return found | ({"ended": status} if status else {})


def digest(fitted: Any, X: Any, *rest: Any) -> dict[str, Any]:
    """Summarize what an estimator returns, invariant under signs and rotations."""
    known = {name: getattr(fitted, name, None) for name in (*NUMBERS, *LISTS)}
    found = {name: numbers(value) for name, value in known.items() if value is not None}
    if (places := getattr(fitted, "embedding_", None)) is not None:
        found["embedding"] = spread(places)
    if type(fitted).__name__ in COMPLETE:
        completed = gram_spectrum(fitted.decision_function())
        return found | {"scores": completed, "predict": listed(fitted.predict())}
    if hasattr(fitted, "transform"):
        found["transform"] = spread(fitted.transform(X))
    if (matrix := getattr(fitted, "components_", None)) is not None:
        found["components_"] = gram_spectrum(matrix)
    for labels in ("transduction_", "labels_"):
        if (words := getattr(fitted, labels, None)) is not None:
            found[labels] = listed(words)
    if hasattr(fitted, "predict"):
        found["predict"] = listed(fitted.predict(X))
    return found
