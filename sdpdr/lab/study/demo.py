"""The demonstration: two unfoldings of real data, every solver compared, one report."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from rich.console import Console

from sdpdr import graphs
from sdpdr.base.arrays import Array
from sdpdr.base.deadline import Deadline
from sdpdr.base.errors import require_packages
from sdpdr.base.files import write_file
from sdpdr.base.progress import has_terminal
from sdpdr.families import methods
from sdpdr.families.unfold.quality import quality
from sdpdr.graphs import NeighborGraph
from sdpdr.lab import datasets, plot
from sdpdr.lab.study.compare import compare, comparison_table, terminal_table
from sdpdr.lab.study.page import Page, Picture, Section, Table, write_page
from sdpdr.lab.study.report import flat
from sdpdr.lab.study.schema import environment
from sdpdr.lab.study.task import Contestant
from sdpdr.model import Model
from sdpdr.program import Solution
from sdpdr.program.report import facts as solution_facts
from sdpdr.solvers.registry import SOLVERS
from sdpdr.solving.solve import solve

TITLE = "Maximum Variance Unfolding, solved and certified"
# First-order steps are many and small: a limit on their number makes the outcome repeatable.
SCS_STEPS = 5_000
# From these parts of their squared length on, lengths count as kept, or as kept in part.
_KEPT, _IN_PART = 0.9, 0.5
_LIMITATIONS = (
    "Certified means that the value and a bound proved by the multipliers agree to the relative "
    "tolerance, at a point whose constraints hold to the same tolerance, all in floating-point "
    "arithmetic. It says that the program was solved, not that the program suits the data.",
    "The inequality form lets lengths shrink but not grow. An unfolding may therefore be shorter "
    "than the manifold in places, and narrow regions of a sparse graph collapse to threads.",
    "Two coordinates are drawn; the spectra show how much of the variance they hold.",
    "Seconds are of one run on this machine, with the solvers' default settings and one time limit "
    "for all; they are a first impression, not a benchmark.",
)


@dataclass(frozen=True)
class DemoSizes:
    """Points of roll, digits and comparison, and the seconds, jobs and solvers of the last."""

    roll: int = 800
    digits: int = 1797
    compared: int = 60
    time_limit: float = 20.0
    jobs: int = 2
    solvers: tuple[str, ...] = tuple(SOLVERS)


QUICK = DemoSizes(
    roll=120, digits=200, compared=12, solvers=("lowrank", "mosek", "clarabel", "scs")
)


def demonstrate(out: Path, *, quick: bool = False) -> bool:
    """Write report, figures and records to a folder; return whether both answers are certified."""
    require_packages("comparisons of solvers", "study", "psutil")
    out.mkdir(parents=True, exist_ok=True)
    sizes = QUICK if quick else DemoSizes()
    watch = Deadline()
    errors = Console(stderr=True, soft_wrap=True, highlight=False)
    with errors.status("unfolding the swiss roll"):
        roll, roll_solution = unfold_roll(sizes.roll)
    errors.print(f"swiss roll: {roll_solution!r}\n            {roll.facts['answer']}")
    with errors.status("unfolding the digits"):
        digits, digits_solution = unfold_digits(sizes.digits)
    errors.print(f"digits:     {digits_solution!r}\n            {digits.facts['answer']}")
    compared, runs = compare_all(sizes)
    console = Console(width=None if has_terminal(sys.stdout) else 160)
    console.print(terminal_table(comparison_table(runs).drop(columns="message")))

    solutions = {"swiss-roll": roll_solution, "digits": digits_solution}
    summary = summarize(solutions, runs)
    with errors.status("writing the report"):
        verdict = [f"{section.title}: {section.facts['answer']}." for section in (roll, digits)]
        last = Section("limitations", "Limitations", points=_LIMITATIONS)
        machine = Section("machine", "Machine and versions", facts=flat(environment(1)))
        page = Page(TITLE, summary, verdict, [roll, digits, compared, last, machine])
        save(out, page, solutions, runs)
    errors.print(f"{summary} All of it took {watch.spent:.0f} s.")
    Console(soft_wrap=True).print(f"report: {out / 'report.html'}", highlight=False)
    return all(solution.certified() for solution in solutions.values())


def unfold_roll(n: int) -> tuple[Section, Solution]:
    """Unfold a swiss roll, and describe it."""
    X, t = datasets.swiss_roll(n, seed=0)
    graph = graphs.knn(X, n_neighbors=6)
    model = methods.mvu(graph)
    solution = solve(model, "lowrank")
    spectrum = solution.spectrum()
    caption = "Unfolded: the first two coordinates, with the edges of the neighbour graph."
    draw = partial(
        plot.embedding, solution.embedding(2), t, edges=graph.edges, label="position along the roll"
    )
    text = (
        "A rectangle rolled up in space. Only the distances between near neighbours are kept, and "
        "may shrink but not grow, while all points are pulled as far apart as these allow: the "
        "roll opens. Of the variance of the best embedding in any number of dimensions, two "
        f"dimensions hold {spectrum[:2].sum() / spectrum.sum():.0%}."
    )
    pictures = [Picture("swiss-roll-embedding", caption, draw)]
    title = f"Swiss roll, {n} points"
    return _unfolding("swiss-roll", title, text, pictures, graph, model, solution)


def unfold_digits(n: int) -> tuple[Section, Solution]:
    """Unfold images of digits, and describe them."""
    X, classes = datasets.digits(n)
    graph = graphs.knn(X, n_neighbors=4, connect="none").largest_component()
    kept = representatives(graph)
    images, classes = X[kept].reshape(-1, 8, 8), classes[kept]
    model = methods.mvu(graph)
    solution = solve(model, "lowrank")
    caption = (
        "Unfolded: as many images as find room, in the colour of their class; the rest are dots."
    )
    draw = partial(plot.embedding, solution.embedding(2), classes, images=images, label="digit")
    text = (
        f"Each image of 8 x 8 pixels is a point with 64 coordinates. Of {n} images the graph of 4 "
        f"nearest neighbours joins {graph.n}, its largest component, and these are unfolded. The "
        "program knows no class: the colours are added afterwards."
    )
    title = f"Handwritten digits, {graph.n} images"
    pictures = [Picture("digits-embedding", caption, draw)]
    return _unfolding("digits", title, text, pictures, graph, model, solution)


def _unfolding(
    name: str,
    title: str,
    text: str,
    pictures: Sequence[Picture],
    graph: NeighborGraph,
    model: Model,
    solution: Solution,
) -> tuple[Section, Solution]:
    """Section on an unfolded graph: the given pictures, then what the answer itself shows."""
    Y, spectrum = solution.embedding(2), solution.spectrum()
    own = [
        Picture(
            f"{name}-weights",
            "Dual weight of each edge: the tension of a spring network that holds the unfolding in "
            "equilibrium. Thin grey edges carry almost nothing.",
            partial(plot.dual_weights, Y, graph.edges, solution.duals["isometry"]),
        ),
        Picture(
            f"{name}-spectrum",
            "Eigenvalues of the Gram matrix as shares of the variance, alone and added up. Rings "
            "are rounding errors.",
            partial(plot.spectrum, spectrum),
        ),
    ]
    if solution.history:
        words = (
            "Above, the value and the proven bound. Below, their relative distance, and how far "
            "the point is from feasible and stationary."
        )
        own.append(
            Picture(f"{name}-convergence", words, partial(plot.convergence, solution.history))
        )
    facts = {"answer": verdict_on(graph, solution)} | _graph_facts(graph) | solution_facts(solution)
    facts |= quality(graph, Y, spectrum=spectrum).facts()
    code = {"The program": model.describe()}
    return Section(name, title, [text], [*pictures, *own], facts=facts, code=code), solution


def compare_all(sizes: DemoSizes) -> tuple[Section, pd.DataFrame]:
    """Run one small instance through every solver, in each form that it takes."""
    X, _ = datasets.swiss_roll(sizes.compared, seed=0)
    graph = graphs.knn(X, n_neighbors=4)
    model = methods.mvu(graph)
    steps = {"scs": {"max_iter": SCS_STEPS}}
    solvers = [Contestant(name, options=steps.get(name, {})) for name in sizes.solvers]
    runs = compare(model, solvers, time_limit=sizes.time_limit, jobs=sizes.jobs)
    graded = runs[runs["total"].notna()]
    pictures = []
    if len(graded):
        names = list(graded["solver"] + ", " + graded["form"])
        figure = partial(plot.runs, names, graded["gap"], graded["total"], graded["tol"].iloc[0])
        caption = "How far each answer is from its proven bound, and its total seconds."
        pictures = [Picture("solvers-runs", caption, figure)]
    text = (
        "The same program in every form that each solver takes. Whatever a solver claims, the "
        "value, the bound, the gap and the residual are computed by us from the program. The "
        f"dashed line is the requested relative gap; SCS was given {SCS_STEPS} steps."
    )
    facts = _graph_facts(graph) | {"time limit": f"{sizes.time_limit:g} s for each run"}
    title = f"One instance, every solver: swiss roll with {graph.n} points"
    tables, code = [Table(comparison_table(runs))], {"The program": model.describe()}
    return Section("solvers", title, [text], pictures, tables, facts, code=code), runs


def verdict_on(graph: NeighborGraph, solution: Solution) -> str:
    """Say whether an unfolding is certified, and how far it and its picture keep lengths."""
    drawn = _squared_lengths(graph, solution.embedding(2))
    in_all = _squared_lengths(graph, solution.embedding(len(solution.spectrum())))
    total = graph.sqdist.sum()
    words = _fate_of_lengths(graph.sqdist, drawn)
    grade, kept = solution.certified(), words == "kept"
    return (
        f"{'certified' if grade else 'not certified'}, {'and' if grade == kept else 'but'} lengths "
        f"were {words}: edges have {drawn.sum() / total:.0%} of their squared length in the two "
        f"dimensions of the picture, and {in_all.sum() / total:.0%} in all dimensions of the "
        "unfolding"
    )


def _fate_of_lengths(data: Array, drawn: Array) -> str:
    """Whether squared lengths were kept; the gain of one edge does not offset another's loss."""
    larger = np.maximum(data, drawn)
    part = np.divide(np.minimum(data, drawn), larger, out=np.ones_like(data), where=larger > 0.0)
    lost = data * (1.0 - part)
    kept = 1.0 - float(lost.sum() / data.sum())
    if kept >= _KEPT:
        return "kept"
    if lost[drawn > data].sum() > 0.5 * lost.sum():
        return "stretched"
    return "kept in part" if kept >= _IN_PART else "not kept"


def _squared_lengths(graph: NeighborGraph, Y: Array) -> Array:
    i, j = graph.edges.T
    return np.asarray(np.sum(np.square(Y[i] - Y[j]), axis=1))


def _graph_facts(graph: NeighborGraph) -> dict[str, str]:
    return {"points": f"{graph.n}", "edges": f"{graph.m}", "graph": str(graph.provenance)}


def representatives(graph: NeighborGraph) -> np.ndarray:
    """Return the first original point of each node."""
    kept = np.flatnonzero(graph.index >= 0)
    _, first = np.unique(graph.index[kept], return_index=True)
    return kept[first]


def summarize(solutions: Mapping[str, Solution], runs: pd.DataFrame) -> str:
    """Summarize everything that was solved."""
    answers = solutions.values()
    worst = max(abs(solution.gap) for solution in answers)
    certified = sum(solution.certified() for solution in answers)
    seconds = sum(sum(solution.timings.values()) for solution in answers)
    return (
        f"{certified} of {len(answers)} unfoldings are certified (largest relative gap "
        f"{worst:.0e}, {seconds:.1f} s together). On one small instance "
        f"{runs['certified'].sum()} of {runs['total'].notna().sum()} runs end certified."
    )


def save(out: Path, page: Page, solutions: Mapping[str, Solution], runs: pd.DataFrame) -> None:
    """Write the report, every figure as PNG, and the records of solutions and runs."""
    write_page(page, out / "report.html")
    for picture in (picture for section in page.sections for picture in section.pictures):
        write_file(out / f"{picture.name}.png", partial(picture.figure().savefig, dpi=200))
    for name, solution in solutions.items():
        solution.save_record(out / f"{name}.json")
    write_file(
        out / "comparison.json",
        partial(runs.to_json, orient="records", indent=2, double_precision=15),
    )
