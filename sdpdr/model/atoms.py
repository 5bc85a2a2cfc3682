"""Functions of cvxpy, applied to affine expressions: their values, gradients and cones.

cvxpy writes a function of a placeholder as a small conic program, whose optimal value is the
function. In a model, expressions take the place of the placeholder. A function of exponential or
power cones has no standard form: it stays as it is, and the model is rendered to cvxpy.

cvxpy is imported when it is first needed, not with this module.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp

from sdpdr.base.arrays import Array
from sdpdr.base.errors import DataError, ModelError
from sdpdr.base.packages import needs_packages
from sdpdr.linalg import LinearMap, VectorMap
from sdpdr.linalg.svec import smat, svec_pairs, svec_size
from sdpdr.model.affine import Affine
from sdpdr.model.terms import AtMost, Equal, InCone, Term
from sdpdr.program.point import Variable, VectorVariable
from sdpdr.program.sdp import SDP

Maps: TypeAlias = "Mapping[str, LinearMap | VectorMap]"
Built: TypeAlias = "tuple[Sequence[Variable], Sequence[Term], Affine]"
# Names of the placeholder in a program, and of the scalar if it is the whole objective.
_ARGUMENT, _TOP = "argument", "top"
# Relative size of an eigenvalue that counts as zero; the matrices that cvxpy writes hold small
# whole numbers.
_ROUNDED = 1e-5


def _cvxpy(word: str) -> Any:
    """The module cvxpy, for a function of that name."""
    with needs_packages(f"function {word!r}"):
        import cvxpy

        return cvxpy


@dataclass(frozen=True, eq=False)
class Atom:
    """A convex or concave function of cvxpy, of arrays; if it has many values, their sum.

    All arguments form one vector: an array row by row, and of a symmetric matrix the upper triangle
    in the order of `svec` but not scaled.

    Parameters
    ----------
    function : str or callable
        A name in cvxpy, or a callable that takes cvxpy expressions and returns one, or one and a
        list of constraints on variables of its own, over which it is minimized or maximized.
    shapes : tuple of shapes
        Shapes of the arguments.
    symmetric : tuple of bool
        Whether each argument is a symmetric matrix.
    sign : {1, -1}
        -1 if it is concave.
    more : tuple, optional
        Further arguments, which are not expressions.
    numeric : callable, optional
        The function of arrays, if cvxpy cannot evaluate it.
    named : str, optional
        Its name when printed; that of the function by default.
    count : int, default 1
        Number of values that are summed although no sum was written.
    """

    function: str | Callable[..., Any]
    shapes: tuple[tuple[int, ...], ...]
    symmetric: tuple[bool, ...] = (False,)
    sign: float = 1.0
    more: tuple[Any, ...] = ()
    numeric: Callable[..., float] | None = None
    named: str = ""
    count: int = 1

    @property
    def word(self) -> str:
        """Its name when printed."""
        function = self.function
        return self.named or (function if isinstance(function, str) else function.__name__)

    @cached_property
    def is_conic(self) -> bool:
        """Whether linear constraints, second-order cones and matrix inequalities describe it."""
        cp = _cvxpy(self.word)
        from sdpdr.model.conic.refusals import needed_cones

        expression, constraints = self.express(cp.Variable(sum(self.sizes)))
        problem = cp.Problem(cp.Minimize(self.sign * expression), constraints)
        return not any(True for _ in needed_cones(problem))

    @cached_property
    def sizes(self) -> list[int]:
        """Number of values of each argument."""
        return [
            svec_size(shape[0]) if symmetric else int(np.prod(shape))
            for shape, symmetric in zip(self.shapes, self.symmetric, strict=True)
        ]

    def express(self, values: Any) -> tuple[Any, list[Any]]:
        """The function of a cvxpy vector of all arguments, and constraints on variables it adds."""
        cp = _cvxpy(self.word)
        expression, constraints = self.expressed(values)
        return cp.sum(expression), constraints

    def expressed(self, values: Any) -> tuple[Any, list[Any]]:
        """The same without summing, with as many values as the function has."""
        cp = _cvxpy(self.word)
        arguments, start = [], 0
        for shape, symmetric, size in zip(self.shapes, self.symmetric, self.sizes, strict=True):
            part = values[start : start + size]
            start += size
            if symmetric:
                part = _full_from_upper(shape[0]) @ part
            arguments.append(cp.reshape(part, shape, order="C"))
        function = getattr(cp, self.function) if isinstance(self.function, str) else self.function
        made = function(*arguments, *self.more)
        return made if isinstance(made, tuple) else (made, [])

    def value(self, values: Array) -> float:
        """The function at numbers.

        Outside its domain, a convex function is plus infinity and a concave one minus infinity.
        """
        cp = _cvxpy(self.word)
        with np.errstate(all="ignore"):
            try:
                if self.numeric is not None:
                    return self.numeric(*self._arrays(values))
                found = float(self.express(cp.Constant(values))[0].value)
            except np.linalg.LinAlgError:  # as of the inverse of a singular matrix
                found = np.nan
        return self.sign * np.inf if np.isnan(found) else found

    def _arrays(self, values: Array) -> list[Array]:
        """The arguments as arrays."""
        parts = np.split(values, np.cumsum(self.sizes)[:-1])
        return [
            (_full_from_upper(shape[0]) @ part if symmetric else part).reshape(shape)
            for part, shape, symmetric in zip(parts, self.shapes, self.symmetric, strict=True)
        ]

    def gradient(self, values: Array) -> Array:
        """The gradient with respect to all arguments, at a point where it exists.

        Examples
        --------
        >>> shared_atom("log_sum_exp", ((2,),)).gradient(np.zeros(2))
        array([0.5, 0.5])
        """
        cp = _cvxpy(self.word)
        variable = cp.Variable(sum(self.sizes), value=values)
        slope = self.express(variable)[0].grad[variable]
        if slope is None:
            raise DataError(f"{self.word} has no gradient at {values.tolist()}.")
        return np.asarray(slope.toarray()).ravel()

    @cached_property
    def cones(self) -> ConeForm:
        """The convex one of f and -f, as a program in the standard form."""
        return _cone_form(self)


# The same object for equal arguments, so that its cones are written once.
shared_atom = lru_cache(maxsize=256)(Atom)


def atom_of(
    function: Callable[..., Any],
    shapes: tuple[tuple[int, ...], ...],
    symmetric: tuple[bool, ...],
    more: tuple[Any, ...] = (),
    word: str = "f",
) -> Atom:
    """An `Atom` of a function that takes cvxpy expressions, with the curvature that cvxpy finds.

    The sign of an affine function is zero.

    Raises
    ------
    ModelError
        If cvxpy cannot verify that it is convex or concave, or if it depends on more than its
        arguments.
    """
    cp = _cvxpy(word)
    trial = Atom(function, shapes, symmetric, 1.0, more, named=word)
    values = cp.Variable(sum(trial.sizes))
    try:
        count = trial.expressed(values)[0].size
        expression, _ = trial.express(values)
    except AssertionError as error:  # as cvxpy.perspective raises
        raise ModelError(
            f"cvxpy defines {word} for its own variables only; write quad_over_lin(v, t) for the "
            "perspective of squares, and other functions by atoms of expressions."
        ) from error
    except (ValueError, TypeError, AttributeError, RuntimeError) as error:
        kinds = ", ".join(map(str, shapes))
        raise ModelError(f"{word} of shapes {kinds}: {error}") from error
    if not isinstance(expression, cp.Expression) or not (
        expression.is_convex() or expression.is_concave()
    ):
        raise ModelError(
            f"cvxpy finds {word} neither convex nor concave; write it with functions that are, so "
            "that expression.is_convex() or is_concave() is true."
        )
    if expression.parameters() or any(v is not values for v in expression.variables()):
        raise ModelError(
            f"{word} depends on variables or parameters of cvxpy; pass variables and parameters of "
            "this package as arguments."
        )
    sign = 0.0 if expression.is_affine() else 1.0 if expression.is_convex() else -1.0
    return replace(trial, sign=sign, count=count)


@lru_cache(maxsize=32)
def _full_from_upper(n: int) -> sp.csr_array:
    """Sparse matrix that maps an upper triangle in the order of `svec` to all n^2 entries."""
    i, j = svec_pairs(np.arange(svec_size(n)))
    place = np.empty((n, n), dtype=np.intp)
    place[i, j] = place[j, i] = np.arange(i.size)
    entries = (np.ones(n * n), place.ravel(), np.arange(n * n + 1))
    return sp.csr_array(entries, shape=(n * n, i.size))


@dataclass(frozen=True, eq=False)
class ConeForm:
    """A convex function of arguments as the optimal value of a small program.

    Attributes
    ----------
    sdp : SDP
        Minimized over all of its variables but the vector of arguments.
    slope : float or None
        The cost of the scalar ``top``, if it is the whole objective and every larger value of it
        is feasible, too: an upper bound of the function may then replace it. None otherwise.
    """

    sdp: SDP
    slope: float | None

    def above(self, values: Affine, name: str, limit: Affine | None = None) -> Built:
        """Variables, terms, and an expression that the terms keep above the function.

        Parameters
        ----------
        values : Affine
            All arguments as one vector.
        name : str
            The label of the block, and a suffix that distinguishes the function in it.
        limit : Affine, optional
            Replaces the expression; only if there is a `slope`.
        """
        known = {_ARGUMENT: values}
        if limit is not None:
            assert self.slope is not None
            known[_TOP] = ((limit - self.sdp.constant) / self.slope).reshape(1)
        own = {
            v.name: replace(v, name=f"{name}.{_plain(v.name)}")
            for v in self.sdp.variables
            if v.name not in known
        }

        def substituted(maps: Maps, constant: Any) -> Affine:
            total = Affine.of(constant)
            for of, a in maps.items():
                if of in known:
                    total = total + known[of].combined(a.matrix(), (a.m,))
                else:
                    total = total + Affine.in_variable(a, own[of])
            return total

        # If the limit entered a single constraint, that constraint has the name of the block.
        alone = limit is not None and len(self.sdp.rows) + len(self.sdp.lmis) == 1
        terms: list[Term] = []
        for rows in self.sdp.rows:
            left = substituted(rows.lhs, np.zeros(rows.m))
            kind = Equal if rows.relation == "==" else AtMost
            label = term_name(name, "" if alone else _plain(rows.label))
            terms.append(kind(left.linear, rows.rhs - left.constant, label))
        for lmi in self.sdp.lmis:
            label = term_name(name, "" if alone else _plain(lmi.label))
            terms.append(InCone(substituted(lmi.lhs, lmi.constant), "psd", label))
        cost = substituted(self.sdp.objective, np.array([self.sdp.constant]))
        return list(own.values()), terms, cost.reshape(())


def _cone_form(of: Atom) -> ConeForm:
    """The `ConeForm` of the convex one of a function and its negative, as cvxpy writes it."""
    cp = _cvxpy(of.word)
    from sdpdr.model.conic.interface import ConesOnly, read_data

    values = cp.Variable(sum(of.sizes))
    expression, constraints = of.express(values)
    problem = cp.Problem(cp.Minimize(of.sign * expression), constraints)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", r".*approximated \(error: 0\.00e\+00\)", UserWarning)
        data, *_ = problem.get_problem_data(ConesOnly())
    sdp = read_data(data, variables={values.id: _ARGUMENT}, arguments=_ARGUMENT).sdp
    place = _only_cost(sdp)
    if place is None:
        return ConeForm(sdp, None)
    apart = _with_top(sdp, *place)
    slope = float(apart.objective[_TOP].matrix().sum())
    return ConeForm(apart, slope if _is_free_upwards(apart) else None)


def _only_cost(sdp: SDP) -> tuple[str, int] | None:
    """Name and position of the scalar that is the whole objective; None if there is none."""
    if len(sdp.objective) != 1:
        return None
    ((name, cost),) = sdp.objective.items()
    costs = cost.matrix()
    if name == _ARGUMENT or not isinstance(sdp.variable(name), VectorVariable) or costs.nnz != 1:
        return None
    return name, int(sp.coo_array(costs).coords[1][0])


def _with_top(sdp: SDP, name: str, k: int) -> SDP:
    """The program with one entry of a vector variable split off as a variable."""
    variable = sdp.variable(name)
    assert isinstance(variable, VectorVariable)
    rest = np.delete(np.arange(variable.size), k)

    def parted(maps: Maps) -> Maps:
        found = {other: a for other, a in maps.items() if other != name}
        if name in maps:
            matrix = sp.csc_array(maps[name].matrix())
            parts = {_TOP: matrix[:, [k]], name: matrix[:, rest]}
            found |= {v: VectorMap(sp.csr_array(part)) for v, part in parts.items() if part.nnz}
        return found

    own = [VectorVariable(_TOP, 1, variable.nonnegative)]
    if rest.size:
        own.append(replace(variable, size=rest.size))
    others = [v for v in sdp.variables if v.name != name]
    return replace(
        sdp,
        variables=(*others, *own),
        objective=parted(sdp.objective),
        rows=tuple(replace(rows, lhs=parted(rows.lhs)) for rows in sdp.rows),
        lmis=tuple(replace(lmi, lhs=parted(lmi.lhs)) for lmi in sdp.lmis),
    )


def _is_free_upwards(sdp: SDP) -> bool:
    """Whether ``top`` has a positive cost and may be increased at any feasible point."""
    if sdp.objective[_TOP].matrix().sum() < 0.0 or sdp.variable(_TOP).is_signed:
        return False
    for rows in sdp.rows:
        if _TOP in rows.lhs:
            column = rows.lhs[_TOP].matrix().toarray()
            if rows.relation == "==" or np.any(column > 0.0):
                return False
    for lmi in sdp.lmis:
        if _TOP in lmi.lhs:
            added = smat(lmi.lhs[_TOP].matrix().toarray().ravel())
            if np.linalg.eigvalsh(added)[0] < -_ROUNDED * np.max(np.abs(added)):
                return False
    return True


def term_name(part: str, own: str) -> str:
    """The name of a term of the part ``label.k`` of a block, without the label of the block.

    Examples
    --------
    >>> term_name("objective.0", "psd1"), term_name("limit", "psd1")
    ('0.psd1', 'psd1')
    """
    return ".".join(word for word in (part.partition(".")[2], own) if word)


def _plain(label: str) -> str:
    """A label without blanks."""
    return label.replace(" ", "")
