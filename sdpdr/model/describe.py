"""A model in mathematics: plain text for a terminal, LaTeX for a page.

Every array of indices or numbers in a row has a letter, and the same array the same letter, so that
what is printed can be evaluated: `legend` says what the letters stand for.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sdpdr.base.errors import UnknownNameError
from sdpdr.linalg.letters import Letters, Words, summed, times
from sdpdr.model.affine import Affine
from sdpdr.model.model import Model
from sdpdr.model.terms import AtMost, Equal, InCone, Maximize, Minimize, Penalize, Raw, Smooth, Term
from sdpdr.program.point import PsdVariable, Variable

_RELATIONS: dict[str, Words] = {
    "==": ("=", "="),
    "<=": ("≤", r"\le"),
    ">=": ("≥", r"\ge"),
    ">>": ("⪰", r"\succeq"),
    "<<": ("⪯", r"\preceq"),
}


def describe(model: Model, style: str = "text") -> str:
    """The program in mathematics (see `Model.describe`)."""
    if style not in ("text", "latex"):
        raise UnknownNameError("style", style, ("text", "latex"))
    return _text(model) if style == "text" else _latex(model)


def legend(model: Model) -> dict[str, dict[str, Any]]:
    """What the letters of `describe` stand for, by label (see `Model.legend`)."""
    found = {}
    for label, term in model.labelled_terms():
        letters = _letters(term)
        row_words(term, letters)
        found[label] = letters.where
    return found


def _text(model: Model) -> str:
    goal, objective, rows = _pieces(model, 0)
    lines = [f"{goal:<12}{objective}"]
    domains = ", ".join(_domain(v)[0] for v in model.variables())
    lines.append(f"{'over':<12}{domains}")
    width = max((len(formula) for formula, _ in rows), default=0) + 8
    for k, (formula, note) in enumerate(rows):
        lines.append(f"{'subject to' if k == 0 else '':<12}{formula:<{width}}{note}")
    return "\n".join(lines)


def _latex(model: Model) -> str:
    goal, objective, rows = _pieces(model, 1)
    domains = ",\\; ".join(_domain(v)[1] for v in model.variables())
    body = [rf"\text{{{goal}}}\quad & {objective} \\", rf"\text{{over}}\quad & {domains} \\"]
    for k, (formula, note) in enumerate(rows):
        head = r"\text{subject to}" if k == 0 else ""
        safe = note.replace("_", r"\_")
        body.append(rf"{head}\quad & {formula} && \text{{({safe})}} \\")
    return "\n".join([r"\begin{aligned}", *body, r"\end{aligned}"])


def _pieces(model: Model, k: int) -> tuple[str, str, list[tuple[str, str]]]:
    """Goal, objective and rows with notes; k = 0 for text, 1 for LaTeX."""
    sign = -1.0 if model.is_maximization else 1.0
    goals: list[Words] = []
    prices: list[Words] = []
    rows: list[tuple[str, str]] = []
    for many in _runs(model):
        label, term = many[0]
        if isinstance(term, (Minimize, Maximize)):
            if term.lhs.maps or np.any(term.lhs.constant):
                goals.append(_affine(sign * term.cost, _letters(term)))
        elif isinstance(term, Smooth):
            prices.append(times(f"{sign:g}", _smooth(term, _letters(term))))
        elif isinstance(term, Penalize):
            prices.append(times(f"{sign:g}", _price(term, _letters(term))))
            rows.append((("(priced)", r"\text{(priced)}")[k], f"{label}, {_count(term)}"))
        elif len(many) > 1:
            note = f"{label.split('.')[0]}, {len(many)} times {_count(term)}"
            rows.append((row_words(term)[k], note))
        else:
            rows.append((row_words(term)[k], f"{label}, {_count(term)}"))
    words = summed(goals + prices) if goals or prices else ("0", "0")
    return ("maximise" if sign < 0 else "minimise"), words[k], rows


def _runs(model: Model) -> list[list[tuple[str, Term]]]:
    """The terms in order, cones of one block that read the same together."""
    runs: list[list[tuple[str, Term]]] = []
    before: object = None
    for label, term in model.labelled_terms():
        is_cone = isinstance(term, InCone)
        kind = (label.split(".")[0], row_words(term), _count(term)) if is_cone else None
        if kind is not None and kind == before:
            runs[-1].append((label, term))
        else:
            runs.append([(label, term)])
        before = kind
    return runs


def row_words(term: Term, letters: Letters | None = None) -> Words:
    """A term in mathematics, (plain text, LaTeX)."""
    letters = _letters(term) if letters is None else letters
    if isinstance(term, Raw):
        return "cvxpy constraints", r"\text{cvxpy constraints}"
    if isinstance(term, (Minimize, Maximize)):
        return _affine(term.lhs, letters)
    if isinstance(term, Penalize):
        return _price(term, letters)
    if isinstance(term, Smooth):
        return _smooth(term, letters)
    if term.written is not None:
        left = _affine(term.written.left, letters)
        right = _affine(term.written.right, letters)
        return _related(left, term.written.relation, right)
    left = _affine(term.lhs, letters)
    if isinstance(term, InCone):
        return _related(left, ">>" if term.cone == "psd" else ">=", ("0", "0"))
    return _related(left, "==" if isinstance(term, Equal) else "<=", _right(term, letters))


def _letters(term: Term) -> Letters:
    """Letters for the arrays of a term, other than its variables."""
    return Letters(taken=frozenset(() if isinstance(term, Raw) else term.lhs.maps))


def _related(left: Words, relation: str, right: Words) -> Words:
    plain, latex = _RELATIONS[relation]
    return f"{left[0]} {plain} {right[0]}", f"{left[1]} {latex} {right[1]}"


def _right(term: Equal | AtMost | Penalize, letters: Letters) -> Words:
    if not np.any(term.rhs):
        return "0", "0"
    if term.symbol == "b":
        return _constant(term.rhs, letters)
    letters.where[term.symbol] = term.rhs
    head, _, index = term.symbol.partition("_")
    latex = f"{head}_{{{index}}}" if index else term.symbol
    return term.symbol, latex.replace("−", "-")


def _count(term: Term) -> str:
    if isinstance(term, (Equal, AtMost, Penalize)):
        return f"{term.lhs.m} row" + ("s" if term.lhs.m != 1 else "")
    if isinstance(term, InCone):
        return f"{term.cone} cone, {term.lhs.m} entries"
    return "not lowered"


def _price(term: Penalize, letters: Letters) -> Words:
    if term.written is not None:
        excess = _affine(term.written, letters)
    elif np.any(term.rhs) and term.symbol == "b":
        excess = summed([_affine(term.lhs, letters), _constant(-term.rhs, letters)])
    elif np.any(term.rhs):
        excess = summed([_affine(term.lhs, letters), times("-1", _right(term, letters))])
    else:
        excess = _affine(term.lhs, letters)
    plain, latex = excess
    shape = {
        "absolute": (f"|{plain}|", f"|{latex}|"),
        "positive": (f"max({plain}, 0)", rf"\max({latex}, 0)"),
        "square": (f"({plain})²", f"({latex})^2"),
    }[term.penalty]
    weight = term.weight / 2.0 if term.penalty == "square" else term.weight
    plain, latex = times(letters.numbers(weight), shape)
    return f"Σ_e {plain}", rf"\sum_e {latex}"


def _smooth(term: Smooth, letters: Letters) -> Words:
    plain, latex = _affine(term.lhs, letters)
    word, sign = term.function.word, -1.0 if term.function.is_concave else 1.0
    return times(f"{sign * term.weight:g}", (f"{word}({plain})", rf"\text{{{word}}}({latex})"))


def _affine(affine: Affine, letters: Letters) -> Words:
    parts = [
        (a.formula(name, letters)[0], a.formula(_latex_name(name), letters)[1])
        for name, a in affine.maps.items()
    ]
    if np.any(affine.constant):
        parts.append(_constant(affine.constant, letters))
    return summed(parts) if parts else ("0", "0")


def _constant(values: Any, letters: Letters) -> Words:
    if np.max(values, initial=-1.0) <= 0.0:
        plain = letters.numbers(-np.asarray(values))
        return times("-1", (plain, plain))
    plain = letters.numbers(values)
    return plain, plain


def _latex_name(name: str) -> str:
    return name if len(name) == 1 else rf"\mathit{{{name}}}"


def _domain(variable: Variable) -> Words:
    name, latex = variable.name, _latex_name(variable.name)
    if isinstance(variable, PsdVariable):
        return (
            f"{name} ∈ S^{variable.n}, {name} ⪰ 0",
            rf"{latex} \in \mathbf{{S}}^{{{variable.n}}},\; {latex} \succeq 0",
        )
    sign = f", {name} ≥ 0" if variable.nonnegative else ""
    tex = rf",\; {latex} \ge 0" if variable.nonnegative else ""
    return (
        f"{name} ∈ R^{variable.size}{sign}",
        rf"{latex} \in \mathbf{{R}}^{{{variable.size}}}{tex}",
    )
