"""How large a program is in every form: what its cost is predicted from, found when asked for."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import chain

import numpy as np

from sdpdr.base.errors import NotAcceptedError
from sdpdr.linalg import (
    BilinearForms,
    Combined,
    InnerProduct,
    LinearMap,
    Products,
    Stacked,
    Summed,
    VectorMap,
)
from sdpdr.linalg.cliques import CliqueTree
from sdpdr.linalg.svec import svec_size
from sdpdr.linalg.walks import BROAD
from sdpdr.program.face import exposing_rows, null_vectors
from sdpdr.program.rows import Rows
from sdpdr.program.sdp import SDP
from sdpdr.reduce.chordal_pattern import Trees, find_trees, long_rows
from sdpdr.reduce.face import Face
from sdpdr.solvers.lowrank.descent.spheres import reason
from sdpdr.solvers.lowrank.edge import form as edges
from sdpdr.solvers.lowrank.edge.effort import EdgeEffort, effort
from sdpdr.solvers.lowrank.frame import MAX_FILL
from sdpdr.solvers.lowrank.general.compile import compile_problem, why_not
from sdpdr.solvers.lowrank.general.parts import stay_forms
from sdpdr.solvers.lowrank.general.problem import FactorProblem
from sdpdr.solvers.lowrank.interior.matrix import (
    INTERIOR_RANK,
    InteriorWork,
    finds_its_way,
    work_at,
)

# Numbers kept of the data beyond which no pattern of the interior point is looked for.
LARGEST_DATA = 20_000_000
# Order of the matrices beyond which cliques take longer to find than they may save here.
LARGEST_PATTERN = 20_000
# So many rows, and for each index so many, are not multiplied out on a face in search of cliques.
MANY_ROWS, CROWDED = 20_000, 50
# An unfolding (see `is_edge_program`), one matrix under other rows, several matrices.
KINDS = ("edges", "single", "several")


@dataclass(frozen=True)
class Shape:
    """A program as a general solver is handed it.

    Attributes
    ----------
    unknowns : int
        Scalar unknowns; a matrix variable has n (n + 1) / 2.
    rows : int
        Equalities and inequalities.
    orders : tuple of int
        Of the positive semidefinite matrices.
    data : int
        Numbers in the data matrices.
    touching : tuple of int
        How many of the program's rows have to do with each of the matrices; empty where every
        matrix is a clique, with which no more rows than it has entries have to do.
    """

    unknowns: int
    rows: int
    orders: tuple[int, ...]
    data: int
    touching: tuple[int, ...] = ()

    @property
    def entries(self) -> int:
        """Entries of all matrices, one triangle."""
        return sum(svec_size(k) for k in self.orders)


class Structure:
    """Sizes, cliques and fill of a program, each computed once and only when it is needed.

    Parameters
    ----------
    sdp : SDP

    Examples
    --------
    >>> from sdpdr import graphs, methods
    >>> structure = Structure(methods.mvu(graphs.path([1.0] * 30)).to_sdp())
    >>> structure.shape("lmi").unknowns, structure.shape("lmi").orders
    (30, (30,))
    >>> max(structure.shape("chordal-lmi").orders) < 12
    True
    """

    def __init__(self, sdp: SDP) -> None:
        self.sdp = sdp

    def shape(self, form: str) -> Shape:
        """What a general solver is handed in a form.

        Raises
        ------
        NotAcceptedError
            If there is no such form of this program, with the reason.
        """
        if form in ("chordal", "chordal-lmi"):
            return self._chordal(form)
        orders = self._orders(reduced=form != "cvxpy")
        if form == "lmi":
            unknowns = self.rows + self.lmi_entries
            if unknowns == 0:
                raise NotAcceptedError("the program has no rows, so its dual has no unknowns")
            return Shape(unknowns, self.rows + self.scalars, orders, self.data, self.touching)
        entries = sum(svec_size(k) for k in orders)
        rows = self.sdp.n_rows if form == "cvxpy" else self.rows
        return Shape(entries + self.scalars, rows, orders, self.data + entries, self.touching)

    @cached_property
    def _shown(self) -> list[Rows]:
        """The rows, those that state a face left out."""
        hidden = {r.label for v in self.sdp.psd_variables for r in exposing_rows(self.sdp, v.name)}
        return [rows for rows in self.sdp.rows if rows.label not in hidden]

    @cached_property
    def rows(self) -> int:
        """Number of rows, those that state a face left out."""
        return sum(rows.m for rows in self._shown)

    @property
    def scalars(self) -> int:
        """Number of scalar variables."""
        return sum(v.size for v in self.sdp.vector_variables)

    @property
    def lmi_entries(self) -> int:
        """Entries of all matrix inequalities, one triangle."""
        return sum(svec_size(lmi.order) for lmi in self.sdp.lmis)

    @cached_property
    def data(self) -> int:
        """Numbers in the data matrices of all rows, those that state a face left out."""
        return self._numbers()

    @cached_property
    def kept(self) -> int:
        """The same as the low-rank solver keeps them, which multiplies out no long vectors."""
        return self._numbers(kept=True)

    def _numbers(self, *, kept: bool = False) -> int:
        expressions = chain(
            (rows.lhs for rows in self._shown),
            (lmi.lhs for lmi in self.sdp.lmis),
            (self.sdp.objective,),
        )
        return sum(numbers(a, kept=kept) for lhs in expressions for a in lhs.values())

    @cached_property
    def touching(self) -> tuple[int, ...]:
        """How many rows have to do with each matrix, and with each matrix inequality."""
        counts = [
            sum(busy_rows(rows.lhs[v.name]) for rows in self._shown if v.name in rows.lhs)
            for v in self.sdp.psd_variables
        ]
        return (*counts, *(svec_size(lmi.order) for lmi in self.sdp.lmis))

    @cached_property
    def effort(self) -> EdgeEffort:
        """What an edge program has before it at the rank of its answer; of no other program."""
        return effort(edges.edge_form(self.sdp).program)

    @cached_property
    def is_edge_program(self) -> bool:
        """Whether it is variance under limits on squared edge lengths."""
        return edges.why_not(self.sdp) is None

    @cached_property
    def interior(self) -> InteriorWork | None:
        """What the interior point of the low-rank solver would do; None where it does not run."""
        if self._factored is None or self.descends or not finds_its_way(self._factored):
            return None
        found = work_at(self._factored, INTERIOR_RANK)
        return found if found.pays and found.numbers <= MAX_FILL else None

    @cached_property
    def descends(self) -> bool:
        """Whether the low-rank solver tries a descent first."""
        return self._factored is not None and bool(reason(self._factored))

    @cached_property
    def _factored(self) -> FactorProblem | None:
        """The program over factors; None where it has none, is one of edges, or has much data."""
        if self.is_edge_program or not self.kept <= LARGEST_DATA or why_not(self.sdp) is not None:
            return None
        return self.sdp.remembered(compile_problem)

    @property
    def engine(self) -> str:
        """Which engine of the low-rank solver it goes to, or its kind where that is the general.

        An unfolding goes to that of edges, or to conjugate gradients ("products").
        """
        if self.kind == "edges":
            return "edges" if self.effort.factored else "products"
        if self.interior is not None:
            return "interior"
        return "descent" if self.descends else self.kind

    @property
    def kind(self) -> str:
        """Which of `KINDS` it is: what rates of success depend on."""
        if self.is_edge_program:
            return "edges"
        matrices = len(self.sdp.psd_variables) + len(self.sdp.lmis)
        return "single" if matrices <= 1 else "several"

    @cached_property
    def trees(self) -> Trees:
        """Cliques of the matrices, on their sparse face; reasons where there are none."""
        largest = max((v.n for v in self.sdp.psd_variables), default=0)
        largest = max([largest, *(lmi.order for lmi in self.sdp.lmis)])
        if largest > LARGEST_PATTERN:
            words = f"cliques are not looked for in matrices of order above {LARGEST_PATTERN}"
            return Trees(reasons={"the program": words})
        if self.rows > max(MANY_ROWS, CROWDED * largest):
            words = f"{self.rows} rows on matrices of order {largest} leave no small cliques"
            return Trees(reasons={"the program": words})
        # What is long would be written out in search of a basis of the face.
        long = long_rows(self.sdp, BROAD)
        if long:
            return Trees(reasons=long)
        face = Face("sparse")
        sdp = self.sdp if face.accepts(self.sdp) else face.apply(self.sdp).sdp
        return find_trees(sdp, broadest=BROAD)

    def _orders(self, reduced: bool) -> tuple[int, ...]:
        return tuple(
            [v.n - (self._nullity[v.name] if reduced else 0) for v in self.sdp.psd_variables]
            + [lmi.order for lmi in self.sdp.lmis]
        )

    @cached_property
    def _nullity(self) -> dict[str, int]:
        return {v.name: null_vectors(self.sdp, v.name).shape[1] for v in self.sdp.psd_variables}

    def _chordal(self, form: str) -> Shape:
        refusal = self.trees.refusal()
        if refusal:
            raise NotAcceptedError(refusal)
        cliques: list[int] = []
        split = {**self.trees.variables, **self.trees.lmis}
        for name, order in zip(self._names, self._orders(reduced=True), strict=True):
            cliques += split[name].sizes.tolist() if name in split else [order]
        overlaps, agreement = _overlaps(self.trees.variables), _overlaps(self.trees.lmis)
        entries = sum(svec_size(k) for k in cliques)
        data = self.data + overlaps + agreement
        if form == "chordal-lmi":
            unknowns = self.rows + self.lmi_entries + overlaps
            return Shape(unknowns, self.rows + self.scalars + agreement, tuple(cliques), data)
        unknowns = entries + self.scalars + agreement
        return Shape(unknowns, self.rows + overlaps, tuple(cliques), data + entries)

    @property
    def _names(self) -> list[str]:
        return [v.name for v in self.sdp.psd_variables] + [lmi.label for lmi in self.sdp.lmis]


def numbers(linear_map: LinearMap | VectorMap, *, kept: bool = False) -> int:
    """Numbers in the data matrices of a map's rows, without multiplying them out where it can be.

    Parameters
    ----------
    linear_map : LinearMap or VectorMap
    kept : bool, default False
        Count forms in long vectors as the low-rank solver keeps them, by their vectors.

    Examples
    --------
    >>> from sdpdr.linalg import QuadraticForms, SquaredEdgeLengths
    >>> numbers(SquaredEdgeLengths(3, [[0, 1], [1, 2]]))
    8
    >>> mean = QuadraticForms(np.ones((1, 10_000)))
    >>> numbers(mean), numbers(mean, kept=True)
    (100000000, 20000)
    """
    if isinstance(linear_map, BilinearForms):
        left, right = (
            np.diff(v.indptr).astype(np.int64) for v in (linear_map.left, linear_map.right)
        )
        stay = stay_forms(linear_map) if kept else False
        return int(np.sum(np.where(stay, left + right, left * right)))
    if isinstance(linear_map, InnerProduct):
        return linear_map.n_entries
    if isinstance(linear_map, Combined):
        share = linear_map.weights.nnz / max(1, linear_map.inner.m)
        return int(share * numbers(linear_map.inner, kept=kept))
    if isinstance(linear_map, (Stacked, Summed)) and linear_map.is_wide():
        return sum(numbers(part, kept=kept) for part in linear_map.maps)
    if isinstance(linear_map, Products):
        return linear_map.n_entries
    return int(linear_map.matrix().nnz)


def busy_rows(linear_map: LinearMap | VectorMap) -> int:
    """Rows of a map that are not zero, without multiplying them out where it can be."""
    if isinstance(linear_map, (BilinearForms, InnerProduct, Combined, Products)):
        return int(linear_map.m)
    if isinstance(linear_map, (Stacked, Summed)) and linear_map.is_wide():
        return int(linear_map.m)
    return int(np.count_nonzero(np.diff(linear_map.matrix().tocsr().indptr)))


def _overlaps(trees: dict[str, CliqueTree]) -> int:
    return sum(tree.n_overlaps for tree in trees.values())
