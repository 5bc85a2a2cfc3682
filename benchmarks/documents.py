"""Every system of the source documents, shown to work by one command each.

    python benchmarks/documents.py [WORD ...]

prints a line for each row of ``docs/guide/documents.rst`` (of those that contain a word): whether
its commands came out true, CPU seconds, the document, the place in print, what it is, and the
commands, which can be pasted into Python after ``from documents import *`` in this folder. They
hold answers against closed forms, laws, and the known answers of problem cards. Exits with 1 if
any is false.
"""

from __future__ import annotations

import re
import sys
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.spatial.distance import pdist, squareform
from sklearn.datasets import load_iris
from sklearn.decomposition import PCA
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsClassifier, kneighbors_graph  # noqa: F401  # as below

import sdpdr

# The commands are text, so most of these names seem to be unused.
from sdpdr import (  # noqa: F401
    baselines,
    bilinear,
    blocks,
    datasets,
    density,
    extend,
    factorize,
    graphs,
    iterate,
    methods,
    nonnegative,
    propagation,
    reduce,
)

PAGE = Path(__file__).parents[1] / "docs" / "guide" / "documents.rst"

# -- what the commands are about -------------------------------------------------------------------

ROLL = datasets.swiss_roll(60, seed=0)[0]
PLANE = np.random.default_rng(0).standard_normal((30, 2))
APART, SIDE = squareform(pdist(PLANE)), PLANE[:, 0] > 0.0
# Four points of a line, whose squared distances from their mean add up to 21.
PLACES = np.array([[0.0], [1.0], [3.0], [6.0]])
LINE = graphs.path([1.0, 2.0, 3.0])
ARC = np.linspace(0.0, 3.0, 31)
ON_ARC = np.column_stack([np.cos(ARC), np.sin(ARC)])
WAVES = np.sin(np.outer([1.0, 2.0, 3.0], ARC))
ARC_GRAPH = graphs.knn(ON_ARC, 4)
EVERY_TENTH = np.where(np.arange(31) % 10 == 0, ARC, np.nan)
IRIS, SPECIES = (part[::2] for part in load_iris(return_X_y=True))
LDA = sdpdr.LDA().fit(IRIS, SPECIES)
KERNEL = rbf_kernel(IRIS)
SPARSE = sdpdr.SpectralRegression(1, cardinality=2)
SEARCH = extend.RelevanceFeedback().fit(IRIS)
OF_ALL_PAIRS = sdpdr.IsoProjection(2, n_neighbors=29)
PRINCIPAL = np.abs(PCA(2).fit_transform(IRIS))
HALF_KNOWN = np.where(np.arange(len(SPECIES)) % 2 == 0, SPECIES, -1)
TIPS = np.vstack([np.eye(3), -np.eye(3)])  # of the unit ball
SQUARE = np.array([[1, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 1], [0, 0, 1, 1]], dtype=float)
MATRIX = np.array([[0.9, 0.6, 0.0], [1.0, 0.0, 0.4], [0.0, 0.0, 0.7]])
RANK_ONE = np.outer([1.0, 0.5], [0.7, 1.2, 0.3])
STACK = np.random.default_rng(3).standard_normal((10, 4, 3))
FIVE_IN_A_ROW = extend.laplacian_pencil(graphs.path([1.0] * 4))
SIGNS = np.array([[1, -1, 0, 1], [1, 0, -1, 1], [-1, 1, 1, 0]])
NAN = float("nan")
LABELS = propagation.labelled_graph([[0, 1, -1], [1, 0, 1], [-1, 1, 0]], [1.0, NAN, -1.0])
BAGS = [np.random.default_rng(k).standard_normal((30, 2)) + 6.0 * k for k in range(5)]


def card(*names: str) -> bool:
    """Solve problem cards, and hold everything that they state against the answers."""
    cards = [sdpdr.library.find_card(name) for name in names]
    solved = [(one, one.solve("auto", "auto", progress=False)) for one in cards]
    return all(finding.holds for one, found in solved for finding in one.check(found))


def separates(projection: Any) -> float:
    """Return the accuracy of the nearest neighbour in a projection of the iris."""
    found = projection.fit(IRIS, SPECIES).transform(IRIS)
    return float(cross_val_score(KNeighborsClassifier(1), found, SPECIES, cv=5).mean())


def close(one: object, other: object, rtol: float = 1e-6) -> bool:
    """Compare numbers or arrays."""
    return bool(np.allclose(one, other, rtol=rtol, atol=rtol))


def proved(estimator: Any, *given: Any, **options: Any) -> bool:
    """Fit an estimator of one program, and ask whether its optimum is proved."""
    return bool(estimator.fit(*given, **options).solution_.certified())


def joined(near: Any) -> Any:
    """Join two points if either is among the other's nearest."""
    return np.asarray(near.maximum(near.T).toarray())


def grown(kernel: Any, responses: Any, n: int = 50) -> Any:
    """Fit a kernel map to some samples, and add the others."""
    first = extend.fit_kernel(kernel[:n, :n], responses[:n])
    return extend.extended(first, kernel[:n, n:], kernel[n:, n:], responses)


def correlation(one: object, other: object) -> float:
    """Return the absolute correlation of two columns."""
    return float(abs(np.corrcoef(np.ravel(one), np.ravel(other))[0, 1]))


# -- the commands, in the order of the page --------------------------------------------------------

COMMANDS: dict[str, dict[str, tuple[str, ...]]] = {
    "Vasiloglou thesis": {
        "2.1": (
            "close(graphs.knn(ROLL, 6).adjacency().toarray(), joined(kneighbors_graph(ROLL, 6)))",
        ),
        "(2.3)–(2.7)": (
            "close(pdist(baselines.classical_mds(ROLL, 3)), pdist(ROLL))",
        ),
        "3.1": (
            "close(sdpdr.solve(methods.mvu(LINE)).value, 21.0)",
            "proved(sdpdr.MVU(), ROLL)",
        ),
        "(2.20)–(2.24)": (
            "close(baselines.ncmvu(LINE, rank=2).value, 21.0, 1e-4)",
        ),
        "(3.25), (5.31)": (
            "card('mfnu-swiss-roll-60')",
            "proved(sdpdr.MFNU(), ROLL)",
        ),
        "end of 3.3": (
            "card('apart-gaussian-50-equality')",
            "proved(sdpdr.MFNU(objective='variance'), ROLL)",
        ),
        "(4.26)–(4.30)": (
            "baselines.spe_stress(APART, baselines.embed('spe', PLANE, cycles=200)) < 1e-3",
        ),
        "(1.90)": (
            "card('ism-two-points', 'ism-largest-margin-24')",
            "proved(sdpdr.ISM(connect='mst'), PLANE, SIDE)",
        ),
        "(2.13)–(2.15), (6.32), (2.107)": (
            "card('loocv-simplex')",
            "close(sdpdr.solve(methods.fold(graphs.cycle(4))).value, 1.0)",
        ),
        "(6.33), (6.36)": (
            "card('density-map-even-ring')",
            "proved(sdpdr.DensityMap(), ROLL)",
        ),
        "(2.9)": (
            "card('mvee-cube')",
            "close(density.minimum_ellipsoid(TIPS).volume, 4.0 * np.pi / 3.0)",
        ),
        "(2.65)–(2.70)": (
            "iterate.rank_constrained(graphs.path([1.0] * 4), rank=1, share=0.95).purified.held()",
        ),
        "(2.103)–(2.106), 6.2": (
            "sdpdr.MVE(n_neighbors=4).fit(ROLL[:20]).explained_variance_ratio_.sum() > 0.99",
        ),
        "(1.37)–(1.44)": (
            "card('nmf-dnn-square')",
            "factorize.nonnegative_rank_bound(SQUARE).lower == 4",
        ),
        "(2.45), 4.2.1": (
            "all(factor.min() >= 0 for factor in nonnegative.clipped_svd(MATRIX, 2))",
        ),
        "(2.46)–(2.50)": (
            "card('nmf-shor-square')",
        ),
        "(2.51)–(2.54)": (
            "card('nmf-cones-latin-square')",
        ),
        "(2.55)–(2.60)": (
            "card('nmf-products-rank-one')",
        ),
        "(2.61)–(2.64)": (
            "card('nmf-lift-close')",
        ),
        "(2.71)–(2.73), (2.111)": (
            "card('nmf-lift-example')",
            "factorize.nmf(RANK_ONE, 1).error < 1e-8",
        ),
        "(3.80)–(3.84)": (
            "card('nmf-overlap-closed')",
            "nonnegative.cone_search(MATRIX, 2, tol=0.02).status.name == 'CLOSED'",
        ),
        "(2.74)–(2.79)": (
            "card('cp-lift-cycle-4', 'cp-cut-cycle')",
            "factorize.completely_positive(MATRIX @ MATRIX.T, 3).residual < 1e-6",
        ),
        "(4.85)–(4.89)": (
            "card('isometric-nmf-line', 'isometric-nmf-unit-rows')",
        ),
        "(2.95)–(2.102)": (
            "card('polynomial-moments-linear')",
        ),
        "(3.115)–(3.119), (4.120)": (
            "card('polynomial-moments-curved')",
            "factorize.polynomial(RANK_ONE + RANK_ONE**2 / 2.0, [1.0, 0.5]).error < 1e-8",
        ),
    },
    "Tong thesis": {
        "(2.1)–(2.3)": (
            "card('fantope-path-6')",
        ),
        "(2.14)": (
            "close(np.abs(baselines.classical_mds(IRIS, 2)), PRINCIPAL)",
        ),
        "(2.15)": (
            "correlation(baselines.lle(ON_ARC, 1, n_neighbors=4), ARC) > 0.99",
        ),
        "2.1.5, 2.2.1, 2.2.3": (
            "correlation(baselines.isomap(ON_ARC, 1, n_neighbors=4), ARC) > 0.9999",
            "correlation(baselines.laplacian_eigenmaps(ON_ARC, 1, n_neighbors=4), ARC) > 0.98",
        ),
        "(2.16)–(2.19)": (
            "close(sdpdr.solve(methods.mvu(LINE), via=[reduce.Landmark(PLACES)]).value, 21.0)",
        ),
        "(2.24)–(2.27)": (
            "card('mmmf-soft-five', 'mmmf-dual-five')",
            "factorize.mmmf(SIGNS, c=0.5).gap < 1e-3",
        ),
        "(2.28)–(2.32)": (
            "close(extend.trace_ratio(np.diag([4.0, 3, 0]), np.diag([2.0, 1, 1])).value, 7 / 3)",
            "LDA.score(IRIS, SPECIES) > 0.95",
        ),
        "(2.33)–(2.38)": (
            "card('anchored-triangle')",
            "correlation(extend.semisupervised_lle(ARC_GRAPH, EVERY_TENTH), ARC) > 0.999",
            "correlation(extend.semisupervised_isomap(ARC_GRAPH, EVERY_TENTH), ARC) > 0.999",
        ),
        "ours; near 2.4": (
            "card('distance-completion-hexagon')",
            "proved(sdpdr.DistanceCompletion(), APART)",
        ),
        "(2.39)–(2.48)": (
            "extend.BasisExpansion(8, grid=ARC).fit(WAVES).misfit_ < 1e-3",
        ),
        "(3.1)–(3.12)": (
            "card('mixed-labels-path')",
            "close(propagation.eigen(LABELS).ratio, propagation.alternating(LABELS).ratio)",
        ),
        "(3.13)": (
            "close(propagation.mixed_graph(LABELS).y[1], 0.0)",
        ),
        "(4.1), (4.6)": (
            "bilinear.glram(STACK).value >= bilinear.glram(STACK, max_iter=1).value - 1e-9",
        ),
        "(4.2)–(4.4)": (
            "card('sopca-single-matrix')",
        ),
        "(4.5)–(4.10)": (
            "card('sopca-gaussian-4', 'sopca-dual-gaussian-4')",
        ),
        "(5.3)–(5.20)": (
            "extend.BagIndex(50, seed=0).fit(BAGS).query(BAGS[2] + 0.1, 1)[0].tolist() == [2]",
        ),
    },
    "Cai thesis": {
        "(2.1)–(2.8)": (
            "close(extend.graph_embedding(FIVE_IN_A_ROW, 1).eigenvalues, np.cos(np.pi / 4.0))",
        ),
        "(2.9)–(2.19), (2.34)–(2.43)": (
            "separates(sdpdr.LPP(2, connect='mst')) > 0.9",
            "separates(sdpdr.NPE(2, connect='mst')) > 0.9",
            "close(pdist(OF_ALL_PAIRS.fit_transform(PLANE)), pdist(PLANE))",
            "LDA.score(IRIS, SPECIES) > 0.95",
        ),
        "(2.20)–(2.25)": (
            "sdpdr.SDA(connect='mst').fit(IRIS, HALF_KNOWN).score(IRIS, SPECIES) > 0.95",
        ),
        "(2.26)–(2.33)": (
            "separates(sdpdr.LSDA(2, connect='mst')) > 0.9",
        ),
        "(3.1)–(3.9)": (
            "close(sdpdr.SpectralRegression().fit(IRIS, SPECIES).eigenvalues_, LDA.eigenvalues_)",
            "close(extend.ridge(IRIS, 2.0 * IRIS + 1.0, alpha=0.0).coef, 2.0 * np.eye(4))",
        ),
        "(4.1)–(4.12)": (
            "close(extend.fit_kernel(KERNEL, IRIS, 1e-6)(KERNEL), IRIS, 1e-2)",
        ),
        "section 4.5": (
            "close(grown(KERNEL, IRIS).coef, extend.fit_kernel(KERNEL, IRIS).coef)",
        ),
        "(5.1)–(5.7)": (
            "card('sparse-direction-3')",
            "np.count_nonzero(SPARSE.fit(IRIS, SPECIES).components_) == 2",
        ),
        "(6.1)–(6.7)": (
            "close(extend.grid_laplacian((4, 5)) @ np.ones(20), 0.0)",
        ),
        "section 3.5.3": (
            "extend.precision_at(SEARCH.ask(IRIS[0]).ranking_, SPECIES == SPECIES[0], 20) == 1.0",
        ),
    },
    "Course notes": {
        "unfolding": (
            "card('swiss-roll-20')",
        ),
        "colored": (
            "card('colored-two-parts')",
            "proved(sdpdr.ColoredMVU(connect='mst'), PLANE, SIDE)",
        ),
        "actions": (
            "card('are-line')",
            "proved(sdpdr.ARE(n_neighbors=3), ROLL[:20], actions=np.zeros(19, dtype=int))",
        ),
        "metrics": (
            "card('metric-xing-clouds')",
            "separates(sdpdr.XingMetric()) > 0.9",
        ),
        "(1)": (
            "card('metric-ghodsi-clouds-200')",
            "separates(sdpdr.GhodsiMetric()) > 0.9",
        ),
    },
    "Review": {
        "(2.1)–(2.7)": (
            "card('fantope-30')",
            "close(np.abs(baselines.kernel_pca(IRIS, kernel='linear')), PRINCIPAL)",
        ),
        "(2.8)–(2.12)": (
            "close(pdist(baselines.classical_mds(APART, metric='precomputed')), pdist(PLANE))",
        ),
        "(2.13)": (
            "baselines.stress(APART, baselines.metric_mds(PLANE)) < 1e-6",
            "baselines.kruskal_stress(APART, baselines.nonmetric_mds(PLANE)) < 1e-2",
        ),
        "(2.14)": (
            "baselines.Sammon().fit(PLANE).stress_ < 1e-6",
        ),
        "(2.15)": (
            "correlation(baselines.laplacian_eigenmaps(ON_ARC, 1, n_neighbors=4), ARC) > 0.98",
        ),
        "section 2.5": (
            "extend.KernelEigenmaps().fit_transform(ROLL).shape == (60, 2)",
        ),
        "(2.18), (2.19)": (
            "correlation(baselines.embed('gplvm', np.column_stack([ON_ARC, ARC]), 1), ARC) > 0.99",
        ),
        "(2.16), (2.17)": (
            "correlation(baselines.isomap(ON_ARC, 1, n_neighbors=4), ARC) > 0.9999",
            "correlation(baselines.lle(ON_ARC, 1, n_neighbors=4), ARC) > 0.99",
        ),
        "(2.20)": (
            "close(np.abs(baselines.kernel_pca(IRIS, kernel='linear')), PRINCIPAL)",
        ),
    },
}  # fmt: skip


# -- the table -------------------------------------------------------------------------------------


class Row(NamedTuple):
    """A row of the page: the document, the place in print, and what stands there."""

    document: str
    place: str
    title: str


def rows(page: str) -> Iterator[Row]:
    """Read the tables of the page, without their headers."""
    for section in re.split(r"\n(?=[^\n]+\n=+\n)", page):
        document = section.strip().partition("\n")[0]
        for item in section.split("\n   * - ")[2:]:
            place, title, *_ = re.split(r"\n     - ", item)
            yield Row(document, place.strip(), re.sub(r":doc:`(.*?) <.*?>`", r"\1", title).strip())


def holds(commands: tuple[str, ...]) -> tuple[bool, str]:
    """Say whether all commands come out true, and name the first that does not."""
    for command in commands:
        try:
            if not eval(command):
                return False, f"false: {command}"
        except Exception as error:  # a row whose command fails is false, and says why
            return False, f"{command}: {type(error).__name__}: {error}"
    return True, ""


def main(words: list[str]) -> int:
    """Run the commands and print a line for each row."""
    warnings.simplefilter("ignore")
    page, failed = list(rows(PAGE.read_text(encoding="utf-8"))), 0
    for row in page:
        if words and not any(word.lower() in " ".join(row).lower() for word in words):
            continue
        commands, start = (
            COMMANDS[row.document].get(row.place, ("no command",)),
            time.process_time(),
        )
        works, why = holds(commands)
        failed += not works
        seconds = f"{time.process_time() - start:5.2f} s"
        cells = ["works" if works else "FAILS", seconds, *row, " and ".join(commands), why]
        print(" | ".join(cells).removesuffix(" | "), flush=True)
    known = {(row.document, row.place) for row in page}
    stray = [(name, place) for name, all_ in COMMANDS.items() for place in all_]
    for name, place in stray:
        if (name, place) not in known:
            failed += 1
            print(f"FAILS: {name} {place} is no row of the page")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
