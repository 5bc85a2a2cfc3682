"""cvxpy's solvers on programs over a product of cones, exponential and power cones among them."""

from __future__ import annotations

from collections.abc import Mapping

import cvxpy as cp
import numpy as np

from sdpdr.base.arrays import Array, Index
from sdpdr.certify.cones import Cone
from sdpdr.certify.flat import EXPONENTIAL, POWER, Answer, FlatProgram
from sdpdr.certify.other_cones import Exponential, Power
from sdpdr.certify.symmetric_cones import SecondOrder, Semidefinite
from sdpdr.linalg.svec import upper_triangle
from sdpdr.program.factor import Factor
from sdpdr.program.run import Verdict
from sdpdr.solvers.base import Outcome
from sdpdr.solvers.cvxpy_solver import CvxpySolver
from sdpdr.solvers.rendering import Rendered

_NAMES = {EXPONENTIAL: cp.ExpCone, POWER: cp.PowCone3D}


def unknown_cones(program: FlatProgram, solver: CvxpySolver) -> list[str]:
    """The kinds of cones of a program that a solver of cvxpy does not support.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> from sdpdr.certify.flat import Piece, build
    >>> from sdpdr.solvers.registry import find
    >>> exponential = Piece(EXPONENTIAL, 3, -sp.csr_array(np.eye(3)), np.zeros(3))
    >>> program = build(np.ones(3), sp.csr_array((0, 3)), np.zeros(0), [exponential])
    >>> unknown_cones(program, find("scs")()), unknown_cones(program, find("cvxopt")())
    ([], ['exponential'])
    """
    from cvxpy.reductions.solvers.defines import SOLVER_MAP_CONIC

    known = SOLVER_MAP_CONIC[solver.backend].SUPPORTED_CONSTRAINTS
    kinds = {part.kind for part in program.parts}
    return sorted(kind for kind, one in _NAMES.items() if kind in kinds and one not in known)


def render_flat(program: FlatProgram) -> Rendered:
    r"""A program over a product of cones as a problem of cvxpy.

    The multipliers of its two groups of equations, :math:`E x = f` and :math:`A x + s = b`, are
    those of the program.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> from sdpdr.certify.flat import Piece, build
    >>> disc = Piece("second-order", 3, -sp.csr_array(np.eye(3)[:, 1:]), np.array([1.0, 0, 0]))
    >>> program = build(np.array([3.0, 4.0]), sp.csr_array((0, 2)), np.zeros(0), [disc])
    >>> rendered = render_flat(program)
    >>> round(float(rendered.problem.solve(solver="CLARABEL")), 6)
    -5.0
    >>> rendered.constraints["cones"].dual_value.round(6)
    array([5., 3., 4.])
    """
    x, s = cp.Variable(program.c.size), cp.Variable(program.b.size)
    equations = {"cones": program.A @ x + s == program.b}
    if program.f.size:
        equations["equations"] = program.E @ x == program.f
    cones = [one for cone, rows in program.cones for one in _within(cone, s, rows)]
    problem = cp.Problem(cp.Minimize(program.c @ x), [*equations.values(), *cones])
    return Rendered(problem, {"x": x, "s": s}, equations)


def _within(cone: Cone, s: cp.Variable, rows: Index) -> list[cp.Constraint]:
    """That slacks lie in all copies of a cone."""
    copies = rows.reshape(cone.count, cone.dim)
    if isinstance(cone, Semidefinite):
        place = np.zeros((cone.order, cone.order), dtype=np.intp)
        row, column = upper_triangle(cone.order)
        place[row, column] = place[column, row] = np.arange(cone.dim)
        return [cp.reshape(s[one[place.ravel()]], place.shape, order="C") >> 0 for one in copies]
    if isinstance(cone, SecondOrder):
        necks = cp.reshape(s[copies[:, 1:].ravel()], (cone.count, cone.dim - 1), order="C")
        return [cp.SOC(s[copies[:, 0]], necks, axis=1)]
    if isinstance(cone, Exponential):
        return [cp.ExpCone(*(s[column] for column in copies.T))]
    if isinstance(cone, Power):
        return [cp.PowCone3D(*(s[column] for column in copies.T), cone.a)]
    return [s[rows] >= 0]


def read_outcome(program: FlatProgram, outcome: Outcome) -> Answer:
    """Point, slacks and multipliers of a program in what came of its problem; nan for none."""
    m, k = program.f.size, program.b.size
    x, s = (_found(outcome.point.values, *one) for one in (("x", program.c.size), ("s", k)))
    w, z = (_found(outcome.point.duals, *one) for one in (("equations", m), ("cones", k)))
    return Answer(x, s, np.concatenate([w, z]), outcome.verdict is Verdict.SOLVED)


def _found(given: Mapping[str, Array | Factor], name: str, size: int) -> Array:
    return np.asarray(given[name]) if name in given else np.full(size, np.nan)
