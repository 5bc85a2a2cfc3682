"""Sections on the choice of a solver: forms, structures, and what `auto` chooses."""

from __future__ import annotations

from typing import Any

import numpy as np

from sdpdr.lab.study.measures.contestants import best_form, label
from sdpdr.lab.study.measures.means import means
from sdpdr.lab.study.measures.regret import Regret, regret_of
from sdpdr.lab.study.measures.structure import best_by_structure, forms_by_solver
from sdpdr.lab.study.page.material import Material, instance_name, instance_of
from sdpdr.lab.study.page.parts import Cell, Chart, Column, Section, Table

AUTO = "auto"
_MOST_DRAWN = 60


def forms(material: Material) -> Section | None:
    """Which form suits which solver, where some solver takes part in several."""
    table = forms_by_solver(material.runs)
    counts = table.groupby(["tol", "solver"])["form"].transform("size")
    table = table[counts > 1]
    if table.empty:
        return None
    several = len(material.tolerances) > 1
    columns = [
        Column("solver"),
        *([Column("tol", ".0e")] if several else []),
        Column("form"),
        Column("rank", "d"),
        Column("solved", "d"),
        Column("of", "d"),
        Column("fastest on", "d", "instances on which this form of the solver was the fastest"),
        Column("times its best form", ".2f", "median ratio of seconds, where solved"),
    ]
    rows = [
        [
            line.solver,
            *([line.tol] if several else []),
            line.form,
            Cell(line.rank, "good" if line.rank == 1 else ""),
            *(line.solved, line.instances, line.wins, line.ratio),
        ]
        for line in table.itertuples()
    ]
    words = (
        "The forms of a solver compete with one another only: first by the number solved, then by "
        "the median ratio to the fastest form of the same solver."
    )
    return Section(
        "forms",
        "Which form suits which solver",
        tables=[Table("forms-table", columns, rows, words), _at_best(material)],
    )


def _at_best(material: Material) -> Table:
    """Solvers ranked as if each knew its best form beforehand."""
    several = len(material.tolerances) > 1
    columns = [
        Column("solver"),
        *([Column("tol", ".0e")] if several else []),
        Column("solved", "d"),
        Column("of", "d"),
        Column("times the best", ".2f", "ratio of shifted geometric means of seconds"),
    ]
    table = means(best_form(material.runs)) if not material.no_means else material.means
    rows = [
        [
            line.solver,
            *([line.tol] if several else []),
            *(line.solved, line.instances, line.ratio),
        ]
        for line in table.itertuples()
    ]
    words = (
        "Every solver in the form that was best for each instance. Nobody knows that form "
        "beforehand; it bounds what choosing well can gain."
    )
    return Table("best-form-table", columns, rows, words)


def structures(material: Material) -> Section | None:
    """Who is best on which method and size."""
    table = best_by_structure(material.runs)
    if table.empty:
        return None
    several = len(material.tolerances) > 1
    columns = [
        Column("method"),
        Column("size"),
        *([Column("tol", ".0e")] if several else []),
        Column("instances", "d"),
        Column("best"),
        Column("solved", "d"),
        Column("ratio", ".2f", "median of the ratios of seconds to the fastest, where solved"),
        Column("second"),
        Column("it solved", "d"),
        Column("its ratio", ".2f"),
    ]
    rows = []
    for (_, _, _), lines in table.groupby(["tol", "method", "size"], sort=False):
        ranked = [line for line in lines.itertuples() if line.solved]
        first, second = [*ranked, None, None][:2]
        some = next(lines.itertuples())
        rows.append(
            [
                some.method,
                some.size,
                *([some.tol] if several else []),
                some.instances,
                *_finalist(first),
                *(_finalist(second) if second else [None] * 3),
            ]
        )
    words = (
        "For each method and class of sizes, the two contestants that solve most, and among equals "
        "have the least median ratio to the fastest. With few instances this ranks chance as well."
    )
    return Section(
        "structures",
        "Best for each structure",
        tables=[Table("structures-table", columns, rows, words, is_long=len(rows) > 25)],
    )


def _finalist(line: Any) -> list[Any]:
    if line is None:
        return [Cell("nobody", "bad"), None, None]
    return [label(line.solver, line.form), line.solved, line.ratio]


def regrets(material: Material) -> dict[float, Regret]:
    """Regret of `auto` for each tolerance at which it takes part with others."""
    found = {}
    for tol in material.tolerances:
        runs = material.at(tol)
        of_auto = runs[runs["solver"] == AUTO]
        if of_auto["form"].nunique() == 1 and runs["who"].nunique() > 1:
            found[tol] = regret_of(runs, AUTO)
    return found


def auto(material: Material) -> Section | None:
    """How far the solver that `auto` chooses is from the best."""
    found = {tol: regret for tol, regret in regrets(material).items() if len(regret.table)}
    if not found:
        return None
    return Section(
        "auto",
        "Regret of auto",
        [_regret_sentence(material, tol, regret) for tol, regret in found.items()],
        [_regret_chart(material, tol, regret) for tol, regret in found.items()],
        [_regret_table(material, tol, regret) for tol, regret in found.items()],
    )


def _regret_sentence(material: Material, tol: float, regret: Regret) -> str:
    shares = ", ".join(
        f"{share:.0%} within {factor:g} times" for factor, share in regret.within.items()
    )
    return (
        f"Of {len(regret.table)} instances that somebody solved{material.at_words(tol)}, auto left "
        f"{len(regret.failed)} unsolved; of all, {shares} the seconds of the best contestant. "
        f"Where it solves, it takes {regret.mean:.2f} times those on average (geometric mean). "
        "The best is chosen afterwards from noisy times, so ratios near 1 are no regret."
    )


def _regret_chart(material: Material, tol: float, regret: Regret) -> Chart:
    table = regret.worst(_MOST_DRAWN)

    def draw() -> Any:
        from sdpdr.lab.study.page import figures

        hints = [
            f"<b>{figures.shown(name)}</b><br>auto chose {figures.shown(line.used) or 'nothing'}: "
            f"{_spent(line.seconds)}<br>best: "
            f"{figures.shown(label(line.best_solver, line.best_form))}, {_spent(line.best_seconds)}"
            for name, line in zip(names, table.itertuples(), strict=True)
        ]
        return figures.regrets(names, table["ratio"].to_list(), hints)

    names = instance_of(table)
    some = f" The {len(table)} worst are drawn." if len(table) < len(regret.table) else ""
    return Chart(
        f"auto-figure{material.suffix(tol)}",
        "Seconds of auto as a multiple of those of the best contestant, worst first; at the "
        f"dashed line it was the best itself.{some}",
        draw,
    )


def _regret_table(material: Material, tol: float, regret: Regret) -> Table:
    columns = [
        Column("instance"),
        Column("method"),
        Column("n", "d"),
        Column("auto chose"),
        Column("seconds", ".3g"),
        Column("best"),
        Column("its seconds", ".3g"),
        Column("ratio", ".2f"),
    ]
    rows = [
        [
            instance_name(line.problem, line.variant),
            line.method,
            line.n,
            line.used if line.solved else Cell(f"{line.used or 'nothing'}, not solved", "bad"),
            line.seconds,
            label(line.best_solver, line.best_form),
            line.best_seconds,
            line.ratio,
        ]
        for line in regret.table.itertuples()
    ]
    words = f"What auto chose and what was best{material.at_words(tol)}."
    return Table(f"auto-table{material.suffix(tol)}", columns, rows, words, is_long=True)


def _spent(seconds: float) -> str:
    return f"{seconds:.3g} s" if np.isfinite(seconds) else "no answer"
