"""A program in standard form and its flat form have the same points, multipliers and numbers."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

from sdpdr.certify.coefficients import unscaled
from sdpdr.certify.standard import as_written, standard, with_squares
from sdpdr.linalg import (
    Diagonal,
    Entries,
    InnerProduct,
    Products,
    SquaredEdgeLengths,
    Stacked,
    Trace,
    VectorMap,
    smat,
    svec,
)
from sdpdr.linalg.maps.given import SvecMap
from sdpdr.program import SDP, Lmi, Point, PsdVariable, Rows, VectorVariable
from sdpdr.program.arrows import of_arrow
from sdpdr.program.point import as_dense

from ..truth.exact import fractions

RNG = np.random.default_rng(0)


def symmetric(n):
    M = RNG.integers(-4, 5, (n, n)).astype(float)
    return M + M.T


def rows(label, relation, lhs, m, size=1.0):
    return Rows(label, relation, lhs, size * RNG.integers(1, 9, m))


def arrow(n, q):
    """A matrix inequality whose coefficients fill the diagonal and the first row alone."""
    columns = [
        svec(np.diag(np.r_[1.0, np.zeros(n - 1)])),
        svec(np.diag(np.r_[0.0, np.ones(n - 1)])),
    ]
    for k in range(1, n):
        M = np.zeros((n, n))
        M[0, k] = M[k, 0] = 1.0 + k
        columns.append(svec(M))
    return Lmi("arrow", n, {"free": VectorMap(np.stack(columns[:q], axis=1))}, columns[1] * 3.0)


def matrices():
    """Two matrices, scalars with a sign, equations and limits."""
    X, Y, z = PsdVariable("X", 3), PsdVariable("Y", 2), VectorVariable("z", 2, nonnegative=True)
    cost = {"X": InnerProduct(symmetric(3)), "Y": Trace(2), "z": VectorMap([[2.0, -1.0]])}
    both = {
        "X": Stacked([InnerProduct(symmetric(3)), Entries(3, [[0, 2]])]),
        "Y": Diagonal(2),
        "z": VectorMap([[1.0, 0.0], [3.0, -2.0]]),
    }
    limits = {"X": Diagonal(3), "z": VectorMap([[0.0, 1.0], [1.0, 0.0], [0.0, 0.0]])}
    given = (rows("both", "==", both, 2), rows("limits", "<=", limits, 3, 64.0))
    return SDP((X, Y, z), cost, given, constant=3.0, maximize=True)


def on_a_face():
    """An unfolding, whose rows sum to zero, with costs of its own."""
    edges = SquaredEdgeLengths(4, [[0, 1], [1, 2], [2, 3]])
    given = (
        Rows("centred", "==", {"K": Products(4)}, np.zeros(4)),
        rows("lengths", "<=", {"K": edges}, 3, 2.0**10),
    )
    return SDP((PsdVariable("K", 4),), {"K": InnerProduct(symmetric(4))}, given, constant=-2.0)


def curved():
    """Scalars with a quadratic cost beside a matrix."""
    z = VectorVariable("z", 3, curvature=np.array([0.5, 2.0, 8.0]))
    side = {"X": Diagonal(2), "z": VectorMap([[1.0, 0.0, 2.0], [0.0, -3.0, 1.0]])}
    cost = {"z": VectorMap([[1.0, 0.0, -4.0]]), "X": Trace(2)}
    return SDP((PsdVariable("X", 2), z), cost, (rows("rows", "==", side, 2, 32.0),), constant=1.0)


def inequalities():
    """Matrix inequalities of a matrix and of scalars, one of which is an arrow."""
    free = VectorVariable("free", 4)
    M = np.stack([svec(symmetric(3)) for _ in range(4)], axis=1)
    root = np.sqrt(2.0)
    of_matrix = SvecMap(2, sp.csr_array([[1.0, 0, 0], [0, 1.0, 0], [0, 0, 2.0], [0, 3 * root, 0],
                                         [0, 0, 0], [0, 0, 1.0]]))  # fmt: skip
    limit = Lmi("limit", 3, {"free": VectorMap(M), "X": of_matrix}, svec(symmetric(3)))
    cost = {"free": VectorMap([[1.0, 2.0, 3.0, 4.0]]), "X": Trace(2)}
    return SDP((PsdVariable("X", 2), free), cost, (), (limit, arrow(4, 4)))


PROGRAMS = [matrices, on_a_face, curved, inequalities]
FORMS = {"in units": standard, "as written": as_written}


def point_of(sdp):
    """A point of no merit, and multipliers, on the face that rows state."""
    values, duals = {}, {}
    for v in sdp.variables:
        values[v.name] = RNG.normal(size=v.extents)
        if isinstance(v, PsdVariable):
            F = RNG.normal(size=(v.n, v.n))
            F = F - F.mean(axis=0) if any(r.label == "centred" for r in sdp.rows) else F
            values[v.name] = F @ F.T
    for r in sdp.rows:
        duals[r.label] = RNG.normal(size=r.m) * (r.label != "centred")
    for lmi in sdp.lmis:
        duals[lmi.label] = symmetric(lmi.order)
        if lmi.label == "arrow":  # of which nothing but these entries counts
            Z = np.diag(RNG.normal(size=1).repeat(lmi.order))
            Z[0] = Z[:, 0] = RNG.normal(size=lmi.order)
            duals[lmi.label] = Z
    return Point(values, duals)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("make", PROGRAMS, ids=lambda make: make.__name__)
def test_points_have_the_same_value_and_the_same_slack(make, form):
    sdp = make()
    flat_form, point = FORMS[form](sdp), point_of(sdp)
    flat, units = flat_form.flat, flat_form.units
    there = flat_form.answer(point)
    for name, value in flat_form.values(there.x).items():
        np.testing.assert_allclose(as_dense(value), point.values[name], rtol=1e-10, atol=1e-10)
    value = units.cost * (flat.c @ there.x + flat.offset)
    assert value == pytest.approx(sdp.primal_value(point.values))
    assert there.s == pytest.approx(flat.b - flat.A @ there.x)
    of_rows = units.length / np.concatenate([units.equations, units.cones])
    slack = of_rows * np.concatenate([flat.f - flat.E @ there.x, there.s])
    for r in sdp.rows:
        if r.label in flat_form.labels:
            assert slack[flat_form.labels[r.label]] == pytest.approx(sdp.slack(r, point.values))
    for lmi in sdp.lmis:
        left = sdp.evaluate(lmi.lhs, point.values, svec(np.eye(lmi.order)).size) + lmi.constant
        j, i = np.tril_indices(lmi.order)
        found, M = slack[flat_form.labels[lmi.label]], smat(left)
        if lmi.label in flat_form.arrows:
            # Both ends of the cone, and its neck, make the arrow: a + t, a - t, 2 v.
            neck = np.sum(np.square(found[1:])) - np.square(found[1])
            assert found[0] ** 2 - found[1] ** 2 - neck == pytest.approx(
                4.0
                * (M[0, 0] * M[1, 1] - np.sum(M[0, 1:] ** 2))
                * (found[0] / (M[0, 0] + M[1, 1])) ** 2
            )
        else:
            assert found == pytest.approx(M[i, j])


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("make", PROGRAMS, ids=lambda make: make.__name__)
def test_multipliers_have_the_same_dual_value_and_the_same_slack(make, form):
    sdp = make()
    flat_form, point = FORMS[form](sdp), point_of(sdp)
    flat, units, m = flat_form.flat, flat_form.units, flat_form.flat.f.size
    there = flat_form.answer(point)
    for label, y in flat_form.duals(there.z).items():
        if label == "arrow":  # of which products with arrows count alone
            assert of_arrow(y) == pytest.approx(of_arrow(point.duals[label]))
        elif label != "centred":
            np.testing.assert_allclose(y, point.duals[label], rtol=1e-10, atol=1e-10)
    bound = units.cost * (flat.offset - np.concatenate([flat.f, flat.b]) @ there.z)
    assert bound == pytest.approx(sdp.dual_value(point.duals))
    left = units.given_costs(flat.c + flat.dual_equations @ there.z)
    given = units.given_multipliers(there.z)
    for block in flat_form.blocks:
        slack = sdp.dual_slack(block.name, point.duals)
        if block.name == "free":  # which has no cone: what is left is missed
            assert left[block.places] == pytest.approx(slack)
            continue
        assert left[block.places] == pytest.approx(0.0 * block.places, abs=1e-9)
        if block.order and block.basis is None:
            slack = np.asarray(slack.toarray() if sp.issparse(slack) else slack)
            j, i = np.tril_indices(block.order)
            doubled = slack[i, j] * np.where(i == j, 1.0, 2.0)
            assert given[m + block.rows] == pytest.approx(doubled)
        elif block.rows.size and not block.order:
            assert given[m + block.rows] == pytest.approx(slack)
    for square in flat_form.squares:
        # They are on the boundary of the cone, as the point of the square is.
        z, s = given[m + square.rows], there.s[square.rows]
        assert z[:, 0] == pytest.approx(np.linalg.norm(z[:, 1:], axis=1))
        assert s[:, 0] == pytest.approx(np.linalg.norm(s[:, 1:], axis=1))


def test_the_unit_of_squares_is_next_to_the_largest_right_side_or_as_given():
    sdp = curved()
    assert standard(sdp).squares[0].unit == 2.0 ** np.rint(np.log2(max(sdp.rows[0].rhs)))
    assert as_written(sdp).squares[0].unit == 1.0
    form, point = with_squares(sdp, 8.0), point_of(sdp)
    assert form.squares[0].unit == 8.0
    there = form.answer(point)
    value = form.flat.c @ there.x + form.flat.offset
    assert value == pytest.approx(sdp.primal_value(point.values))


def test_rows_on_a_face_have_radii_that_hold_the_exact_ones():
    """V holds the numbers of u; rows are products with V of quotients by the root of two."""
    stored, u = RNG.normal(size=(2, 6)), np.array([1.0, 7.0, 3.0])
    given = (
        Rows("null", "==", {"X": Products(3, u)}, np.zeros(3)),
        Rows("rows", "==", {"X": SvecMap(3, sp.csr_array(stored))}, np.ones(2)),
    )
    form = standard(SDP((PsdVariable("X", 3),), {"X": Trace(3)}, given))
    (block,), units, flat = form.blocks, form.units, form.flat
    V, (j, i) = fractions(block.basis), np.tril_indices(2)
    assert not np.any(fractions(u) @ V)
    images = [np.outer(V[:, p], V[:, q]) for p, q in zip(i, j, strict=True)]
    images = [image + image.T * int(p != q) for image, p, q in zip(images, i, j, strict=True)]
    costs = fractions(flat.c) * fractions(units.coefficient / units.unknowns)
    assert costs.tolist() == [np.trace(image) for image in images]
    assert flat.around.c is None
    q, p = np.tril_indices(3)
    # Where a double times the root is what is stored, that double is meant; else 60 digits.
    root, (doubles, around) = Fraction(math.isqrt(2 * 10**120), 10**60), unscaled(stored)
    M = np.where(around == 0.0, fractions(doubles), fractions(stored) / root)
    M = np.where(p == q, fractions(stored), 2 * M)
    exact = np.array([[np.sum(row * image[p, q]) for image in images] for row in M])
    exact = exact * fractions(np.outer(units.equations, units.unknowns))
    radii = fractions(flat.around.E)
    assert np.all(abs(fractions(flat.E) - exact) <= radii[:, :-1])
    assert not np.any(radii[:, -1])
    assert np.all(radii <= Fraction(1e-13) * np.max(abs(exact)))
