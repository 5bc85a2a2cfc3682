"""A model in mathematics: plain text for a terminal, LaTeX for a page."""

from __future__ import annotations

import numpy as np

from sdpdr.base.errors import UnknownNameError
from sdpdr.model.affine import Affine
from sdpdr.model.model import Model
from sdpdr.model.terms import AtMost, Equal, InCone, Maximize, Minimize, Penalize, Term
from sdpdr.program.point import PsdVariable, Variable

_LATEX = {"Σ": r"\sum ", "−": "-", "≤": r"\le", "⪰": r"\succeq", "≥": r"\ge"}


def describe(model: Model, style: str = "text") -> str:
    """The program in mathematics (see `Model.describe`)."""
    if style not in ("text", "latex"):
        raise UnknownNameError("style", style, ("text", "latex"))
    return _text(model) if style == "text" else _latex(model)


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
    goals: list[str] = []
    prices: list[str] = []
    rows: list[tuple[str, str]] = []
    for many in _runs(model):
        label, term = many[0]
        if isinstance(term, (Minimize, Maximize)):
            goals.append(_affine(sign * term.cost, k))
        elif isinstance(term, Penalize):
            prices.append(("− " if sign < 0 else "") + _price(term, k))
            rows.append((("(priced)", r"\text{(priced)}")[k], f"{label}, {_count(term)}"))
        elif len(many) > 1:
            rows.append((_row(term, k), f"{label.split('.')[0]}, {len(many)} times {_count(term)}"))
        else:
            rows.append((_row(term, k), f"{label}, {_count(term)}"))
    objective = " + ".join(goals + prices).replace("+ − ", "− ") or "0"
    if k == 1:
        for plain, latex in _LATEX.items():
            objective = objective.replace(plain, latex)
    return ("maximise" if sign < 0 else "minimise"), objective, rows


def _runs(model: Model) -> list[list[tuple[str, Term]]]:
    """The terms in order, cones of one block that read the same together."""
    runs: list[list[tuple[str, Term]]] = []
    before: object = None
    for label, term in model.labelled_terms():
        is_cone = isinstance(term, InCone)
        kind = (label.split(".")[0], _row(term, 0), _count(term)) if is_cone else None
        if kind is not None and kind == before:
            runs[-1].append((label, term))
        else:
            runs.append([(label, term)])
        before = kind
    return runs


def _row(term: Term, k: int) -> str:
    if isinstance(term, (Equal, AtMost)):
        relation = "=" if isinstance(term, Equal) else ("≤", r"\le")[k]
        formula = f"{_affine(term.lhs, k)} {relation} {_right(term, k)}"
    elif isinstance(term, InCone):
        relation = (("⪰", r"\succeq") if term.cone == "psd" else ("≥", r"\ge"))[k]
        formula = f"{_affine(term.lhs, k)} {relation} 0"
    else:
        formula = ("cvxpy constraints", r"\text{cvxpy constraints}")[k]
    return formula


def _right(term: Equal | AtMost | Penalize, k: int) -> str:
    if not np.any(term.rhs):
        return "0"
    if term.symbol == "b" and np.ptp(term.rhs) == 0.0:
        return f"{term.rhs[0]:g}"
    return _symbol(term.symbol, k)


def _symbol(symbol: str, k: int) -> str:
    if k == 0:
        return symbol
    head, _, index = symbol.partition("_")
    return f"{head}_{{{index}}}".replace("−", "-") if index else symbol


def _count(term: Term) -> str:
    if isinstance(term, (Equal, AtMost, Penalize)):
        return f"{term.lhs.m} row" + ("s" if term.lhs.m != 1 else "")
    if isinstance(term, InCone):
        return f"{term.cone} cone, {term.lhs.m} entries"
    return "not lowered"


def _price(term: Penalize, k: int) -> str:
    excess = f"{_affine(term.lhs, k)} − {_right(term, k)}"
    if np.ptp(term.weight) == 0.0:
        weight = "" if term.weight[0] == 1.0 else f"{term.weight[0]:g} "
    else:
        weight = "ν_e " if k == 0 else r"\nu_e "
    shape = {
        "absolute": f"|{excess}|",
        "positive": f"max({excess}, 0)" if k == 0 else rf"\max({excess}, 0)",
        "square": f"({excess})²/2" if k == 0 else rf"({excess})^2/2",
    }[term.penalty]
    return f"Σ {weight}{shape}"


def _affine(affine: Affine, k: int) -> str:
    parts = [a.formula(_name(name, k))[k] for name, a in affine.maps.items()]
    if np.any(affine.constant):
        constant = affine.constant
        parts.append(f"{constant[0]:g}" if np.ptp(constant) == 0.0 else "a_e")
    return " + ".join(parts) or "0"


def _name(name: str, k: int) -> str:
    return name if k == 0 or len(name) == 1 else rf"\mathit{{{name}}}"


def _domain(variable: Variable) -> tuple[str, str]:
    name = variable.name
    if isinstance(variable, PsdVariable):
        return (
            f"{name} ∈ S^{variable.n}, {name} ⪰ 0",
            rf"{_name(name, 1)} \in \mathbf{{S}}^{{{variable.n}}},\; {_name(name, 1)} \succeq 0",
        )
    sign = ", {0} ≥ 0" if variable.nonnegative else ""
    tex = rf",\; {_name(name, 1)} \ge 0" if variable.nonnegative else ""
    return (
        f"{name} ∈ R^{variable.size}{sign.format(name)}",
        rf"{_name(name, 1)} \in \mathbf{{R}}^{{{variable.size}}}{tex}",
    )
