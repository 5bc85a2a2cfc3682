"""Aims of estimators: who is compared, on what, and what doing nothing is.

Estimators have their defaults; only a number of clusters or factors is given where there is none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import defaults_measures as measures
import numpy as np
from rivals import large_margin, minimum_distortion, umap_of
from sklearn import decomposition
from sklearn.cluster import SpectralClustering
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.dummy import DummyRegressor
from sklearn.experimental import enable_iterative_imputer  # noqa: F401 - its import allows the next
from sklearn.impute import IterativeImputer, KNNImputer, SimpleImputer
from sklearn.linear_model import RidgeCV
from sklearn.manifold import Isomap, LocallyLinearEmbedding
from sklearn.neighbors import (
    KNeighborsClassifier,
    KNeighborsRegressor,
    NeighborhoodComponentsAnalysis,
)
from sklearn.semi_supervised import LabelSpreading

import sdpdr


@dataclass(frozen=True)
class Task:
    """Estimators with one aim, what they are measured by, and on what."""

    words: str
    measure: Callable[[Any, np.ndarray, np.ndarray, int], float]
    ours: Mapping[str, Any]
    rivals: Mapping[str, Any]
    nothing: Any
    sets: tuple[str, ...]
    # What is to be found of a data set and its points; by default its labels.
    target: Callable[[str, np.ndarray, int], np.ndarray] | None = None


IMPUTERS = {
    "scikit-learn's KNNImputer": KNNImputer(),
    "scikit-learn's IterativeImputer": IterativeImputer(random_state=0),
}
WITHOUT_ACTIONS = {
    "MVU without actions": sdpdr.MVU(),
    "scikit-learn's Isomap, of the walk": Isomap(),
    "scikit-learn's PCA, of the walk": decomposition.PCA(2),
}
TASKS = {
    "picture": Task(
        "trustworthiness with six neighbours in two dimensions; nothing is the two columns of "
        "largest variance",
        measures.embedded,
        {
            "MVU": sdpdr.MVU(),
            "MFNU": sdpdr.MFNU(),
            "MVE": sdpdr.MVE(),
            "DensityMap": sdpdr.DensityMap(),
            "LOOCVUnfolding": sdpdr.LOOCVUnfolding(),
            "SOPCA": sdpdr.SOPCA(),
        },
        {
            "scikit-learn's Isomap": Isomap(),
            "scikit-learn's LocallyLinearEmbedding": LocallyLinearEmbedding(eigen_solver="dense"),
            "scikit-learn's PCA": decomposition.PCA(2),
            **umap_of("UMAP"),
            **minimum_distortion(),
        },
        measures.Nothing(2),
        measures.SETS,
    ),
    "labelled picture": Task(
        "share of points whose nearest is of their class, all labels known",
        measures.coloured,
        {"ColoredMVU": sdpdr.ColoredMVU()},
        {
            "scikit-learn's LinearDiscriminantAnalysis": LinearDiscriminantAnalysis(),
            "scikit-learn's NeighborhoodComponentsAnalysis": NeighborhoodComponentsAnalysis(
                2, random_state=0
            ),
            **umap_of("UMAP"),
        },
        measures.Nothing(2),
        measures.SETS,
    ),
    "densities": Task(
        "rank correlation of distances to the sixth neighbour in the data and in two dimensions, "
        "or all of a kernel",
        measures.dense,
        {
            "DensityMap": sdpdr.DensityMap(),
            "DensityMap, all its dimensions": measures.AllDimensions(),
        },
        {
            "scikit-learn's Isomap": Isomap(),
            "scikit-learn's PCA": decomposition.PCA(2),
            **umap_of("densMAP", densmap=True),
        },
        measures.Nothing(2),
        measures.SETS,
    ),
    "projection": Task(
        f"accuracy of the nearest neighbour after a map, {measures.FOLDS} folds; nothing is no map",
        measures.projected,
        {
            "LDA": sdpdr.LDA(),
            "SDA": sdpdr.SDA(),
            "LSDA": sdpdr.LSDA(),
            "LPP": sdpdr.LPP(),
            "NPE": sdpdr.NPE(),
            "IsoProjection": sdpdr.IsoProjection(),
            "SpectralRegression": sdpdr.SpectralRegression(),
            "XingMetric": sdpdr.XingMetric(),
            "GhodsiMetric": sdpdr.GhodsiMetric(),
        },
        {
            "scikit-learn's LinearDiscriminantAnalysis": LinearDiscriminantAnalysis(),
            "scikit-learn's PCA": decomposition.PCA(2),
            **large_margin(),
        },
        measures.Nothing(),
        ("moons", "iris", "wine", "cancer", "digits"),
    ),
    "labels": Task(
        f"accuracy on points without one, {measures.LABELS} labels a class; nothing is the nearest "
        "labelled point",
        measures.spread,
        {"MixedLabelPropagation": sdpdr.MixedLabelPropagation(), "ISM": sdpdr.ISM()},
        {"scikit-learn's LabelSpreading": LabelSpreading(kernel="knn", max_iter=1000)},
        KNeighborsClassifier(1),
        ("roll", "S-curve", "moons", "iris", "wine", "cancer", "digits"),
    ),
    "factors": Task(
        "share of the squared deviation from the mean row explained by two factors of columns "
        "whose least entry is zero; nothing is the mean row",
        measures.factored,
        {
            "NMF": sdpdr.NMF(2),
            "IsoNMF": sdpdr.IsoNMF(2),
            "PolynomialFactorization": sdpdr.PolynomialFactorization(2),
        },
        {
            "scikit-learn's NMF": decomposition.NMF(2, init="nndsvda", max_iter=1000),
            "scikit-learn's TruncatedSVD": decomposition.TruncatedSVD(2, random_state=0),
        },
        measures.Mean(),
        ("roll", "S-curve", "iris", "wine", "cancer", "digits"),
    ),
    "clusters": Task(
        "normalised mutual information with classes, their number given; nothing is one cluster",
        measures.clustered,
        {"CompletelyPositive": sdpdr.CompletelyPositive()},
        {
            "scikit-learn's SpectralClustering, of neighbours": SpectralClustering(
                affinity="nearest_neighbors", random_state=0
            )
        },
        measures.OneCluster(),
        ("moons", "iris", "wine", "cancer", "digits"),
    ),
    "ratings": Task(
        f"columns cut into five levels at quintiles, {measures.HIDDEN:.0%} of entries hidden, "
        "share of their squared deviation from means of columns explained; nothing is those means",
        measures.rated,
        {"RatingMMMF": sdpdr.RatingMMMF()},
        IMPUTERS,
        SimpleImputer(),
        measures.SETS,
    ),
    "signs": Task(
        f"above the median of a column or not, {measures.HIDDEN:.0%} hidden, share of right "
        "ones; nothing is the more frequent sign of a column",
        measures.signed,
        {"MMMF": sdpdr.MMMF()},
        IMPUTERS,
        SimpleImputer(strategy="most_frequent"),
        measures.SETS,
    ),
    "distances": Task(
        "of two columns a fifth of all distances known, one less the relative error of the "
        "others; nothing is the mean distance",
        measures.surveyed,
        {"DistanceCompletion": sdpdr.DistanceCompletion()},
        {"shortest paths and scikit-learn's MDS": measures.PathsAndStress()},
        measures.MeanDistance(),
        measures.SETS,
    ),
    "places": Task(
        "on a roll and an S along the sheet, of others in the picture of Isomap, "
        f"{measures.ANCHORS} known, share of the squared deviation of others from the mean place "
        "explained; nothing is that mean",
        measures.placed,
        {"AnchoredMVU": sdpdr.AnchoredMVU()},
        {
            "scikit-learn's KNeighborsRegressor": KNeighborsRegressor(),
            "scikit-learn's RidgeCV": RidgeCV(),
        },
        DummyRegressor(),
        ("roll", "S-curve", "iris", "wine", "cancer", "digits"),
        measures.sheet,
    ),
    "actions": Task(
        f"an agent makes {measures.STEPS} steps up, down, left and right over 7 by 7 places, on "
        "sheets with noise of a tenth of a step, or as a window over a mosaic of digits; share of "
        "squared steps left out that a rigid motion for each action explains. Left out are those "
        "of an action from every other of its places, so that none is a copy of one told; all "
        "states are known, and of the actions of these steps neither map nor motion",
        measures.moved,
        {"ARE": sdpdr.ARE()},
        WITHOUT_ACTIONS,
        measures.Nothing(2),
        ("roll", "S-curve", "digits"),
        measures.walk,
    ),
    "places of an agent": Task(
        "of the same walks with all actions known, share of the squared deviation of places "
        "explained by an affine map",
        measures.located,
        {"ARE": sdpdr.ARE()},
        WITHOUT_ACTIONS,
        measures.Nothing(2),
        ("roll", "S-curve", "digits"),
        measures.walk,
    ),
}
