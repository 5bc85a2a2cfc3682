"""A model in mathematics: plain text for a terminal, LaTeX for a page.

Every array of indices or numbers in a row has a letter, and equal arrays have the same letter.
`legend` returns the array of each letter, so that printed formulas can be evaluated.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from sdpdr.base.errors import UnknownNameError
from sdpdr.linalg.letters import Letters, Words, summed, times
from sdpdr.model.affine import Affine, Product
from sdpdr.model.inequalities import escaped, formula, matrix_words, multiplied, named, whole
from sdpdr.model.terms import (
    PENALTIES,
    AtMost,
    Called,
    Equal,
    InCone,
    Maximize,
    Minimize,
    Penalize,
    Raw,
    Shown,
    Smooth,
    Term,
    Written,
)
from sdpdr.program.point import PsdVariable, Variable

if TYPE_CHECKING:
    from sdpdr.model.model import Model

_COSTS = (Minimize, Maximize, Penalize, Smooth)
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
    """The arrays of the letters of `describe`, by label (see `Model.legend`)."""
    return {label: letters.where for label, _, _, letters in _worded(model)}


def _worded(model: Model) -> Iterator[tuple[str, Term, Words, Letters]]:
    """Label, term, formula and letters of every term; terms of the objective share letters.

    Terms that functions introduce are left out: the formula with the function says it all.
    """
    terms = [(label, term) for label, term in model.labelled_terms() if not _is_introduced(term)]
    costs = [term for _, term in terms if isinstance(term, _COSTS)]
    taken = frozenset().union(*map(_names, costs))
    known: dict[str, Any] = {}
    for label, term in terms:
        letters = _letters(term)
        if isinstance(term, _COSTS):
            letters = Letters(taken=taken, known=known)
        words = row_words(term, letters)
        if isinstance(term, _COSTS):
            known = {**known, **letters.where}
        yield label, term, words, letters


def _is_introduced(term: Term) -> bool:
    """Whether a function has introduced a term that no user wrote."""
    written = None if isinstance(term, (*_COSTS, Raw)) else term.written
    return isinstance(written, Written) and written.left is None


def _text(model: Model) -> str:
    """The model as plain text."""
    sense, objective, rows = _pieces(model, 0)
    lines = [f"{sense:<12}{objective}"]
    domains = ", ".join(_domain(v)[0] for v in _written(model))
    lines.append(f"{'over':<12}{domains}")
    width = max((len(row) for row, _ in rows), default=0) + 8
    for k, (row, note) in enumerate(rows):
        lines.append(f"{'subject to' if k == 0 else '':<12}{row:<{width}}{note}")
    return "\n".join(lines)


def _latex(model: Model) -> str:
    """The model in LaTeX."""
    sense, objective, rows = _pieces(model, 1)
    domains = ",\\; ".join(_domain(v)[1] for v in _written(model))
    body = [rf"\text{{{sense}}}\quad & {objective} \\", rf"\text{{over}}\quad & {domains} \\"]
    for k, (row, note) in enumerate(rows):
        head = r"\text{subject to}" if k == 0 else ""
        note = escaped(note, prose=True)
        body.append(rf"{head}\quad & {row} && \text{{({note})}} \\")
    return "\n".join([r"\begin{aligned}", *body, r"\end{aligned}"])


def _written(model: Model) -> list[Variable]:
    """The variables without those that functions introduce."""
    return [v for v in model.variables() if v.name in model.declared]


def _pieces(model: Model, k: int) -> tuple[str, str, list[tuple[str, str]]]:
    """The sense, the objective, and rows with notes; k = 0 for text, 1 for LaTeX."""
    sign = -1.0 if model.is_maximization else 1.0
    objectives: list[Words] = []
    penalties: list[Words] = []
    rows: list[tuple[str, str]] = []
    for many in _runs(model):
        label, term, found, _ = many[0]
        if isinstance(term, (Minimize, Maximize)):
            if found != ("0", "0"):
                turned = isinstance(term, Maximize) != (sign < 0.0)
                objectives.append(times("-1", found) if turned else found)
        elif isinstance(term, Smooth):
            penalties.append(times(f"{sign:g}", found))
        elif isinstance(term, Penalize):
            penalties.append(times(f"{sign:g}", found))
            rows.append((("(penalized)", r"\text{(penalized)}")[k], f"{label}, {_count(term)}"))
        elif len(many) > 1:
            rows.append((found[k], f"{_many(many)} {_count(term)}"))
        else:
            rows.append((found[k], f"{label}, {_count(term)}"))
    words = summed(objectives + penalties) if objectives or penalties else ("0", "0")
    return ("maximise" if sign < 0 else "minimise"), words[k], rows


def _runs(model: Model) -> list[list[tuple[str, Term, Words, Letters]]]:
    """The terms in order; cones of one block whose formulas differ only by indices are grouped."""
    runs: list[list[tuple[str, Term, Words, Letters]]] = []
    before: object = None
    for worded in _worded(model):
        label, term, words, _ = worded
        alike = re.sub(r"_\d+", "_0", words[0])
        kind = (label.split(".")[0], alike, _count(term)) if isinstance(term, InCone) else None
        if kind is not None and kind == before:
            runs[-1].append(worded)
        else:
            runs.append([worded])
        before = kind
    return runs


def _many(run: list[tuple[str, Term, Words, Letters]]) -> str:
    """The note of a group of cones."""
    label, _, words, _ = run[0]
    if all(words == more for _, _, more, _ in run):
        return f"{label.split('.')[0]}, {len(run)} times"
    return f"{label} and {len(run) - 1} like it,"


def row_words(term: Term, letters: Letters | None = None) -> Words:
    """The formula of a term, (plain text, LaTeX)."""
    letters = _letters(term) if letters is None else letters
    if isinstance(term, Raw):
        return "cvxpy constraints", r"\text{cvxpy constraints}"
    if isinstance(term, (Minimize, Maximize)):
        return _affine(term.lhs, letters) if term.written is None else _shown(term.written, letters)
    if isinstance(term, Penalize):
        return _penalty(term, letters)
    if isinstance(term, Smooth):
        return _called(term.written or Called(term.function.word, (term.lhs,)), letters)
    if term.written is not None:
        left, right = (
            _side(side, isinstance(term, InCone), letters)
            for side in (term.written.left, term.written.right)
        )
        return _related(left, term.written.relation, right)
    if isinstance(term, InCone) and term.cone == "psd":
        return _related(_matrix(whole(term.lhs), letters), ">>", ("0", "0"))
    left = _affine(term.lhs, letters)
    if isinstance(term, InCone):
        return _related(left, ">=", ("0", "0"))
    return _related(left, "==" if isinstance(term, Equal) else "<=", _right(term, letters))


def _letters(term: Term) -> Letters:
    """Letters for the arrays of a term, without the names of its variables."""
    return Letters(taken=frozenset(_names(term)))


def _names(term: Term) -> set[str]:
    """Names of the variables and parameters in the formula of a term."""
    if isinstance(term, Raw):
        return set()
    names = set(term.lhs.maps)
    for written in _expressions(term.written):
        names |= set(written.maps) | set(written.declared)
    return names


def _expressions(written: Affine | Written | Shown | Called | None) -> Iterator[Affine]:
    """All expressions in a written term."""
    if isinstance(written, Affine):
        yield written
    elif isinstance(written, Written):
        yield from _expressions(written.left)
        yield from _expressions(written.right)
    elif isinstance(written, Shown):
        yield written.affine
        for call in written.calls:
            yield from _expressions(call)
    elif isinstance(written, Called):
        yield from (part for part in (*written.of, *written.factors) if isinstance(part, Affine))


def _related(left: Words, relation: str, right: Words) -> Words:
    """Two formulas with a relation between them."""
    plain, latex = _RELATIONS[relation]
    return f"{left[0]} {plain} {right[0]}", f"{left[1]} {latex} {right[1]}"


def _right(term: Equal | AtMost | Penalize, letters: Letters) -> Words:
    """The right-hand side: zero, numbers, or the symbol of the term."""
    if not np.any(term.rhs):
        return "0", "0"
    if term.symbol == "b":
        return _constant(term.rhs, letters)
    symbol = letters.symbol(term.symbol, term.rhs)
    head, _, index = symbol.partition("_")
    latex = f"{head}_{{{index}}}" if index else symbol
    return symbol, latex.replace("−", "-")


def _count(term: Term) -> str:
    """The size of a term, for its note."""
    if isinstance(term, (Equal, AtMost, Penalize)):
        return f"{term.lhs.m} row" + ("s" if term.lhs.m != 1 else "")
    if isinstance(term, InCone):
        return f"{term.cone} cone, {term.lhs.m} entries"
    return "not lowered"


def _penalty(term: Penalize, letters: Letters) -> Words:
    """The formula of a penalty."""
    if term.written is not None:
        return _called(term.written, letters)
    if np.any(term.rhs) and term.symbol == "b":
        excess = summed([_affine(term.lhs, letters), _constant(-term.rhs, letters)])
    elif np.any(term.rhs):
        excess = summed([_affine(term.lhs, letters), times("-1", _right(term, letters))])
    else:
        excess = _affine(term.lhs, letters)
    weight = term.weight / 2.0 if term.penalty == "square" else term.weight
    return _total(term.penalty, excess, (weight,), letters)


def _total(penalty: str, excess: Words, factors: tuple[Any, ...], letters: Letters) -> Words:
    """The sum of the penalties of all rows."""
    plain, latex = excess
    shape = {
        "absolute": (f"|{plain}|", f"|{latex}|"),
        "positive": (f"max({plain}, 0)", rf"\max({latex}, 0)"),
        "square": (f"({plain})²", f"({latex})^2"),
    }[penalty]
    plain, latex = _times(factors, shape, letters)
    return f"Σ_e {plain}", rf"\sum_e {latex}"


def _times(factors: tuple[Any, ...], words: Words, letters: Letters) -> Words:
    """A product with factors; numbers come before parameters."""
    for factor in factors:
        if isinstance(factor, Affine):
            words = multiplied(_affine(factor, letters), words)
    for factor in factors:
        if not isinstance(factor, Affine):
            words = times(letters.numbers(np.atleast_1d(factor)), words)
    return words


def _shown(shown: Shown, letters: Letters) -> Words:
    """The formula of a sum of an expression and functions."""
    parts = [_called(call, letters) for call in shown.calls]
    affine = _affine(shown.affine, letters)
    return summed(parts if parts and affine[0] == "0" else [affine, *parts])


def _called(call: Called, letters: Letters) -> Words:
    """The formula of a function or penalty with its factors."""
    words = [
        (of, of) if isinstance(of, str) else _argument(of, call.of_matrices, letters)
        for of in call.of
    ]
    if call.word in PENALTIES:
        found = _total(call.word, words[0], call.factors, letters)
    else:
        plain, latex = (", ".join(each) for each in zip(*words, strict=True))
        name = escaped(call.word)
        found = f"{call.word}({plain})", rf"\operatorname{{{name}}}({latex})"
        found = _times(call.factors, found, letters)
    return times("-1", found) if call.sign < 0.0 else found


def _argument(of: Affine, is_matrix: bool, letters: Letters) -> Words:
    """The formula of an argument, as a matrix or as a typical value."""
    is_square = len(of.shape) == 2 and of.shape[0] == of.shape[1]
    return _matrix(of, letters) if is_matrix and is_square else _affine(of, letters)


def _side(side: Affine | Shown | None, is_matrix: bool, letters: Letters) -> Words:
    """The formula of one side of a comparison."""
    assert side is not None
    if isinstance(side, Shown):
        return _shown(side, letters)
    return _matrix(side, letters) if is_matrix else _affine(side, letters)


def _matrix(matrix: Affine, letters: Letters) -> Words:
    """The formula of a matrix, or of a typical value for other shapes."""
    if len(matrix.shape) != 2:
        return _affine(matrix, letters)
    return matrix_words(matrix, letters, _affine)


def _affine(affine: Affine, letters: Letters) -> Words:
    """The formula of a typical value of an expression."""
    parts = [formula(a, named(name), letters) for name, a in affine.maps.items()]
    parts += [
        _product(product, letters)
        for product in affine.products
        if product.of.maps or np.any(product.of.constant)
    ]
    if np.any(affine.constant):
        parts.append(_constant(affine.constant, letters))
    parts = [part for part in parts if part != ("0", "0")]
    return summed(parts) if parts else ("0", "0")


def _product(product: Product, letters: Letters) -> Words:
    """The formula of a product of parameters and variables."""
    weights, factor, of = product.weights, product.factor, product.of.reshape(-1)
    if np.all(np.diff(weights.indptr) == 1):
        at = letters.at(weights.indices)
        words = multiplied(_affine(factor, at), _affine(of, at))
        return times(letters.numbers(weights.data), words)
    inside = letters.inside()
    if weights.shape[0] == 1:
        at = inside.at(weights.indices)
        words = multiplied(_affine(factor, at), _affine(of, at))
        plain, latex = times(inside.numbers(weights.data), words)
        return f"Σ_e {plain}", rf"\sum_e {latex}"
    matrix = letters.matrix_of_rows(weights)
    plain, latex = multiplied(_affine(factor, inside), _affine(of, inside))
    return f"({matrix} ({plain}))_e", f"({matrix} ({latex}))_e"


def _constant(values: Any, letters: Letters) -> Words:
    """The formula of numbers, with a minus in front if none is positive."""
    if np.max(values, initial=-1.0) <= 0.0:
        plain = letters.numbers(-np.asarray(values))
        return times("-1", (plain, plain))
    plain = letters.numbers(values)
    return plain, plain


def _domain(variable: Variable) -> Words:
    """The set of a variable's values."""
    name, latex = named(variable.name)
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
