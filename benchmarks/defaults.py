"""What a user gets who changes nothing: every estimator beside its rival and beside doing nothing.

    python benchmarks/defaults.py               # rewrites docs/tables/defaults.csv
    python benchmarks/defaults.py --only ISM    # the rows of one estimator anew

Rows are kept in benchmarks/defaults.json; a run of all measures every row anew. Rivals beyond
scikit-learn are taken where they are installed (``pip install ".[rivals]"``).
Estimators have their defaults; only a number of clusters or factors is given where there is none.
Qualities are shares, larger is better. Seconds are of the processor. Run with OMP_NUM_THREADS=1.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from defaults_measures import POINTS, SETS, STEPS, data
from defaults_tasks import TASKS, Task
from sklearn.base import clone
from tables import write_csv

KEPT = Path(__file__).with_suffix(".json")
SEEDS = (0, 1, 2)


def measured(
    task: Task, estimator: Any, name: str, seed: int, points: int = POINTS
) -> tuple[float, float]:
    """Quality of one run, and CPU seconds."""
    X, y = data(name, seed, points)
    y = y if task.target is None else task.target(name, X, seed)
    began = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        quality = task.measure(clone(estimator), X, y, seed)
    return quality, time.process_time() - began


def members(kind: str) -> dict[str, Any]:
    """What a task compares, by name, in the order of the table."""
    task = TASKS[kind]
    return {**task.ours, **task.rivals, "nothing": task.nothing}


def rows_of(kind: str, asked: Sequence[str]) -> list[list[str]]:
    """A row of the table for every estimator of a task that is asked for; for all if none is."""
    task = TASKS[kind]
    rows = []
    for label, estimator in members(kind).items():
        if asked and label not in asked:
            continue
        cells, seconds = [], 0.0
        for name in SETS:
            if name not in task.sets:
                cells.append("")
                continue
            runs = [measured(task, estimator, name, seed) for seed in SEEDS]
            cells.append(f"{np.mean([quality for quality, _ in runs]):.3f}")
            # What is compiled at the first run is no work of the others.
            seconds += float(np.median([spent for _, spent in runs]))
        rows.append([kind, label, *cells, f"{seconds / len(task.sets):.2f}"])
        print(*rows[-1], sep="  ", flush=True)
    return rows


def in_order(rows: list[list[str]], names: list[str]) -> list[list[str]]:
    """Rows by name; rivals that are not at hand now stand before the last, which is nothing."""
    return sorted(rows, key=lambda row: names.index(row[1]) if row[1] in names else len(names) - 2)


def values(row: list[str]) -> dict[str, float]:
    """Qualities of a row of the table, by data set."""
    return {name: float(cell) for name, cell in zip(SETS, row[2:], strict=False) if cell}


def near(value: float, other: float) -> bool:
    """Whether a quality is within two points, or 5 %, of another one, or better."""
    return value >= min(other - 0.02, 0.95 * other)


def losses(measured_rows: Mapping[str, list[list[str]]]) -> dict[tuple[str, str], list[str]]:
    """By aim and estimator, the sets on which it is more than two points below doing nothing."""
    lost = {}
    for kind, rows in measured_rows.items():
        found = {row[1]: values(row) for row in rows}
        nothing = found["nothing"]
        for name in TASKS[kind].ours:
            lost[kind, name] = [s for s, q in found[name].items() if not q >= nothing[s] - 0.02]
    return {who: sets for who, sets in lost.items() if sets}


def verdicts(measured_rows: Mapping[str, list[list[str]]]) -> list[str]:
    """Who loses to doing nothing, and who is seldom near the best rival, in words."""
    far = []
    for kind, rows in measured_rows.items():
        found = {row[1]: values(row) for row in rows}
        rivals = [found[name] for name in found if name not in ("nothing", *TASKS[kind].ours)]
        for name in TASKS[kind].ours:
            close = sum(near(q, max(row[s] for row in rivals)) for s, q in found[name].items())
            far += [f"{name} as {kind} ({close})"] if close < 3 else []
    worse = [
        f"{name} as {kind} ({', '.join(sets)})"
        for (kind, name), sets in losses(measured_rows).items()
    ]
    return [
        f"More than two points below doing nothing: {'; '.join(worse) or 'none'}.",
        "Within two points or 5 % of the best rival on fewer than three sets (on how many): "
        f"{'; '.join(far) or 'none'}.",
    ]


def main() -> None:
    """Measure, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--only", nargs="*", default=[], help="names of estimators")
    asked = parser.parse_args().only
    kept = json.loads(KEPT.read_text()) if asked else {}
    for kind in TASKS:
        rows = {row[1]: row for row in kept.get(kind, []) + rows_of(kind, asked)}
        kept[kind] = list(rows.values())
        KEPT.write_text(json.dumps(kept, indent=1) + "\n")
    found = {kind: in_order(kept[kind], list(members(kind))) for kind in TASKS}
    write_csv(
        "defaults",
        ["aim", "estimator", *SETS, "seconds"],
        [row for rows in found.values() for row in rows],
        command="python benchmarks/defaults.py",
        notes=[
            f"Means over three seeds of {POINTS} points each, of an agent of {STEPS + 1} states of "
            "a walk; wine and breast cancer with columns scaled, all else as it comes. Halves of a "
            "roll and of an S are their classes. "
            "Seconds of the processor: of the median seed, mean over data sets.",
            " ".join(f"*{kind}*: {task.words}." for kind, task in TASKS.items()),
            *verdicts(found),
        ],
    )


if __name__ == "__main__":
    main()
