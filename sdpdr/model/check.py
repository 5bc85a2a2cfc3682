"""A function that tests the laws of blocks, for authors of new blocks."""

from __future__ import annotations

import numpy as np

from sdpdr.base.errors import CompileError, SdpdrError
from sdpdr.base.keywords import checks_keywords
from sdpdr.base.packages import needs_packages
from sdpdr.linalg import LinearMap, check_map
from sdpdr.model.model import Block, Declaration, Model
from sdpdr.model.terms import Penalize, Raw
from sdpdr.program.point import Factor, PsdVariable, Value, Variable


class _Declared(Declaration):
    """Declares the variables that a block under test uses but does not declare."""

    def __init__(self, variables: list[Variable]) -> None:
        self._variables = variables

    def variables(self) -> list[Variable]:
        return self._variables


@checks_keywords
def check_block(block: Block, *, seed: int = 0, tol: float = 1e-8) -> str:
    """Test the laws of a block, and return a report.

    Every linear map in it obeys the laws of maps; every call of ``terms`` returns the same terms;
    the two compilers agree on objective and violations at random points (dense and factored);
    and the formulas print. No solver is called.

    Parameters
    ----------
    block : Block
    seed : int, default 0
    tol : float, default 1e-8
        Relative error allowed.

    Returns
    -------
    str
        One line per law that was tested.

    Raises
    ------
    AssertionError
        Naming the law that fails.

    Examples
    --------
    >>> from sdpdr import check_block
    >>> from sdpdr import blocks
    >>> print(check_block(blocks.Centered(4)))
    centered: 1 term, variables K
    maps: every law holds
    terms: the same on every call
    compilers: standard form and cvxpy agree at 3 random points
    describe: text and LaTeX
    """
    terms = list(block.terms())
    model = Model((_Declared(_missing(block)), block)) if _missing(block) else Model((block,))
    names = ", ".join(v.name for v in model.variables())
    lines = [f"{block.label}: {len(terms)} term{'s' if len(terms) != 1 else ''}, variables {names}"]
    if any(isinstance(t, Raw) for t in terms):
        return "\n".join([*lines, "written in cvxpy: nothing to compare, no standard form"])
    for term in terms:
        for linear_map in term.lhs.maps.values():  # type: ignore[union-attr]  # Raw left above
            if isinstance(linear_map, LinearMap) and linear_map.n <= 200:
                check_map(linear_map, seed=seed)
    lines.append("maps: every law holds")
    again = list(block.terms())
    assert [type(t) for t in again] == [type(t) for t in terms], "terms() differs between calls"
    lines.append("terms: the same on every call")
    for k in range(3):
        _compare_compilers(model, np.random.default_rng(seed + k), tol)
    lines.append("compilers: standard form and cvxpy agree at 3 random points")
    assert model.describe("text"), "describe('text') is empty"
    assert model.describe("latex"), "describe('latex') is empty"
    return "\n".join([*lines, "describe: text and LaTeX"])


def _missing(block: Block) -> list[Variable]:
    """Matrix variables that the block's maps use and that it does not declare."""
    declared = {v.name for v in block.variables()}
    found: dict[str, Variable] = {}
    for term in block.terms():
        if isinstance(term, Raw):
            found.setdefault("K", PsdVariable("K", 3))
            continue
        for name, linear_map in term.lhs.maps.items():
            if name not in declared:
                if not isinstance(linear_map, LinearMap):
                    raise SdpdrError(
                        f"the block uses the vector {name!r} without declaring it; "
                        "check it together with the block that does."
                    )
                found[name] = PsdVariable(name, linear_map.n)
    return list(found.values())


def _compare_compilers(model: Model, rng: np.random.Generator, tol: float) -> None:
    """Raise an error unless both compilers agree on objective and violations at a random point."""
    with needs_packages("check_block"):
        from sdpdr.model.to_cvxpy import render_model  # imports cvxpy

    point: dict[str, Value] = {}
    factored: dict[str, Value] = {}
    for v in model.variables():
        if isinstance(v, PsdVariable):
            factor = rng.standard_normal((v.n, 2))
            point[v.name], factored[v.name] = factor @ factor.T, Factor(factor)
        else:
            point[v.name] = factored[v.name] = np.abs(rng.standard_normal(v.size))
    rendered = render_model(model)
    for name, value in point.items():
        # PSD=True rejects values that rounding made slightly indefinite.
        rendered.variables[name].save_value(value)
    for excess, expression in rendered.excesses.values():
        excess.save_value(expression.value)
    here, there = model.objective(point), float(rendered.problem.objective.value)
    _agree("objective, terms and cvxpy", here, there, tol)
    _agree("objective, dense and factor", here, model.objective(factored), tol)
    violations = model.violations(point)
    for label in violations:
        constraint = rendered.constraints[label]
        worst = float(np.max(constraint.violation(), initial=0.0))
        _agree(f"violation of {label!r}, terms and cvxpy", violations[label], worst, tol)
    try:
        sdp = model.to_sdp()
    except CompileError:
        return
    penalized = {label for label, t in model.labelled_terms() if isinstance(t, Penalize)}
    if not penalized:
        _agree("objective, terms and standard form", here, sdp.report(sdp.primal_value(point)), tol)
    for rows in sdp.rows:
        if rows.label in violations:
            slack = sdp.slack(rows, point)
            miss = np.abs(slack) if rows.relation == "==" else -slack
            worst = float(np.max(miss, initial=0.0))
            _agree(
                f"violation of {rows.label!r}, terms and standard form",
                violations[rows.label],
                worst,
                tol,
            )


def _agree(law: str, a: float, b: float, tol: float) -> None:
    """Raise an error that names the law if two numbers differ."""
    assert abs(a - b) <= tol * (1.0 + abs(a)), f"{law}: {a!r} and {b!r} differ"
