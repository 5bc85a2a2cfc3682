"""scikit-learn's contract: every check of its, on every estimator as it comes.

    python benchmarks/contract.py                  # rewrites docs/tables/contract.csv
    python benchmarks/contract.py --only MVU NMF   # their rows anew

Checks that fail are named in EXPECTED, each with its reason; tests/estimators/test_contract.py
holds every estimator to them. Any other failure ends this program with an error.
Rows are kept in benchmarks/contract.json. Run with OMP_NUM_THREADS=1; half an hour.
"""

from __future__ import annotations

import argparse
import json
import signal
import sys
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import SkipTest

import numpy as np
import scipy.sparse as sp
import sklearn
from sklearn.utils import estimator_checks
from tables import write_csv

import sdpdr
from sdpdr import baselines, extend

# Bases, which have no program of their own.
_BASES = ("GramEmbedding", "LengthEmbedding", "GraphProjection")

PAIRS = (
    "`predict` takes users and items, one for one, and returns an entry for each pair; the check "
    "passes rows of X to it"
)
SIGNS = "entries must be 1, -1 or 0, and those of the check's data are other numbers"
PLACED = (
    "y holds coordinates, and the check gives those of all points, so that nothing is left to find"
)
UNKNOWN = "-1 is a class in that check; here it is a label that is not known"
SAME = "rows of zeros in the check's data have labels that differ, and one point has one side"
DISTANCES = "X holds distances between the points, and the check passes points"
AFFINITY = "X is an affinity by default, and the check passes points"

_PREDICTS = (
    "check_n_features_in_after_fitting", "check_estimators_dtypes", "check_dtype_object",
    "check_estimators_pickle", "check_f_contiguous_array_estimator",
    "check_methods_sample_order_invariance", "check_methods_subset_invariance",
    "check_dict_unchanged", "check_fit2d_predict1d",
)  # fmt: skip
_FITS = (
    "check_fit_score_takes_y", "check_estimators_overwrite_params",
    "check_dont_overwrite_parameters", "check_estimators_fit_returns_self",
    "check_readonly_memmap_input", "check_n_features_in_after_fitting",
    "check_positive_only_tag_during_fit", "check_estimators_dtypes", "check_dtype_object",
    "check_pipeline_consistency", "check_estimators_pickle",
    "check_f_contiguous_array_estimator", "check_methods_sample_order_invariance",
    "check_methods_subset_invariance", "check_fit2d_1feature", "check_dict_unchanged",
    "check_fit_idempotent", "check_fit_check_is_fitted", "check_n_features_in",
    "check_fit2d_predict1d",
)  # fmt: skip
_SPARSE = (
    "check_estimator_sparse_tag", "check_estimator_sparse_array", "check_estimator_sparse_matrix",
    "check_fit2d_1sample",
)  # fmt: skip

EXPECTED: Mapping[str, Mapping[str, str]] = {
    "AnchoredMVU": dict.fromkeys((*_FITS, *_SPARSE[:3], "check_estimators_nan_inf"), PLACED),
    "CompletelyPositive": {"check_clustering": AFFINITY},
    "DistanceCompletion": dict.fromkeys((*_FITS, *_SPARSE[:3], "check_complex_data"), DISTANCES),
    "ISM": {"check_classifiers_classes": UNKNOWN, **dict.fromkeys(_SPARSE[:3], SAME)},
    "MMMF": dict.fromkeys((*_FITS, *_SPARSE), SIGNS),
    "MMMF of signs": dict.fromkeys((*_PREDICTS, "check_fit_idempotent"), PAIRS),
    "MixedLabelPropagation": {"check_classifiers_classes": UNKNOWN},
    "RatingMMMF": dict.fromkeys((*_PREDICTS, "check_fit_idempotent"), PAIRS),
}

# Seconds of the clock that a check is given: fits that solve in a process of their own spend next
# to no processor time in this one.
SECONDS = 20.0
KEPT = Path(__file__).with_suffix(".json")


class _Over(BaseException):
    """No exception, so that nothing that is checked takes it for one of its own."""


@contextmanager
def _at_most(seconds: float | None, over: list[bool]) -> Iterator[None]:
    if seconds is None:
        yield
        return

    def end(*_: object) -> None:
        # Some checks make an error of their own of whatever is raised.
        over.append(True)
        raise _Over

    before = signal.signal(signal.SIGALRM, end)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


class Unplaced(sdpdr.AnchoredMVU):
    """`AnchoredMVU` that is told no coordinates."""

    def fit(self, X: Any, y: Any = None) -> Unplaced:
        """Fit without y."""
        return super().fit(X)


class SignsOf(sdpdr.MMMF):
    """`MMMF` of the signs of what it is given, about the median, since some data are positive."""

    def fit(self, X: Any, y: Any = None) -> SignsOf:
        """Fit to signs."""
        return super().fit(_signs(X))

    def score(self, X: Any, y: Any = None) -> float:
        """Share of the signs."""
        return super().score(_signs(X))


def _signs(X: Any) -> Any:
    if sp.issparse(X):
        found = X.tocsr().astype(float)
        found.data -= np.median(found.data)
        return found.sign()
    found = np.asarray(X) if isinstance(X, list) else X
    return np.sign(found - np.median(np.asarray(found)))


def every() -> dict[str, Any]:
    """The default instance of every public estimator, by name."""
    kinds = {name: getattr(sdpdr.estimators, name) for name in sdpdr.estimators.__all__}
    fitted = {
        name: kind
        for name, kind in kinds.items()
        if hasattr(kind, "get_params") and name not in _BASES
    }
    more = (
        baselines.SPE, baselines.Sammon, baselines.GPLVM,
        extend.BasisExpansion, extend.KernelEigenmaps, extend.RelevanceFeedback,
    )  # fmt: skip
    fitted |= {kind.__name__: kind for kind in more}
    return {name: kind() for name, kind in sorted(fitted.items())}


def with_data_of_its_own() -> dict[str, Any]:
    """Estimators that the checks' data do not suit, with what they are made for."""
    return {"AnchoredMVU without y": Unplaced(), "MMMF of signs": SignsOf()}


def verdicts(
    name: str, estimator: Any, seconds: float | None = None
) -> Iterator[tuple[str, str, str]]:
    """Name of each check, what came of it (passed, skipped, stopped, expected, failed), and why.

    As `sklearn.utils.estimator_checks.check_estimator`, which ends no check that takes too long.
    """
    for fresh, check in estimator_checks.estimator_checks_generator(estimator):
        called = check.func.__name__
        reason, over = EXPECTED.get(name, {}).get(called), list[bool]()
        try:
            with warnings.catch_warnings(), _at_most(seconds, over):
                warnings.simplefilter("ignore")
                check(fresh)
        except SkipTest as skipped:
            yield called, "skipped", str(skipped)
        except (Exception, _Over) as failure:
            if over:
                yield called, "stopped", f"more than {seconds:g} seconds"
                continue
            kind = "failed" if reason is None else "expected"
            yield called, kind, reason or f"{type(failure).__name__}: {failure}"
        else:
            yield called, "passed", reason or ""


KINDS = ("passed", "skipped", "stopped", "expected", "failed")


def row_of(name: str, estimator: Any, seconds: float) -> list[object]:
    """Counts of what came of the checks, and why not all passed."""
    found = list(verdicts(name, estimator, seconds))
    for check, kind, reason in found:
        if kind == "failed":
            print(f"{name}: {check}: {reason[:200]}", file=sys.stderr)
    count = Counter(kind for _, kind, _ in found)
    why = Counter((kind, reason) for _, kind, reason in found if kind in ("stopped", "expected"))
    told = [f"{kind.capitalize()}: {reason} ({n})." for (kind, reason), n in why.items()]
    return [name, *(count[kind] for kind in KINDS), " ".join(told)]


def main() -> None:
    """Check, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    all_of_them = {**every(), **with_data_of_its_own()}
    parser.add_argument("--only", nargs="*", default=list(all_of_them))
    parser.add_argument("--seconds", type=float, default=SECONDS, help="at most, for each check")
    asked = parser.parse_args()
    kept = json.loads(KEPT.read_text()) if KEPT.exists() else {}
    for name in asked.only:
        row = row_of(name, all_of_them[name], asked.seconds)
        print(*row, sep="  ", flush=True)
        kept = json.loads(KEPT.read_text()) if KEPT.exists() else {}
        kept[name] = row
        KEPT.write_text(json.dumps(kept, indent=1) + "\n")
    rows = [kept[name] for name in all_of_them if name in kept]
    missing = [name for name in all_of_them if name not in kept]
    write_csv(
        "contract",
        ["estimator", "passed", "skipped", "stopped", "expected to fail", "unexplained", "why"],
        rows,
        command="python benchmarks/contract.py",
        notes=[
            "Every estimator that can be fitted, with its defaults, and the checks of "
            f"``sklearn.utils.estimator_checks`` of scikit-learn {sklearn.__version__}. Skipped is "
            "what scikit-learn skips: array types that are not installed. Stopped is a check that "
            "had not ended in its time (``--seconds``), of which nothing is said. "
            "*AnchoredMVU without y* and *MMMF of signs* are the same estimators on data that "
            "suit them.",
            *([f"Not measured here: {', '.join(missing)}."] if missing else []),
        ],
    )
    unexplained = sum(row[-2] for row in rows)
    sys.exit(f"{unexplained} checks failed that no reason explains." if unexplained else 0)


if __name__ == "__main__":
    main()
