r"""Work and memory, to leading order, and the constants that a calibration finds for a solver.

With V unknowns, matrices of orders :math:`n_k` with :math:`s_k = n_k (n_k + 1) / 2` entries:

- a Schur complement (SDPA, MOSEK) costs :math:`V^3/3 + V^2 a + \sum_k 2\, n_k^3` an iteration, a
  the mean number of numbers in a data matrix; CVXOPT does not look for zeros in them, and spends
  :math:`\sum_k (V n_k^3 + V^2 n_k^2)` instead;
- Clarabel factors dense blocks of order :math:`s_k`, and what they leave in the :math:`r_k` rows
  that have to do with them: :math:`\sum_k s_k^3 / 3 + s_k^2 r_k + s_k r_k^2`, and
  :math:`\max_k r_k^3 / 3`; matrix inequalities it first splits along their cliques;
- SCS takes eigenvalue decompositions, :math:`\sum_k 10\, n_k^3`, and substitutions;
- a sparse factorization with f numbers in its N columns costs :math:`f^2 / N`;
- conjugate gradients on an augmented Lagrangian cost the data times the rank r a product.

References
----------
Fujisawa, Kojima, Nakata, Exploiting sparsity in primal-dual interior-point methods for
semidefinite programming, Math. Program. 79, 1997. Vandenberghe, Andersen, Chordal Graphs and
Semidefinite Optimization, Found. Trends Optim. 1(4), 2015, chapter 7.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from sdpdr.linalg.svec import svec_size
from sdpdr.solvers.processes.ends import allowed_memory as allowed_memory
from sdpdr.solving.costs.structure import KINDS, Shape, Structure

# Columns of a factor for which the rows of the interior point are assembled.
RANK = 6
# What the edge engine spends on an edge and a column beside its factorizations, in multiplications:
# of 30, 300, ..., 1e5 the one at which the library's runs are predicted best, and at which rolls of
# 10,000 points, whose factors stay thin, are no longer predicted an eighth of their seconds.
PER_EDGE = 3e4
# Tolerances at which shares of success are kept.
TOLERANCES = (1e-3, 1e-4, 1e-5, 1e-6)
# Fitted once to runs of every solver in every form on the problem library.
TABLE = Path(__file__).with_name("rates.csv")
_NUMBERS = ("start", "scale", "power", "base", "each")


@dataclass(frozen=True)
class Rate:
    r"""Seconds ``start + scale * (work / 1e9) ** power``, and the memory and luck to expect.

    Parameters
    ----------
    start, scale, power : float
    base, each : float
        Bytes of memory, and those for every number that the algorithm stores.
    reach : mapping from kind of program to tuple of float
        Share of the library's programs of that kind on which it reached each of `TOLERANCES`.
    """

    start: float
    scale: float
    power: float
    base: float
    each: float
    reach: Mapping[str, tuple[float, ...]]

    def seconds(self, work: float) -> float:
        """Seconds for a number of multiplications."""
        return float(self.start + self.scale * (work / 1e9) ** self.power)

    def memory(self, numbers: float) -> float:
        """Bytes for numbers stored."""
        return float(self.base + self.each * numbers)

    def share(self, kind: str, tol: float) -> float:
        """Share of the library's programs of that kind on which ``tol`` was reached."""
        looser = [k for k, known in enumerate(TOLERANCES) if known > tol * (1.0 + 1e-9)]
        return self.reach[kind][min(len(looser), len(TOLERANCES) - 1)]


def read_rates() -> dict[tuple[str, str], Rate]:
    """Rates by solver and form, or by solver and engine for the form "factor"."""
    with TABLE.open(encoding="utf-8", newline="") as file:
        return {
            (row["solver"], row["form"]): Rate(
                **{name: float(row[name]) for name in _NUMBERS},
                reach={kind: tuple(map(float, row[kind].split())) for kind in KINDS},
            )
            for row in csv.DictReader(file)
        }


RATES = read_rates()


def in_words(memory: float) -> str:
    """Bytes in words."""
    for unit, size in (("MiB", 2**20), ("GiB", 2**30), ("TiB", 2**40)):
        number = memory / size
        if number < 999.5:
            return f"{number:.2g} {unit}" if number < 99.5 else f"{number:.0f} {unit}"
    return "1000+ TiB"


@dataclass(frozen=True)
class Work:
    """Multiplications of one iteration, and numbers stored."""

    multiplications: float
    numbers: float


def schur(shape: Shape) -> Work:
    """An interior-point method that uses zeros of the data."""
    v, each = float(shape.unknowns), shape.data / max(1, shape.unknowns)
    cubes = _powers(shape, 3)
    data = min(v * v * each, v * cubes + v * v * _powers(shape, 2))
    return Work(v**3 / 3 + data + 2.0 * cubes, v * v + 10.0 * _powers(shape, 2) + shape.data)


def dense_schur(shape: Shape) -> Work:
    """An interior-point method that does not."""
    v, squares = float(shape.unknowns), _powers(shape, 2)
    cubes = _powers(shape, 3)
    linear = v * v * shape.rows
    return Work(
        v**3 / 3 + v * cubes + v * v * squares + linear + 10.0 * cubes, v * v + 2.0 * v * squares
    )


def dense_blocks(shape: Shape) -> Work:
    """An interior-point method with a dense block for every cone."""
    sizes = np.array([svec_size(k) for k in shape.orders], dtype=float)
    rows = np.array(shape.touching, dtype=float) if shape.touching else sizes
    blocks = float(np.sum(sizes**3 / 3.0 + sizes**2 * rows + sizes * rows**2))
    left = float(np.max(rows, initial=0.0)) ** 3 / 3.0
    return Work(blocks + left + shape.data + shape.unknowns, float(np.sum(sizes**2)) + shape.data)


def splitting(shape: Shape) -> Work:
    """An operator-splitting method."""
    return Work(10.0 * _powers(shape, 3) + shape.data, 4.0 * shape.entries + shape.data)


# What Clarabel spends on every entry of a matrix that it splits, in multiplications.
LOOK = 5e3
# Of general solvers; all others are taken for methods with a sparse Schur complement.
ALGORITHMS: dict[str, Callable[[Shape], Work]] = {
    "cvxopt": dense_schur,
    "clarabel": dense_blocks,
    "scs": splitting,
}


def has_detail(solver: str, form: str, structure: Structure) -> bool:
    """Whether the work depends on cliques or fill, which take time to find."""
    if form == "factor":
        return structure.is_edge_program or structure.engine == "interior"
    return form in ("chordal", "chordal-lmi") or (solver, form) == ("clarabel", "lmi")


def least_work(solver: str, form: str, structure: Structure) -> Work:
    """A lower bound on the work, found from sizes alone."""
    if form == "factor":
        return Work(0.0, 0.0) if has_detail(solver, form, structure) else _engine(solver, structure)
    whole = {"chordal-lmi": "lmi", "chordal": "gram"}
    shape = structure.shape(whole.get(form, form))
    if has_detail(solver, form, structure):
        entries = shape.entries if form == "chordal" else 0
        diagonal = (1,) * sum(shape.orders)
        unknowns, data = shape.unknowns - entries, shape.data - entries
        shape = Shape(unknowns, shape.rows, diagonal, data)
    return ALGORITHMS.get(solver, schur)(shape)


def work(solver: str, form: str, structure: Structure) -> Work:
    """What a solver does and stores for a program in a form.

    Raises
    ------
    NotAcceptedError
        If there is no such form of the program.
    """
    if form == "factor":
        return _engine(solver, structure)
    shape = structure.shape(form)
    if (solver, form) == ("clarabel", "lmi") and not structure.trees.refusal():
        split = replace(shape, orders=structure.shape("chordal-lmi").orders, touching=())
        blocks = dense_blocks(split)
        return replace(blocks, multiplications=blocks.multiplications + LOOK * shape.entries)
    return ALGORITHMS.get(solver, schur)(shape)


def variant(solver: str, form: str, structure: Structure, *, least: bool = False) -> str:
    """Which constants a pair has: those of the engine that would run, where there are several.

    With ``least``, those of the engine of edges for every program of edges, without its fill.
    """
    if form != "factor":
        return form
    alone = structure.is_edge_program and (least or solver != "lowrank")
    return "edges" if alone else structure.engine


def _engine(solver: str, structure: Structure) -> Work:
    """What the engine does that the low-rank solver would take."""
    engines = {
        "edges": _sparse,
        "products": _products,
        "interior": _interior,
        "descent": _descending,
    }
    return engines.get(variant(solver, "factor", structure), _factored)(structure)


def _sparse(structure: Structure) -> Work:
    """Newton's method with sparse factorizations on the edges of a graph."""
    found = structure.effort
    beside = PER_EDGE * structure.rows * found.columns
    return Work(found.stages * (found.multiplications + beside), 3.0 * found.numbers)


def _products(structure: Structure) -> Work:
    """Conjugate gradients on an augmented Lagrangian of edge lengths."""
    found = structure.effort
    return Work(found.by_products, 30.0 * found.products)


def _interior(structure: Structure) -> Work:
    """Newton's method with sparse factorizations on the cliques of all rows."""
    found = structure.interior
    assert found is not None
    assembled = 30.0 * structure.kept * RANK**2
    return Work(found.multiplications + assembled, 3.0 * found.numbers)


def _descending(structure: Structure) -> Work:
    """Conjugate gradients on spheres and on an augmented Lagrangian, without a factorization."""
    n, m = sum(v.n for v in structure.sdp.psd_variables), structure.rows
    rank = min(np.sqrt(2.0 * m) + 1.0, 2.5 * np.log(n + 2.0))
    # Rows beyond one for each point have prices, and prices take several rounds to settle.
    products = 1000.0 if m <= n else 5000.0
    return Work(products * (structure.kept + 10.0 * n) * rank, 30.0 * structure.kept * rank)


def _factored(structure: Structure) -> Work:
    """Newton's method with conjugate gradients on an augmented Lagrangian."""
    n, m = sum(v.n for v in structure.sdp.psd_variables), structure.rows + structure.lmi_entries
    rank = min(np.sqrt(2.0 * m) + 1.0, 2.0 * np.log(n + 2.0))
    products = structure.kept * rank + n * rank**2
    return Work(float(1000.0 * products + m**3 / 3.0), float(10.0 * products + m * min(m, 3000)))


def _powers(shape: Shape, exponent: int) -> float:
    return float(np.sum(np.array(shape.orders, dtype=float) ** exponent))
