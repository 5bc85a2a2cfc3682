"""The demonstration: two unfoldings of real data, every solver compared, one report."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from rich.console import Console

from sdpdr import graphs
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
from sdpdr.program import Solution
from sdpdr.program.report import facts
from sdpdr.solvers.registry import SOLVERS
from sdpdr.solving.solve import solve

TITLE = "Maximum Variance Unfolding, solved and certified"
# First-order steps are many and small: a limit on their number makes the outcome repeatable.
SCS_STEPS = 5_000
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


def demonstrate(out: Path, *, quick: bool = False) -> bool:
    """Write report, figures and records to a folder; return whether both answers are certified."""
    require_packages("comparisons of solvers", "study", "psutil")
    out.mkdir(parents=True, exist_ok=True)
    errors = Console(stderr=True, soft_wrap=True, highlight=False)
    sections: list[Section] = []
    solutions: dict[str, Solution] = {}
    for unfold, n in (
        (unfold_roll, 120 if quick else 800),
        (unfold_digits, 200 if quick else 1797),
    ):
        with errors.status(unfold.__name__.replace("_", "ing ")):
            section, solution = unfold(n)
        errors.print(f"{section.title}: {solution!r}")
        sections.append(section)
        solutions[section.name] = solution
    runs = _compared(12 if quick else 60, _COMPARED if quick else tuple(SOLVERS))
    console = Console(width=None if has_terminal(sys.stdout) else 160)
    console.print(terminal_table(comparison_table(runs).drop(columns="message")))
    lead = summarize(solutions, runs)
    verdict = [f"{section.title}: {section.facts['answer']}." for section in sections]
    sections += [
        _comparison(runs),
        Section("limitations", "Limitations", points=_LIMITATIONS),
        Section("machine", "Machine and versions", facts=flat(environment(1))),
    ]
    with errors.status("writing the report"):
        save(out, Page(TITLE, lead, verdict, sections), solutions, runs)
    errors.print(lead)
    Console(soft_wrap=True).print(f"report: {out / 'report.html'}", highlight=False)
    return all(solution.certified() for solution in solutions.values())


# -- unfoldings -----------------------------------------------------------------------------------


def unfold_roll(n: int) -> tuple[Section, Solution]:
    """Unfold a swiss roll, and describe it."""
    X, t = datasets.swiss_roll(n, seed=0)
    text = (
        "A rectangle rolled up in space. Only the distances between near neighbours are kept, and "
        "may shrink but not grow, while all points are pulled as far apart as these allow: the "
        "roll opens."
    )
    graph = graphs.knn(X, n_neighbors=6)
    drawn = {"colour": t, "edges": graph.edges, "label": "position along the roll"}
    return _unfolding("swiss-roll", f"Swiss roll, {n} points", text, graph, drawn)


def unfold_digits(n: int) -> tuple[Section, Solution]:
    """Unfold images of digits, and describe them."""
    X, classes = datasets.digits(n)
    graph = graphs.knn(X, n_neighbors=4, connect="none").largest_component()
    text = (
        f"Each image of 8 x 8 pixels is a point with 64 coordinates. The graph of 4 nearest "
        f"neighbours joins {graph.n} of {n} images, its largest component, which is unfolded. The "
        "program knows no class: the colours are added afterwards. As many images are drawn as "
        "fit; the rest are dots."
    )
    kept = graph.first_samples
    drawn = {"colour": classes[kept], "images": X[kept].reshape(-1, 8, 8), "label": "digit"}
    return _unfolding("digits", f"Handwritten digits, {graph.n} images", text, graph, drawn)


def _unfolding(
    name: str, title: str, text: str, graph: NeighborGraph, drawn: Mapping[str, Any]
) -> tuple[Section, Solution]:
    """Unfold a graph, and draw the embedding and what the answer itself shows."""
    model = methods.mvu(graph)
    solution = solve(model, "lowrank")
    Y, spectrum = solution.embedding(2), solution.spectrum()
    made = {
        "embedding": (
            "Unfolded: the first two coordinates.", partial(plot.embedding, Y, **drawn)
        ),
        "weights": (
            "Dual weight of each edge: the tension of a spring network that holds the unfolding in "
            "equilibrium. Thin grey edges carry almost nothing.",
            partial(plot.dual_weights, Y, graph.edges, solution.duals["isometry"]),
        ),
        "spectrum": (
            "Eigenvalues of the Gram matrix as shares of the variance, alone and added up. Rings "
            "are rounding errors.",
            partial(plot.spectrum, spectrum),
        ),
    }  # fmt: skip
    if solution.history:
        made["convergence"] = (
            "Above, the value and the proven bound. Below, their relative distance, and how far "
            "the point is from feasible and stationary.",
            partial(plot.convergence, solution.history),
        )
    pictures = [Picture(f"{name}-{what}", *drawing) for what, drawing in made.items()]
    about = {"answer": verdict_on(graph, solution)} | _graph_facts(graph) | facts(solution)
    about |= quality(graph, Y, spectrum=spectrum).facts()
    code = {"The program": model.describe()}
    return Section(name, title, [text], pictures, facts=about, code=code), solution


def verdict_on(graph: NeighborGraph, solution: Solution) -> str:
    """Describe whether an unfolding is certified, and the share of lengths that it keeps."""
    grade = "certified" if solution.certified() else "not certified"
    left, whole = (
        float(np.sum(np.square(graph.lengths(solution.embedding(d)))) / graph.sqdist.sum())
        for d in (2, len(solution.spectrum()))
    )
    return (
        f"{grade}; edges have {left:.0%} of their squared length in the two dimensions of the "
        f"picture, and {whole:.0%} in all dimensions of the unfolding"
    )


def _graph_facts(graph: NeighborGraph) -> dict[str, str]:
    return {"points": f"{graph.n}", "edges": f"{graph.m}", "graph": str(graph.provenance)}


# -- the comparison -------------------------------------------------------------------------------

_COMPARED = ("lowrank", "mosek", "clarabel", "scs")


def _compared(n: int, solvers: tuple[str, ...]) -> pd.DataFrame:
    """Run one small roll through solvers, in each form that they take."""
    options = {"scs": {"max_iter": SCS_STEPS}}
    contestants = [Contestant(name, options=options.get(name, {})) for name in solvers]
    graph = graphs.knn(datasets.swiss_roll(n, seed=0)[0], n_neighbors=4)
    return compare(methods.mvu(graph), contestants, jobs=2)


def _comparison(runs: pd.DataFrame) -> Section:
    """The section on one program and every solver."""
    graded = runs[runs["total"].notna()]
    names = list(graded["solver"] + ", " + graded["form"])
    figure = partial(plot.runs, names, graded["gap"], graded["total"], runs["tol"].iloc[0])
    caption = "How far each answer is from its proven bound, and its total seconds."
    text = (
        "The same program in every form that each solver takes. Whatever a solver claims, the "
        "value, the bound, the gap and the residual are computed by us from the program. The "
        f"dashed line is the requested relative gap; SCS was given {SCS_STEPS} steps."
    )
    return Section(
        "solvers",
        f"One instance, every solver: swiss roll with {runs['n'].max()} points",
        [text],
        [Picture("solvers-runs", caption, figure)] if names else [],
        [Table(comparison_table(runs))],
    )


def summarize(solutions: Mapping[str, Solution], runs: pd.DataFrame) -> str:
    """Summarize everything that was solved."""
    worst = max(abs(solution.gap) for solution in solutions.values())
    certified = sum(solution.certified() for solution in solutions.values())
    return (
        f"{certified} of {len(solutions)} unfoldings are certified (largest relative gap "
        f"{worst:.0e}). On one small instance {runs['certified'].sum()} of "
        f"{runs['total'].notna().sum()} runs end certified."
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
