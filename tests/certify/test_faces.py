"""The face of a cone in which a vector lies, and the one that it leaves of the dual cone."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from sdpdr.certify.faces import DUAL, PRIMAL, face_of, integer_bases
from sdpdr.certify.flat import (
    EXPONENTIAL,
    NONNEGATIVE,
    POWER,
    SECOND_ORDER,
    SEMIDEFINITE,
    Piece,
    build,
)

# A share of the centre that is added or taken, to tell points of a cone from others.
A_LITTLE = 1e-9


def program(pieces, n):
    return build(np.zeros(n), sp.csr_array((0, n)), np.zeros(0), pieces)


def cones(images, n):
    """Smaller cones, with their maps as rows of one program."""
    return program([Piece(k, size, T, np.zeros(T.shape[0])) for k, size, T in images], n)


def points_of(images, rows, t, depth=A_LITTLE):
    """Whether a point lies in the face: rows vanish, and images are in the smaller cones."""
    found = cones([one for one in images if one[2].shape[0]], t.size)
    s = np.ones(1) if not any(one[2].shape[0] for one in images) else found.A @ t
    return bool(np.abs(rows @ t).max(initial=0.0) < A_LITTLE) and found.all_inside(
        s + depth * found.centre
    )


def multipliers_of(images, z, depth=A_LITTLE):
    """Whether multipliers are those of smaller cones."""
    some = [one for one in images if one[2].shape[0]]
    if not some:
        return not np.any(z)
    found = cones(some, z.size)
    y = np.linalg.lstsq(found.A.T.toarray(), z, rcond=None)[0]
    is_sum = np.abs(found.A.T @ y - z).max() < A_LITTLE
    return bool(is_sum) and found.all_dual_inside(y + depth * found.centre)


def of_matrix(side, *vectors):
    """The triangle of a sum of squares; multipliers have twice the entries off the diagonal."""
    M = sum(sign * np.outer(v, v) for sign, v in vectors)
    j, i = np.tril_indices(len(M))
    return M[i, j] * np.where((i != j) & (side == "multipliers"), 2.0, 1.0)


W, U, THIRD = [1.0, -2.0, 0.0], [2.0, 1.0, 0.0], [2.0, 1.0, 3.0]
# A cone and a vector of it (dual) or of its dual cone (primal); what it leaves of the other one,
# and what is not left.
CASES = {
    "numbers": (NONNEGATIVE, 1, PRIMAL, [2, 0, 5], [[0, 3, 0]], [[1, 3, 0], [0, -1, 0]]),
    "directions": (NONNEGATIVE, 1, DUAL, [2, 0, 5], [[0, 3, 0]], [[1, 3, 0], [0, -1, 0]]),
    "a ray": (
        *(SECOND_ORDER, 3, PRIMAL, [5, -3, 4]),
        *([[2.5, 1.5, -2]], [[1, 0, 0], [5, -3, 4], [-5, -3, 4]]),
    ),
    "a direction": (
        *(SECOND_ORDER, 3, DUAL, [2.5, 1.5, -2]),
        *([[5, -3, 4]], [[1, 0, 0], [5, 3, -4], [-5, 3, -4]]),
    ),
    "inside of a second-order cone": (SECOND_ORDER, 3, PRIMAL, [2, 1, 0], [[0, 0, 0]], [[1, 0, 1]]),
    "a matrix": (
        *(SEMIDEFINITE, 3, PRIMAL, of_matrix("multipliers", (1, W))),
        [of_matrix("points", (1, U)), of_matrix("points", (1, U), (2, THIRD))],
        [of_matrix("points", (s, w)) for s, w in ((1, W), (-1, U), (1, [1, 0, 0]))],
    ),
    "a step of matrices": (
        *(SEMIDEFINITE, 3, DUAL, of_matrix("points", (1, W))),
        [of_matrix("multipliers", (1, U)), of_matrix("multipliers", (1, U), (2, THIRD))],
        [of_matrix("multipliers", (s, w)) for s, w in ((1, W), (-1, U), (1, [1, 0, 0]))],
    ),
    "a flat face": (
        *(EXPONENTIAL, 3, PRIMAL, [0, 1, 0]),
        *([[-2, 0, 3]], [[0, 1, 2], [2, 0, 3], [-2, 0, -1]]),
    ),
    "its edge": (
        *(EXPONENTIAL, 3, PRIMAL, [0, 1, 1]),
        *([[-2, 0, 0]], [[-2, 0, 3], [2, 0, 0], [-2, 1, 0]]),
    ),
    "the edge alone": (EXPONENTIAL, 3, PRIMAL, [0, 0, 1], [[-2, 0, 0]], [[-2, 0, 3], [2, 0, 0]]),
    "a flat step": (
        *(EXPONENTIAL, 3, DUAL, [-1, 0, 0]),
        *([[0, 3, 2]], [[-1, 0, 1], [0, -3, 2], [0, 3, -1]]),
    ),
    "a step beside": (
        *(EXPONENTIAL, 3, DUAL, [-1, 0, 2]),
        *([[0, 3, 0]], [[0, 3, 1], [-1, 0, 1], [0, -1, 0]]),
    ),
    "inside of the dual": (EXPONENTIAL, 3, PRIMAL, [-1, 0, 1], [[0, 0, 0]], [[-2, 0, 3]]),
    "inside of the cone": (EXPONENTIAL, 3, DUAL, [0, 1, 3], [[0, 0, 0]], [[0, 3, 2]]),
    "inside of powers": (POWER, 0.25, PRIMAL, [1, 1, 0], [[0, 0, 0]], [[1, 1, 0]]),
    "nothing": (EXPONENTIAL, 3, PRIMAL, [0, 0, 0], [[-2, 0, 3], [0, 1, 2]], [[2, 1, 1]]),
}  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "size", "side", "v", "left", "others"), CASES.values(), ids=CASES.keys()
)
def test_a_vector_lies_inside_of_a_face_and_leaves_another(kind, size, side, v, left, others):
    v = np.array(v, dtype=float)
    whole = program([Piece(kind, size, sp.eye_array(v.size), np.zeros(v.size))], v.size)
    face, ((cone, _),) = face_of(whole.parts[0], v, side, 1e-6), whole.cones

    def is_of_face(t, depth=A_LITTLE):
        if side == PRIMAL:
            return multipliers_of(face.inside, t, depth)
        return points_of(face.inside, face.flat, t, depth)

    def is_left(t):
        t = np.array(t, dtype=float)
        if side == PRIMAL:
            return points_of(face.left, face.zero, t)
        return multipliers_of(face.left, t)

    assert is_of_face(v, -A_LITTLE)
    assert is_of_face(-v) == (not np.any(v))
    centre, is_inside = cone.centre(), cone.is_inside
    if side == PRIMAL:
        centre, is_inside = -cone.gradient(centre), cone.is_dual_inside
    assert is_of_face(centre.ravel()) == is_inside(v.reshape(centre.shape))
    assert all(map(is_left, left))
    assert not any(map(is_left, others))


@pytest.mark.parametrize(
    ("kind", "size", "v"),
    [
        (EXPONENTIAL, 3, [1.0, 1.0, np.e]),
        (EXPONENTIAL, 3, [0.0, 0.0, 1.0]),
        (POWER, 0.5, [1.0, 4.0, 2.0]),
        (SECOND_ORDER, 3, [np.sqrt(2.0), 1.0, 1.0]),
        (SEMIDEFINITE, 2, [1.0, np.sqrt(2.0), 2.0]),
    ],
)
def test_a_face_that_no_integers_describe_is_none(kind, size, v):
    v = np.array(v)
    (part,) = program([Piece(kind, size, sp.eye_array(v.size), np.zeros(v.size))], v.size).parts
    assert face_of(part, v, DUAL, 1e-6) is None


def test_a_basis_is_rounded_by_a_share_of_its_entries_and_no_more():
    """Twice the share beside entries of one; fractions with small denominators are far apart."""
    span, other = integer_bases(np.array([[1.0], [1.0 + 1.5e-4]]))
    assert abs(span[0, 0]) == abs(other[0, 0]) == 1.0
    assert span[:, 0] @ other[:, 0] == 0.0
    assert integer_bases(np.array([[1.0], [1.0 + 3e-4]])) is None
