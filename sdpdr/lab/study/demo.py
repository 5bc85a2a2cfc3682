"""The demonstration, ``sdpdr demo``: real data unfolded, every solver compared, one report."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from rich.console import Console

from sdpdr import graphs
from sdpdr.base.deadline import Deadline
from sdpdr.base.files import write_file
from sdpdr.base.progress import has_terminal
from sdpdr.families import methods
from sdpdr.graphs import NeighborGraph
from sdpdr.lab import datasets, plot
from sdpdr.lab.study.compare import Comparison, compare
from sdpdr.lab.study.page import Chart, Page, Section, write_page
from sdpdr.lab.study.page.parts import listed, told
from sdpdr.lab.study.report import comparing, picture, report, unfolding
from sdpdr.program import Solution
from sdpdr.solvers.registry import SOLVERS, find
from sdpdr.solving.solve import solve

TITLE = "Maximum Variance Unfolding, solved and certified"
STEPS = 5_000


@dataclass(frozen=True)
class DemoSizes:
    """How much is done.

    Attributes
    ----------
    roll, digits : int
        Points of the swiss roll, and images before the largest connected part is taken.
    compared : int
        Points of the instance that all solvers get.
    time_limit : float
        Seconds for each of them.
    jobs : int or None
        As for `sdpdr.lab.study.compare.compare`.
    solvers : tuple of str
        Default: all.
    """

    roll: int = 800
    digits: int = 1797
    compared: int = 60
    time_limit: float = 20.0
    jobs: int | None = 2
    solvers: tuple[str, ...] = tuple(SOLVERS)


QUICK = DemoSizes(
    roll=120, digits=200, compared=12, jobs=None, solvers=("lowrank", "mosek", "clarabel", "scs")
)


def demonstrate(out: Path, *, quick: bool = False) -> bool:
    """Run the demonstration.

    Parameters
    ----------
    out : Path
        Directory for what it writes.
    quick : bool, default False
        Smaller data, for a first look.

    Returns
    -------
    bool
        Whether both unfoldings are certified.
    """
    out.mkdir(parents=True, exist_ok=True)
    sizes = QUICK if quick else DemoSizes()
    watch = Deadline()
    said = Console(stderr=True, soft_wrap=True, highlight=False)

    with said.status("unfolding the swiss roll"):
        roll, roll_solution = unfold_roll(sizes.roll)
    said.print(f"swiss roll: {roll_solution!r}\n            {roll.facts['answer']}")
    with said.status("unfolding the digits"):
        digits, digits_solution = unfold_digits(sizes.digits)
    said.print(f"digits:     {digits_solution!r}\n            {digits.facts['answer']}")
    compared, comparison = compare_all(sizes)
    Console(width=None if has_terminal(sys.stdout) else 160).print(comparison.table())

    unfoldings = {"swiss-roll": roll_solution, "digits": digits_solution}
    summary = summarize(unfoldings.values(), comparison)
    with said.status("writing the report"):
        verdict = [f"{section.title}: {section.facts['answer']}." for section in (roll, digits)]
        page = report(TITLE, summary, (roll, digits, compared), listed("demonstration"), verdict)
        save(out, page, unfoldings, comparison)
    seconds = watch.spent
    said.print(f"{summary} All of it took {seconds:.0f} s.")
    Console(soft_wrap=True).print(f"report: {out / 'report.html'}", highlight=False)
    return all(solution.certified() for solution in unfoldings.values())


def unfold_roll(n: int) -> tuple[Section, Solution]:
    """The swiss roll: a rectangle, rolled up in space."""
    X, t = datasets.swiss_roll(n, seed=0)
    graph = graphs.knn(X, n_neighbors=6)
    model = methods.mvu(graph)
    solution = solve(model, "lowrank")
    label, order = "position along the roll", np.argsort(t)
    spectrum = solution.spectrum()
    flat = spectrum[:2].sum() / spectrum.sum()
    section = unfolding(
        "swiss-roll",
        told("swiss-roll", n=n),
        told("swiss-roll-words", flat=f"{flat:.0%}"),
        graph=graph,
        model=model,
        solution=solution,
        pictures=(
            _picture("swiss-roll-data", plot.cloud(X, t, label=label)),
            _picture("swiss-roll-pattern", plot.sparsity(graph.laplacian()[order][:, order])),
            _picture(
                "swiss-roll-embedding",
                plot.embedding(solution.embedding(2), t, edges=graph.edges, label=label),
            ),
        ),
    )
    return section, solution


def unfold_digits(n: int) -> tuple[Section, Solution]:
    """Handwritten digits: images as points with 64 coordinates."""
    X, classes = datasets.digits(n)
    graph = graphs.knn(X, n_neighbors=4, connect="none").largest_component()
    X, classes = X[representatives(graph)], classes[representatives(graph)]
    model = methods.mvu(graph)
    solution = solve(model, "lowrank")
    Y = solution.embedding(2)
    of_images = plot.embedding(Y, classes, images=X.reshape(-1, 8, 8), label="digit")
    of_classes = plot.embedding(Y, classes, edges=graph.edges, label="digit")
    section = unfolding(
        "digits",
        told("digits", n=graph.n),
        told("digits-words", n=graph.n, all=n),
        graph=graph,
        model=model,
        solution=solution,
        pictures=(
            _picture("digits-embedding", of_images),
            _picture("digits-classes", of_classes),
        ),
    )
    return section, solution


def compare_all(sizes: DemoSizes) -> tuple[Section, Comparison]:
    """One small instance through every solver, in each form that it takes."""
    X, _ = datasets.swiss_roll(sizes.compared, seed=0)
    graph = graphs.knn(X, n_neighbors=4)
    model = methods.mvu(graph)
    # First-order steps are many and small: a limit on their number makes the outcome repeatable.
    solvers = [find(name)(max_iter=STEPS if name == "scs" else None) for name in sizes.solvers]
    comparison = compare(model, solvers, time_limit=sizes.time_limit, jobs=sizes.jobs)
    section = comparing(
        "solvers",
        told("solvers", n=graph.n),
        told("solvers-words", steps=STEPS),
        graph=graph,
        model=model,
        comparison=comparison,
    )
    return section, comparison


def _picture(name: str, figure: Figure) -> Chart:
    return picture(name, figure, told(name))


def representatives(graph: NeighborGraph) -> np.ndarray:
    """The first original point of each node."""
    kept = np.flatnonzero(graph.index >= 0)
    _, first = np.unique(graph.index[kept], return_index=True)
    return kept[first]


def summarize(solutions: Iterable[Solution], comparison: Comparison) -> str:
    """One sentence on everything that was solved."""
    answers = tuple(solutions)
    worst = max(abs(solution.gap) for solution in answers)
    certified = sum(solution.certified() for solution in answers)
    seconds = sum(sum(solution.timings.values()) for solution in answers)
    return (
        f"{certified} of {len(answers)} unfoldings are certified (largest relative gap "
        f"{worst:.0e}, {seconds:.1f} s together). On one small instance "
        f"{comparison.n_certified} of {len(comparison.solutions)} runs end certified."
    )


def save(out: Path, page: Page, solutions: dict[str, Solution], comparison: Comparison) -> None:
    """The report, every figure as PNG beside it, and the record of every solution as JSON."""
    write_page(page, out / "report.html")
    for chart in (chart for section in page.sections for chart in section.charts):
        if chart.still is not None:
            write_file(out / f"{chart.name}.png", partial(chart.still().savefig, dpi=200))
    for name, solution in solutions.items():
        solution.save_record(out / f"{name}.json")
    comparison.save_json(out / "comparison.json")
