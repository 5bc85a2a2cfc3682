"""Blocks, of which each is a statement about named variables, and models, which are their sums."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from numbers import Number
from typing import TYPE_CHECKING, Any

import numpy as np

from sdpdr.base.attributes import OF_MODELS, Advising
from sdpdr.base.errors import ModelError
from sdpdr.base.keywords import ChecksKeywords
from sdpdr.base.packages import needs_packages
from sdpdr.model.affine import Declared, Operators, is_curved, require_one
from sdpdr.model.describe import describe, legend
from sdpdr.model.labels import Labels
from sdpdr.model.operands import NothingButAdded
from sdpdr.model.terms import (
    AtMost,
    Equal,
    InCone,
    Maximize,
    Minimize,
    Penalize,
    Raw,
    Smooth,
    Term,
)
from sdpdr.model.to_sdp import to_sdp
from sdpdr.program.point import PsdVariable, ShapedVariable, Value, Variable
from sdpdr.program.sdp import SDP

if TYPE_CHECKING:
    import cvxpy

    from sdpdr.model.parameters import Parameter
    from sdpdr.program.solution import Solution


class Block(NothingButAdded, ChecksKeywords, ABC):
    """A statement about named variables. Subclass it as a frozen dataclass.

    A block yields terms of the vocabulary in `sdpdr.model.terms`; it may also declare variables.
    It never sees cvxpy, a solver, or another block. Blocks add up to models with ``+``.

    Examples
    --------
    A block that fixes the squared distance of two points:

    >>> from dataclasses import dataclass
    >>> from sdpdr.linalg import SquaredEdgeLengths
    >>> from sdpdr.model import Block
    >>> from sdpdr.model.terms import Equal
    >>> from sdpdr.model.affine import Var
    >>> @dataclass(frozen=True, eq=False)
    ... class PinnedPair(Block):
    ...     n: int
    ...     i: int
    ...     j: int
    ...     sqdist: float
    ...     def terms(self):
    ...         length = SquaredEdgeLengths(self.n, [(self.i, self.j)]) @ Var("K")
    ...         yield Equal(length, self.sqdist, symbol="d_ij")
    """

    @abstractmethod
    def terms(self) -> Iterable[Term]:
        """The statements, in any order."""

    def variables(self) -> Iterable[Variable]:
        """Variables that this block declares; none by default."""
        return ()

    def parameters(self) -> dict[str, Parameter]:
        """The parameters in it, by name; none by default."""
        return {}

    declares = True
    """Whether it declares its variables; blocks written with operators only refer to theirs."""

    def with_unique_label(self, labels: Labels) -> Block:
        """The block for a model with these labels, relabelled if needed; unchanged by default."""
        return self

    @property
    def as_added(self) -> Block:
        """The block that was added to a model, before `with_unique_label` relabelled it."""
        return self

    @property
    def label(self) -> str:
        """Name under which the block's rows and multipliers are found: its class, in lower case."""
        return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", type(self).__name__).lower()

    @property
    def kind(self) -> str:
        """The name of the block in the representation of a model: its class."""
        return type(self).__name__

    def __add__(self, other: Block | Model) -> Model:
        return Model((self,)) + other

    def __radd__(self, other: Any) -> Model:
        """So that ``sum`` adds blocks."""
        alone = Model((self,))
        return alone if isinstance(other, int) and other == 0 else alone + other


class Declaration(Block):
    """A block that declares variables and adds no constraint."""

    def terms(self) -> Iterable[Term]:
        """No terms: variables are positive semidefinite by their type."""
        return ()


@dataclass(frozen=True, eq=False)
class Model(NothingButAdded, Advising):
    """A sum of blocks, which together state a semidefinite program.

    Parameters
    ----------
    blocks : tuple of Block
    name : str, default ""
    maximize : bool, optional
        Whether to report values as those of a maximisation. By default this is the case if there
        are objectives and all of them are `Maximize`.

    Examples
    --------
    >>> from sdpdr import blocks, graphs
    >>> graph = graphs.path([1.0, 2.0])
    >>> model = (blocks.Gram(3) + blocks.Centered(3)
    ...          + blocks.Isometry(graph, "inequality") + blocks.Variance(3))
    >>> print(model.describe())
    maximise    tr K
    over        K ∈ S^3, K ⪰ 0
    subject to  K 1 = 0                            centered, 3 rows
                K_ii + K_jj − 2 K_ij ≤ d_ij        isometry, 2 rows
    """

    elsewhere = OF_MODELS

    blocks: tuple[Block, ...]
    name: str = ""
    maximize: bool | None = None

    def __add__(self, other: Block | Model | Sequence[Block | Model]) -> Model:
        if isinstance(other, (list, tuple)):
            return sum(other, self)
        if isinstance(other, Model):
            name = self.name or other.name
            return self._with(other.blocks, other.declared, name)
        if isinstance(other, Block):
            declared = _declared_by(other)
            other = other.with_unique_label(self._labels)
            return self._with((other,), declared, self.name)
        if isinstance(other, Operators):
            raise ModelError(
                f"an expression of shape {other.shape} alone is no constraint; compare it "
                "(<=, ==, >=) or write maximize(expression)."
            )
        if is_curved(other):
            raise ModelError(
                "a sum of convex functions, or a concave one, is no block; write minimize(...) or "
                "maximize(...) of it, bound it, or add each penalty by itself, with its weight."
            )
        raise ModelError(
            "a model adds blocks and models; it was given an object of type "
            f"{type(other).__name__}{_what_to_write(other)}."
        )

    def __radd__(self, other: Any) -> Model:
        # `sum` starts with 0.
        return self if isinstance(other, int) and other == 0 else self + other

    @cached_property
    def declared(self) -> dict[str, Declared]:
        """Variables and parameters by name, without those that functions introduce."""
        found: dict[str, Declared] = {}
        for block in self.blocks:
            found = {**_declared_by(block), **found}
        return found

    def _with(self, more: tuple[Block, ...], others: Mapping[str, Declared], name: str) -> Model:
        """The model and more blocks; an error if a name has two meanings."""
        for shared in self.declared.keys() & others.keys():
            require_one(shared, self.declared[shared], others[shared])
        made = Model(self.blocks + more, name, self.maximize)
        # Set here, because collecting them from all blocks for each sum takes quadratic time.
        made.__dict__["declared"] = {**others, **self.declared}
        labels = made.__dict__["_labels"] = self._labels.copy()
        labels.taken.update(block.label for block in more)
        return made

    @cached_property
    def _labels(self) -> Labels:
        """The labels of all blocks."""
        return Labels(block.label for block in self.blocks)

    # -- the terms, labelled: what both compilers read --------------------------------------

    def variables(self) -> tuple[Variable, ...]:
        """All variables declared, in order.

        Raises
        ------
        ModelError
            If two blocks declare different variables of one name, or none declares any.
        """
        found: dict[str, Variable] = {}
        by_blocks: set[str] = set()
        for block in self.blocks:
            for variable in block.variables():
                declared = variable.name in by_blocks
                known = found.setdefault(variable.name, variable)
                # Blocks written with operators refer to variables that other blocks declare, too.
                if known is not variable and (known != variable or (block.declares and declared)):
                    raise ModelError(
                        f"variable {variable.name!r} is declared twice; give one of the blocks "
                        "another name."
                    )
                if block.declares:
                    by_blocks.add(variable.name)
        if not found:
            raise ModelError("no block declares a variable; add Gram(n), for instance.")
        return tuple(found.values())

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """The shapes of scalars that were declared as arrays, or as one number, by name."""
        return {v.name: v.shape for v in self.variables() if isinstance(v, ShapedVariable)}

    def labelled_terms(self) -> Iterator[tuple[str, Term]]:
        """Every term with its label, ``block`` or ``block.name``; labels are unique.

        Raises
        ------
        ModelError
            If a term uses a variable that no block declares.
        """
        return ((label, term) for _, _, label, term in self._labelled())

    @property
    def labels(self) -> dict[Block, str]:
        """The label of every block with terms, by the block that was added; the first, if twice."""
        found: dict[Block, str] = {}
        for block, own, _, _ in self._labelled():
            found.setdefault(block.as_added, own)
        return found

    def _labelled(self) -> Iterator[tuple[Block, str, str, Term]]:
        """Every term, with its block, the label of that, and its own label."""
        known = {v.name for v in self.variables()}
        seen, heads = Labels(), Labels()
        for block in self.blocks:
            own = heads.unique(block.label)
            for term in block.terms():
                if isinstance(term, Penalize) and not term.lhs.m:
                    continue  # of weights that are zero
                label = seen.take(f"{own}.{term.name}" if term.name else own)
                heads.taken.add(label.split(".")[0])
                missing = set() if isinstance(term, Raw) else set(term.lhs.maps) - known
                if missing:
                    raise ModelError(
                        f"block {own!r} uses the variable {sorted(missing)[0]!r}, which no block "
                        f"declares; declared are {', '.join(sorted(known))}."
                    )
                yield block, own, label, term

    @cached_property
    def is_maximization(self) -> bool:
        """Whether values are those of a maximisation: as passed, or if all objectives are."""
        if self.maximize is not None:
            return self.maximize
        objectives = [t for _, t in self.labelled_terms() if isinstance(t, (Minimize, Maximize))]
        return bool(objectives) and all(isinstance(t, Maximize) for t in objectives)

    @cached_property
    def has_standard_form(self) -> bool:
        """Whether no block needs exponential or power cones, or is written in cvxpy directly."""
        return not any(isinstance(term, (Smooth, Raw)) for _, term in self.labelled_terms())

    @cached_property
    def is_smooth(self) -> bool:
        """Whether it is a semidefinite program plus functions of exponential or power cones."""
        kinds = [type(term) for _, term in self.labelled_terms()]
        return Smooth in kinds and Raw not in kinds

    # -- evaluating without a solver --------------------------------------------------------

    def objective(self, values: Mapping[str, Value]) -> float:
        """The objective at a point, with penalties; the maximised one if `is_maximization`."""
        total = 0.0
        for label, term in self.labelled_terms():
            if isinstance(term, Raw):
                raise ModelError(f"{label!r} is written in cvxpy; only cvxpy can evaluate it.")
            total += term.cost_at(values)
        return -total if self.is_maximization else total

    def violations(self, values: Mapping[str, Value]) -> dict[str, float]:
        """Largest violation of every constraint at a point, by label; 0 if it holds."""
        found = {}
        for label, term in self.labelled_terms():
            if (excess := term.excess(values)) is not None:
                found[label] = float(np.max(excess, initial=0.0))
        return found

    # -- compiling and describing -------------------------------------------------------------

    def to_sdp(self) -> SDP:
        """Lower to the solver-neutral standard form, keeping structure and labels.

        Raises
        ------
        CompileError
            If a block is written in cvxpy directly.
        """
        return to_sdp(self)

    def to_cvxpy(self) -> cvxpy.Problem:
        """The model as a named ``cvxpy.Problem``, ready for any cvxpy solver."""
        with needs_packages("Model.to_cvxpy"):
            from sdpdr.model.to_cvxpy import to_cvxpy

        return to_cvxpy(self)

    def parameters(self) -> dict[str, Parameter]:
        """The parameters of all blocks, by name.

        Raises
        ------
        ModelError
            If different ones have one name.
        """
        found: dict[str, Parameter] = {}
        for block in self.blocks:
            for name, parameter in block.parameters().items():
                if found.setdefault(name, parameter) is not parameter:
                    raise ModelError(
                        f"two different parameters are called {name!r}; rename one of them."
                    )
        return found

    def solve(self, **options: Any) -> Solution:
        """Solve, starting at the last answer if there is one; useful if parameters change.

        The solver that proved the last answer starts there if it can (``lowrank`` can). If that
        proves nothing, or there is no last answer, this is `sdpdr.solve`.

        Parameters
        ----------
        **options
            As for `sdpdr.solve`.

        Returns
        -------
        Solution
        """
        from sdpdr.solving.parametric import solve_again

        return solve_again(self, **options)

    def describe(self, style: str = "text") -> str:
        """The program in mathematics, with sizes.

        Parameters
        ----------
        style : {"text", "latex"}
        """
        return describe(self, style)

    def legend(self) -> dict[str, dict[str, Any]]:
        """The arrays of the letters of `describe`, by label.

        Examples
        --------
        >>> from sdpdr import maximize, psd
        >>> K = psd("K", 3)
        >>> model = maximize(K.trace()) + (K.distance2([0, 1], [1, 2]) <= [1.0, 4.0])
        >>> model.legend()["at_most"]
        {'i': array([0, 1]), 'j': array([1, 2]), 'b': array([1., 4.])}
        """
        return legend(self)

    def size(self) -> dict[str, Any]:
        """The size of the program: orders of matrices, number of scalars, rows by label."""
        variables = self.variables()
        rows = {
            label: term.lhs.m
            for label, term in self.labelled_terms()
            if isinstance(term, (Equal, AtMost, InCone, Penalize))
        }
        return {
            "matrices": {v.name: v.n for v in variables if isinstance(v, PsdVariable)},
            "scalars": sum(v.size for v in variables if not isinstance(v, PsdVariable)),
            "rows": rows,
        }

    def __str__(self) -> str:
        return self.describe()

    def _repr_latex_(self) -> str:
        """LaTeX for notebooks."""
        return f"$$\n{self.describe('latex')}\n$$"

    def __repr__(self) -> str:
        return " + ".join(block.kind for block in self.blocks) or "Model()"


def _declared_by(block: Block) -> Mapping[str, Declared]:
    """The variables and parameters in a block, by name."""
    declared: Mapping[str, Declared] | None = getattr(block, "declared", None)
    return {v.name: v for v in block.variables()} if declared is None else declared


def _what_to_write(other: Any) -> str:
    """Advice if something that is no block was added to a model."""
    if type(other).__module__.partition(".")[0] == "cvxpy":
        return "; write from_cvxpy(function) for constraints that are written in cvxpy"
    if isinstance(other, (bool, np.bool_)):
        return "; a comparison of numbers is true or false, so compare an expression"
    if isinstance(other, (Number, np.ndarray)):
        return "; numbers are added to what is minimised, minimize(f + 3.0)"
    if isinstance(other, Iterable) and not isinstance(other, str):
        return "; write several statements as a list"
    return "; compare expressions (<=, ==, >=), or write minimize(f) or maximize(f)"
