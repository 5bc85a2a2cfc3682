"""What the words of the page "From scikit-learn" cost, theirs and ours.

    python benchmarks/from_sklearn.py          the table of the documentation
    python benchmarks/from_sklearn.py --dry    printed only

The words are read from the page. Each line is a process of its own for each number of points, which
runs both words once, so that imports are not counted, and then three times more. One that fails
ends all.
"""

from __future__ import annotations

import argparse
import re
import statistics
import warnings
from collections.abc import Callable
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np
from journal import processor_seconds
from tables import write_table

PAGE = Path(__file__).parents[1] / "docs" / "guide" / "from_sklearn.rst"
ROWS = re.compile(r"   \* - ``(.+?)``\n     - ``(.+)``\n")
SIZES, REPEATS, PATIENCE = (200, 1000), 3, 120.0


def words() -> list[tuple[str, str]]:
    """Words in scikit-learn, and ours for the same task."""
    return ROWS.findall(PAGE.read_text(encoding="utf-8"))


def names(points: int) -> dict[str, Any]:
    """What the words are about, as the page says: points, labels, a matrix without negatives."""
    from sklearn import covariance, decomposition, discriminant_analysis, manifold, neighbors
    from sklearn.semi_supervised import LabelPropagation

    import sdpdr

    X, t = sdpdr.datasets.swiss_roll(points, seed=0)
    V, _ = sdpdr.datasets.random_nonnegative(points // 10, 5, rank=2)
    known = {"np": np, "sdpdr": sdpdr, "X": X, "Y": (t > 9).astype(int), "V": V}
    for room in (covariance, decomposition, discriminant_analysis, manifold, neighbors):
        known |= {name: getattr(room, name) for name in room.__all__}
    return known | {"LabelPropagation": LabelPropagation}


def measure(pair: tuple[str, str], points: int, told: Connection) -> None:
    """Send the seconds of both words, the median of several runs of each."""
    warnings.simplefilter("ignore")
    known = names(points)
    for text in pair:
        code = compile(text, "the page", "eval")
        told.send(statistics.median(timed(lambda code=code: eval(code, known))))


def timed(work: Callable[[], object]) -> list[float]:
    """Processor seconds of runs after the first."""
    work()
    seconds = []
    for _ in range(REPEATS):
        before = processor_seconds()
        work()
        seconds.append(processor_seconds() - before)
    return seconds


def both(pair: tuple[str, str], points: int) -> list[str]:
    """Seconds of both, or that it takes too long."""
    context = get_context("spawn")
    here, there = context.Pipe()
    process = context.Process(target=measure, args=(pair, points, there))
    process.start()
    there.close()
    seconds = [f"{here.recv():.3f}" if here.poll(PATIENCE) else "longer" for _ in pair]
    process.terminate()
    process.join()
    return seconds


def main() -> None:
    """Measure all, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--dry", action="store_true", help="print, and write nothing")
    dry = parser.parse_args().dry
    rows = []
    for pair in words():
        cells = [cell for points in SIZES for cell in both(pair, points)]
        rows.append((*(f"``{short(text)}``" for text in pair), *cells))
        print(*rows[-1], flush=True)
    if not dry:
        head = ["in scikit-learn", "here"]
        head += [f"{points:,} points, {whose}" for points in SIZES for whose in ("there", "here")]
        write_table(
            "from_sklearn",
            head,
            rows,
            command="python benchmarks/from_sklearn.py",
            notes=[
                "Seconds of the processor, one thread, imports not counted, the median of "
                f"{REPEATS} runs. V has a tenth as many rows as there are points, and 5 columns. "
                f"Longer is longer than {PATIENCE:.0f} seconds with all runs."
            ],
        )


def short(text: str) -> str:
    """The class or the function that is called.

    Examples
    --------
    >>> short('sdpdr.LDA().fit(X, Y).transform(X)'), short('sdpdr.solve(sdpdr.methods.mvu(1))')
    ('sdpdr.LDA', 'sdpdr.methods.mvu')
    """
    return text.removeprefix("sdpdr.solve(").partition("(")[0]


if __name__ == "__main__":
    main()
