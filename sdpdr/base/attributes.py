"""Attributes that objects of other packages have, and what to write here."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar

from sdpdr.base.from_cvxpy import spelling

_SOLVED = "solve it, solution = model.solve(), and read solution."
_ADDED = "write model + constraint."


def _several(words: Mapping[str, str]) -> dict[str, str]:
    return {name: advice for names, advice in words.items() for name in names.split()}


OF_MODELS = _several(
    {
        "value objective_value obj_value opt_val": f"{_SOLVED}value.",
        "status is_dcp solver_stats": f"{_SOLVED}status.",
        "solution primal_solution": "write solution = model.solve().",
        "optimize optimise run compute fit": "write model.solve().",
        "constraints variables": "print(model.describe()) shows all of the program.",
        "dual dual_value duals": f"{_SOLVED}dual(label).",
        "add append add_constraint add_constraints addConstr": _ADDED,
    }
)
OF_SOLUTIONS = _several(
    {
        "objective objective_value obj_value obj_val opt_val optimal_value fun": "write "
        "solution.value, or solution.bound for what is proved.",
        "x X primal variables primal_vars": "write solution['name'] or solution[expression].",
        "dual_value dual_values dual_vars multipliers lagrange": "write solution.dual(label).",
        "solver_stats info message iterations num_iters nit": "write solution.claimed, or "
        "print(solution.report(details=True)).",
        "time solve_time run_time": "write solution.timings.",
        "success is_optimal optimal": "write solution.certified(), or compare solution.status.",
    }
)
OF_EXPRESSIONS = _several(
    {
        "value": "write solution[expression], or expression.at(values) with values by name.",
        "dual_value": "multipliers are those of constraints, solution.dual(label).",
        "tr": "write K.trace().",
        "eigenvalues eigvals eigvalsh": "write lambda_max(S), lambda_min(S) or sum_largest(S, k).",
        "det logdet": "write log_det(K) or root_det(K).",
    }
)


class Advising:
    """Mixin whose missing attributes are answered with what to write, where a package has them."""

    elsewhere: ClassVar[Mapping[str, str]] = MappingProxyType({})
    # Whether functions of cvxpy are taken of it.
    has_functions: ClassVar[bool] = False

    if not TYPE_CHECKING:  # for mypy, an attribute that is missing stays missing

        def __getattr__(self, name: str) -> Any:
            words = f"{type(self).__name__!r} object has no attribute {name!r}"
            advice = self.elsewhere.get(name)
            if advice is None and self.has_functions:
                advice = spelling(name)
            if advice:
                words = f"{words}; {advice.rstrip('.')}."
            # With the name and the object, Python offers the attribute that is spelt nearly so.
            raise AttributeError(words, name=name, obj=self)
