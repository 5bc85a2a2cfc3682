"""The page of a study: the answer in sentences, then everything that it rests on."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from sdpdr.base.rows import counted
from sdpdr.lab.study.measures.contestants import label
from sdpdr.lab.study.measures.failures import claims
from sdpdr.lab.study.page import choice, record, speed, trust
from sdpdr.lab.study.page.material import Material, enumerated
from sdpdr.lab.study.page.parts import Page, Section

_SECTIONS: tuple[Callable[[Material], Section | None], ...] = (
    speed.ranking,
    speed.profiles,
    speed.phases,
    trust.claimed,
    trust.failed,
    speed.growths,
    choice.forms,
    choice.structures,
    choice.auto,
    trust.accuracy,
    record.every_run,
)
_RECORD = (record.asked, record.machine, record.limitations)


def study_page(
    frame: pd.DataFrame,
    meta: Mapping[str, Any],
    environments: Mapping[str, Mapping[str, Any]],
) -> Page:
    """The page of a study.

    Parameters
    ----------
    frame : DataFrame
        Rows, with the columns of `sdpdr.lab.study.schema`.
    meta : mapping
        ``name``, ``title``, ``question``, ``command``, ``started``, ``finished``, ``settings`` and
        ``text``, that of the study file. What is missing is left out.
    environments : mapping from digest to mapping
        Machine and versions.

    Returns
    -------
    Page
        Sections without anything to show are left out.
    """
    material = Material(frame, meta, environments)
    made = [section(material) for section in (_SECTIONS if len(frame) else ())]
    made += [section(material) for section in _RECORD]
    return Page(
        title=str(meta.get("title") or meta.get("name") or "A study of solvers"),
        lead=str(meta.get("question") or ""),
        verdict=list(_verdict(material)),
        sections=[section for section in made if section is not None and section.has_content],
    )


def _verdict(material: Material) -> Iterator[str]:
    """The answer in sentences."""
    if not len(material.frame):
        yield "There are no runs yet."
        return
    tol = material.tolerances[0]
    runs = material.at(tol)
    yield _who_solves_most(material, runs, material.at_words(tol))
    yield from _who_is_fastest(material, tol)
    yield from _how_far_auto_is(material, tol)
    yield _which_claims_were_false(runs)
    yield _what_was_compared(material)


def _who_solves_most(material: Material, runs: pd.DataFrame, where: str) -> str:
    solved = runs.groupby("contestant")["solved"].sum()
    asked = runs.groupby("contestant").size()
    if not solved.any():
        return "Nobody solved anything."
    best = [who for who in material.order if who in solved.index and solved[who] == solved.max()]
    verb = "solves" if len(best) == 1 else "solve"
    each = "" if len(best) == 1 else " each"
    fewest = solved.min()
    rest = "" if len(best) == len(solved) else f"; the least that another solves is {int(fewest)}"
    return (
        f"{enumerated(best)} {verb} the most{each}: {int(solved.max())} of {asked[best[0]]} "
        f"instances{where}, verified by us{rest}."
    )


def _who_is_fastest(material: Material, tol: float) -> Iterator[str]:
    means = material.means
    means = means[(means["tol"] == tol) & (means["solved"] > 0)]
    if len(means) < 2 or not (means["instances"] > 0).any():
        return
    first, second = list(means.itertuples())[:2]
    yield (
        f"By the shifted geometric mean of seconds, unsolved instances counting as the time limit, "
        f"{label(first.solver, first.form)} is fastest ({first.mean:.3g} s), then "
        f"{label(second.solver, second.form)} at {second.ratio / first.ratio:.2f} times that."
    )


def _how_far_auto_is(material: Material, tol: float) -> Iterator[str]:
    regret = choice.regrets(material).get(tol)
    if regret is None or not len(regret.table):
        return
    missed = len(regret.failed)
    if not np.isfinite(regret.mean):
        yield "auto solved nothing that another did."
        return
    lost = f" and misses {counted(missed, 'instance')} that another solves" if missed else ""
    yield (
        f"auto takes {regret.mean:.2f} times the seconds of the best contestant on average, is "
        f"within twice the best on {regret.within[2.0]:.0%} of instances{lost}."
    )


def _which_claims_were_false(runs: pd.DataFrame) -> str:
    told = claims(runs)
    false = {
        label(solver, form): int(n) for (_, solver, form), n in told["overstated"].items() if n
    }
    near = int(told["near"].sum())
    missed = (
        f" {counted(near, 'claim')} missed the tolerance by less than ten times." if near else ""
    )
    if not false:
        return f"No contestant claimed a success that was far from one.{missed}"
    worst = sorted(false, key=lambda who: -false[who])
    named = enumerated([f"{who} ({false[who]})" for who in worst])
    n = counted(sum(false.values()), "claim")
    return f"{n} of success could not be verified by far: {named}.{missed}"


def _what_was_compared(material: Material) -> str:
    contestants, instances = (
        counted(material.runs[name].nunique(), name) for name in ("contestant", "instance")
    )
    tolerances = ", ".join(f"{tol:.0e}" for tol in material.tolerances)
    return (
        f"Compared were {contestants} (a solver in a form) on {instances} at tolerance "
        f"{tolerances}: {counted(len(material.frame), 'run')}."
    )
