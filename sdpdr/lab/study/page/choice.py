"""Sections on the choice of a solver: forms, structures, and what `auto` chooses."""

from __future__ import annotations

import numpy as np
import pandas as pd

from sdpdr.lab.study.measures.contestants import best_form, label
from sdpdr.lab.study.measures.means import means
from sdpdr.lab.study.measures.regret import Regret, regret_of
from sdpdr.lab.study.measures.structure import best_by_structure, forms_by_solver
from sdpdr.lab.study.page import figures
from sdpdr.lab.study.page.material import Material, named
from sdpdr.lab.study.page.parts import Chart, Section, Table, headed, toned

AUTO = "auto"
_MOST_DRAWN = 60


def forms(material: Material) -> Section | None:
    """Which form suits which solver, where some solver takes part in several."""
    table = forms_by_solver(material.runs)
    table = table[table.groupby(["tol", "solver"])["form"].transform("size") > 1]
    if table.empty:
        return None
    table["rank"] = toned(table["rank"], "good", table["rank"] == 1)
    titles = {"instances": "of", "wins": "fastest on", "ratio": "times its best form"}
    columns = ["solver", "tol", "form", "rank", "solved", *titles.values()]
    competing = material.table("forms-table", table.rename(columns=titles)[columns])
    return Section.told("forms", tables=[competing, _at_best(material)])


def _at_best(material: Material) -> Table:
    """Solvers ranked as if each knew its best form beforehand."""
    table = material.means if material.no_means else means(best_form(material.runs))
    titles = {"instances": "of", "ratio": "times the best"}
    frame = table.rename(columns=titles)[["solver", "tol", "solved", *titles.values()]]
    return material.table("best-form-table", frame)


def structures(material: Material) -> Section | None:
    """Who is best on which method and size."""
    table = named(best_by_structure(material.runs))
    if table.empty:
        return None
    key = ["tol", "method", "size"]
    table.loc[table["solved"] == 0, ["solved", "ratio"]] = np.nan
    first, second = (table[table["rank"] == rank].set_index(key) for rank in (1, 2))
    second = second[second["solved"].notna()][["contestant", "solved", "ratio"]]
    both = first.join(second.add_suffix(" of second")).reset_index()
    nobody = both["solved"].isna()
    both["best"] = toned(both["contestant"].mask(nobody, "nobody"), "bad", nobody)
    titles = {
        "contestant of second": "second", "solved of second": "it solved",
        "ratio of second": "its ratio",
    }  # fmt: skip
    columns = ["method", "size", "tol", "instances", "best", "solved", "ratio", *titles.values()]
    frame = both.rename(columns=titles)[columns]
    tables = [material.table("structures-table", frame, is_long=len(frame) > 25)]
    return Section.told("structures", tables=tables)


def regrets(material: Material) -> dict[float, Regret]:
    """Regret of `auto` for each tolerance at which it takes part with others."""
    found = {}
    for tol in material.tolerances:
        runs = material.at(tol)
        of_auto = runs[runs["solver"] == AUTO]
        if of_auto["form"].nunique() == 1 and runs["contestant"].nunique() > 1:
            found[tol] = regret_of(runs, AUTO)
    return found


def auto(material: Material) -> Section | None:
    """How far the solver that `auto` chooses is from the best."""
    found = {tol: regret for tol, regret in regrets(material).items() if len(regret.table)}
    if not found:
        return None
    table = pd.concat(
        [_with_names(regret.table).assign(tol=tol) for tol, regret in found.items()],
        ignore_index=True,
    )
    missed = ~table["solved"].astype(bool)
    table["auto chose"] = toned(
        table["used"].mask(missed, table["used"].replace("", "nothing") + ", not solved"),
        "bad",
        missed,
    )
    columns = ["instance", "method", "n", "tol", "auto chose", "seconds", "best", "best_seconds"]
    frame = headed(table, *columns, "ratio")
    return Section.told(
        "auto",
        [_regret_sentence(material, tol, regret) for tol, regret in found.items()],
        charts=[_regret_chart(material, tol, regret) for tol, regret in found.items()],
        tables=[material.table("auto-table", frame, is_long=True)],
    )


def _with_names(table: pd.DataFrame) -> pd.DataFrame:
    return named(table).assign(best=list(map(label, table["best_solver"], table["best_form"])))


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
    table = _with_names(regret.worst(_MOST_DRAWN))
    hints = [
        figures.hint(
            line.instance,
            f"auto chose {line.used or 'nothing'}: {_spent(line.seconds)}",
            f"best: {line.best}, {_spent(line.best_seconds)}",
        )
        for line in table.itertuples()
    ]
    some = f" The {len(table)} worst are drawn." if len(table) < len(regret.table) else ""
    return material.chart(
        "auto-figure",
        tol,
        lambda: figures.regrets(table["instance"].to_list(), table["ratio"], hints),
        known={"some": some},
    )


def _spent(seconds: float) -> str:
    return f"{seconds:.3g} s" if np.isfinite(seconds) else "no answer"
