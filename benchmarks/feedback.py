"""Relevance feedback on handwritten digits: section 3.5.3 of Cai's thesis on data at hand.

    python benchmarks/feedback.py                # rewrites docs/tables/feedback.rst
    python benchmarks/feedback.py --queries 4 --dry-run

A simulated user labels the first ten objects without a label in each of four rounds.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import KFold
from tables import write_table

from sdpdr.base.arrays import Array, Index
from sdpdr.extend import RelevanceFeedback, precision_at

SCOPES, ROUNDS, SHOWN, FOLDS = (10, 50, 100), 4, 10, 5
HEAD = ("ranking", *(f"after {r} rounds, first {s}" for r in (1, 2, 4) for s in SCOPES), "seconds")

# Rankings before labels and after each round.
Search = Callable[[Array, Array, Array], list[Index]]


def spectral(by: str) -> Search:
    """Rankings of `RelevanceFeedback`, in four rounds whether or not the user is satisfied."""

    def search(gallery: Array, query: Array, relevant: Array) -> list[Index]:
        feedback = RelevanceFeedback(SHOWN, by=by).fit(gallery).ask(query)
        rankings = [feedback.ranking_]
        for _ in range(ROUNDS):
            shown = feedback.shown()
            rankings.append(feedback.label(shown, relevant[shown]).ranking_)
        return rankings

    return search


def moved_query(gallery: Array, query: Array, relevant: Array) -> list[Index]:
    """Rocchio's rule: distances from the query moved to relevant and off irrelevant objects."""
    known = np.zeros(len(gallery), dtype=bool)
    place, rankings = query, []
    for _ in range(ROUNDS + 1):
        rankings.append(np.argsort(np.linalg.norm(gallery - place, axis=1), kind="stable"))
        fresh = rankings[-1][~known[rankings[-1]]][:SHOWN]
        known[fresh] = True
        liked = np.vstack([query, gallery[known & relevant]])
        place = liked.mean(axis=0)
        if np.any(known & ~relevant):
            place = place + 0.25 * (place - gallery[known & ~relevant].mean(axis=0))
    return rankings


def unmoved(gallery: Array, query: Array, relevant: Array) -> list[Index]:
    """Distances from the query, whatever the user says."""
    away = np.linalg.norm(gallery - query, axis=1)
    return [np.argsort(away, kind="stable")] * (ROUNDS + 1)


RANKINGS: dict[str, Search] = {
    "distances, no feedback": unmoved,
    "query moved (Rocchio)": moved_query,
    '``by="distance"`` (thesis)': spectral("distance"),
    '``by="response"`` (default)': spectral("response"),
}


def measured(search: Search, queries: int) -> tuple[Array, float]:
    """Mean precision, (rounds + 1, scopes), and processor seconds of a query."""
    X, digit = load_digits(return_X_y=True)
    found, start = [], time.process_time()
    for kept, asked in KFold(FOLDS, shuffle=True, random_state=0).split(X):
        for q in asked[:queries]:
            relevant = digit[kept] == digit[q]
            rankings = search(X[kept], X[q], relevant)
            found.append([[precision_at(r, relevant, s) for s in SCOPES] for r in rankings])
    return np.mean(found, axis=0), (time.process_time() - start) / len(found)


def main() -> None:
    """Measure all rankings and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--queries", type=int, default=40, help="of each fold")
    parser.add_argument("--dry-run", action="store_true", help="print, write nothing")
    options = parser.parse_args()
    rows = []
    for name, search in RANKINGS.items():
        precision, seconds = measured(search, options.queries)
        cells = [f"{100.0 * precision[r, s]:.1f}" for r in (1, 2, 4) for s in range(len(SCOPES))]
        rows.append((name, *cells, f"{seconds:.3f}"))
        print(*rows[-1], sep="  ")
    if not options.dry_run:
        write_table(
            "feedback",
            HEAD,
            rows,
            command="python benchmarks/feedback.py",
            notes=(
                f"Precision in percent: relevant objects among the first 10, 50 and 100. The 1797 "
                f"digits of scikit-learn in {FOLDS} folds; {options.queries} queries of each are "
                f"asked of the other four. The user labels the {SHOWN} best objects without a "
                "label, and is never satisfied. Seconds are of the processor, for a query.",
                "The images of the thesis (COREL) are not public, and it has curves only, without "
                "this plain rival: classes of digits are single clouds, and a query moved into "
                "the middle of its cloud ranks better than the one direction of two classes.",
            ),
        )


if __name__ == "__main__":
    main()
