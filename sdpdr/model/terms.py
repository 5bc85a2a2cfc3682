"""The whole vocabulary of blocks: equal, at most, in a cone, minimise, maximise, penalise.

Left-hand and right-hand sides are kept apart, so that any term can be softened or relaxed.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from sdpdr.base.arrays import Array, Index, as_real
from sdpdr.base.errors import ModelError, ShapeError
from sdpdr.linalg.svec import order_of, smat
from sdpdr.model.affine import Affine, evaluate
from sdpdr.program.point import Value

if TYPE_CHECKING:
    from sdpdr.model.atoms import Atom

Penalty = Literal["absolute", "positive", "square"]
PENALTIES = ("absolute", "positive", "square")


@dataclass(frozen=True, eq=False)
class Called:
    """A function of expressions as it was written, for printing.

    Parameters
    ----------
    word : str
        The name of a function, or a penalty, which stands for the sum over all values.
    of : tuple of Affine or str
        Its arguments; matrices are printed as matrices if `of_matrices`.
    factors : tuple of Affine, array or float
        Factors, each one value or one for each value of a penalty.
    sign : {1, -1}
    of_matrices : bool, default False
    """

    word: str
    of: tuple[Affine | str, ...]
    factors: tuple[Affine | Array | float, ...] = ()
    sign: float = 1.0
    of_matrices: bool = False


@dataclass(frozen=True, eq=False)
class Shown:
    """A sum of an expression and functions as it was written, for printing.

    Parameters
    ----------
    affine : Affine
    calls : tuple of Called
    """

    affine: Affine
    calls: tuple[Called, ...] = ()


@dataclass(frozen=True, eq=False)
class Written:
    """A comparison as it was written, for printing.

    Parameters
    ----------
    left : Affine or Shown, optional
        None for a term that a function introduced, which another term of the block shows.
    relation : {"<=", ">=", "==", ">>", "<<"}
    right : Affine, optional
    """

    left: Affine | Shown | None = None
    relation: str = "<="
    right: Affine | None = None


class _Term:
    """Base of terms, which can be evaluated at a point."""

    def cost_at(self, values: Mapping[str, Value]) -> float:
        """Its contribution to the minimised objective; zero for a constraint."""
        return 0.0

    def excess(self, values: Mapping[str, Value]) -> Array | None:
        """Violation of each row of a constraint, negative if it holds strictly; None for a cost."""
        return None


@dataclass(frozen=True, eq=False)
class _Sided(_Term):
    lhs: Affine
    rhs: Any
    name: str = ""
    symbol: str = "b"
    written: Written | None = None

    def __post_init__(self) -> None:
        rhs = as_real(self.rhs)
        if rhs.ndim > 1 or rhs.size not in (1, self.lhs.m):
            raise ShapeError(
                f"{type(self).__name__}: the left side has {self.lhs.m} values, the right side "
                f"shape {rhs.shape}."
            )
        object.__setattr__(self, "rhs", np.broadcast_to(rhs, (self.lhs.m,)).copy())

    def excess(self, values: Mapping[str, Value]) -> Array:
        """The left-hand side minus the right-hand side."""
        return evaluate(self.lhs, values) - self.rhs


@dataclass(frozen=True, eq=False)
class Equal(_Sided):
    """``lhs == rhs``, row by row.

    Parameters
    ----------
    lhs : Affine
    rhs : array_like of shape (m,) or number
    name : str
        Distinguishes the terms of one block; the rows' label is ``block.name``.
    symbol : str
        The right-hand side in formulas.
    written : Written, optional
        The printed form of the row, if it was written with operators.
    """

    def excess(self, values: Mapping[str, Value]) -> Array:
        """The absolute difference of the sides."""
        return np.abs(super().excess(values))


@dataclass(frozen=True, eq=False)
class AtMost(_Sided):
    """``lhs <= rhs``, row by row (parameters as for `Equal`)."""


@dataclass(frozen=True, eq=False)
class InCone(_Term):
    """``lhs`` lies in a cone.

    Parameters
    ----------
    lhs : Affine
        The values; for ``"psd"`` in ``svec`` coordinates.
    cone : {"psd", "nonnegative"}
    name : str
    """

    lhs: Affine
    cone: Literal["psd", "nonnegative"]
    name: str = ""
    written: Written | None = None

    def __post_init__(self) -> None:
        if self.cone not in ("psd", "nonnegative"):
            raise ModelError(f"cone must be 'psd' or 'nonnegative'; it is {self.cone!r}.")
        if self.cone == "psd":
            order_of(self.lhs.m)

    def excess(self, values: Mapping[str, Value]) -> Array:
        """The negated entries, or the negated eigenvalues."""
        found = evaluate(self.lhs, values)
        return np.asarray(
            -found if self.cone == "nonnegative" else -np.linalg.eigvalsh(smat(found))
        )


@dataclass(frozen=True, eq=False)
class _Objective(_Term):
    lhs: Affine
    name: str = ""
    written: Shown | None = None

    def __post_init__(self) -> None:
        if self.lhs.m != 1:
            raise ShapeError(f"an objective has one value; this expression has {self.lhs.m}.")

    @property
    @abstractmethod
    def cost(self) -> Affine:
        """Its contribution to the minimised objective."""

    def cost_at(self, values: Mapping[str, Value]) -> float:
        """The cost at a point."""
        return float(evaluate(self.cost, values)[0])


@dataclass(frozen=True, eq=False)
class Minimize(_Objective):
    """Minimises a scalar affine expression.

    The objectives of a model add up. It is reported as a maximisation if all of them are
    `Maximize`, and as a minimisation if one is `Minimize`.

    Parameters
    ----------
    lhs : Affine
        The expression, with one value.
    name : str
    written : Shown, optional
        Its printed form, without penalties that are separate terms.
    """

    @property
    def cost(self) -> Affine:
        """Its contribution to the minimised objective."""
        return self.lhs


@dataclass(frozen=True, eq=False)
class Maximize(_Objective):
    """Maximises a scalar affine expression (parameters as for `Minimize`)."""

    @cached_property
    def cost(self) -> Affine:
        """Its contribution to the minimised objective."""
        return -self.lhs


def require_weights(weights: Any, what: str) -> None:
    """Raise an error for weights that are negative or not finite.

    Raises
    ------
    ModelError
    """
    given = np.asarray(weights)
    if not np.all((given >= 0.0) & np.isfinite(given)):
        wrong = given[~((given >= 0.0) & np.isfinite(given))].flat[0]
        raise ModelError(
            f"the weights of {what} must be positive and finite, or zero, which means no term; "
            f"one of them is {wrong:g}."
        )


@dataclass(frozen=True, eq=False)
class Penalize(_Term):
    r"""Adds a penalty for the excess ``v = lhs - rhs`` of every row to the minimised objective.

    =============  ===========================================
    ``penalty``    cost of a row
    =============  ===========================================
    ``absolute``   weight * \|v\|
    ``positive``   weight * max(v, 0)
    ``square``     weight / 2 * v**2
    =============  ===========================================

    Parameters
    ----------
    lhs : Affine
    rhs : array_like of shape (m,) or number
    penalty : {"absolute", "positive", "square"}
    weight : array_like of shape (m,) or number
        Positive; rows of weight zero are left out.
    name, symbol : str
    written : Called, optional
        The penalty as it was written, for printing; its factors are half of ``weight`` for squares.
    """

    lhs: Affine
    rhs: Any
    penalty: Penalty
    weight: Any
    name: str = ""
    symbol: str = "b"
    written: Called | None = None

    def __post_init__(self) -> None:
        for field in ("rhs", "weight"):
            value = as_real(getattr(self, field))
            if value.ndim > 1 or value.size not in (1, self.lhs.m):
                raise ShapeError(f"Penalize: {field} must have {self.lhs.m} values or one.")
            object.__setattr__(self, field, np.broadcast_to(value, (self.lhs.m,)).copy())
        if self.penalty not in PENALTIES:
            raise ModelError(
                f"penalty must be 'absolute', 'positive' or 'square'; it is {self.penalty!r}."
            )
        require_weights(self.weight, "a penalty")
        if not np.all(self.weight):
            self._keep(np.flatnonzero(self.weight))

    def _keep(self, rows: Index) -> None:
        """Drop all other rows."""
        for name in ("rhs", "weight"):
            object.__setattr__(self, name, getattr(self, name)[rows])
        object.__setattr__(self, "lhs", self.lhs.picked(rows))
        if self.written is not None:
            parts = (self.written.of, self.written.factors)
            of, factors = (tuple(_rows_of(part, rows) for part in each) for each in parts)
            object.__setattr__(self, "written", replace(self.written, of=of, factors=factors))

    def cost_at(self, values: Mapping[str, Value]) -> float:
        """The sum of the penalties of all rows."""
        excess = evaluate(self.lhs, values) - self.rhs
        if self.penalty == "square":
            return float(0.5 * self.weight @ np.square(excess))
        size = np.abs(excess) if self.penalty == "absolute" else np.maximum(excess, 0.0)
        return float(self.weight @ size)


def _rows_of(part: Any, rows: Index) -> Any:
    """A factor or an argument for some of the rows of a penalty."""
    return part if isinstance(part, (float, str)) or not part.shape else part.reshape(-1)[rows]


@dataclass(frozen=True, eq=False)
class Smooth(_Term):
    """Adds a convex function of exponential or power cones to the minimised objective.

    Such a model has no standard form. Value and bound are proved over the cones with which cvxpy
    writes it (`sdpdr.certify`).

    Parameters
    ----------
    lhs : Affine
        All arguments as one vector.
    function : Atom
        The function; if it is concave, its negative is added.
    weight : float
        Positive.
    name : str
    written : Called, optional
        The function as it was written, with its weight, for printing.
    """

    lhs: Affine
    function: Atom
    weight: float = 1.0
    name: str = ""
    written: Called | None = None

    def cost_at(self, values: Mapping[str, Value]) -> float:
        """The function, times its weight."""
        found = self.function.value(evaluate(self.lhs, values))
        return self.weight * self.function.sign * found


@dataclass(frozen=True, eq=False)
class Raw(_Term):
    """Constraints or an objective written in cvxpy directly; such a model has no SDP form.

    Parameters
    ----------
    build : callable
        Takes the mapping from variable name to cvxpy variable; returns a list of cvxpy
        constraints, or a scalar cvxpy expression to minimise.
    """

    build: Callable[..., Any]
    name: str = ""


Term: TypeAlias = "Equal | AtMost | InCone | Minimize | Maximize | Penalize | Smooth | Raw"
