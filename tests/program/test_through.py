"""Solutions next to a factor: proved where there is one, and never where there is none."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from sdpdr import graphs, methods
from sdpdr.linalg import Entries, InnerProduct, SvecMap
from sdpdr.linalg.svec import svec
from sdpdr.program.attain import attain
from sdpdr.program.attain.cone import cone_program
from sdpdr.program.attain.through import solve_through_factor
from sdpdr.program.point import Factor, Point, PsdVariable
from sdpdr.program.rows import Rows
from sdpdr.program.sdp import SDP


def through(sdp, values, *, narrow=False):
    """With all entries of matrices in x, or with those alone that rows read."""
    with pytest.MonkeyPatch.context() as patch:
        if narrow:
            patch.setattr("sdpdr.program.attain.cone._WIDEST_ORDER", 0)
        program = cone_program(sdp, wide=narrow)
    assert program.is_narrow is narrow
    return solve_through_factor(program, program.vector(values), program.factors(values))


def random_rows(rng, n, m):
    """Symmetric matrices with few entries, as a map."""
    matrices = []
    for _ in range(m):
        A = np.zeros((n, n))
        i, j = rng.integers(0, n, (2, 2))
        A[i, j] += rng.normal(size=2)
        matrices.append(svec(A + A.T))
    return SvecMap(n, sp.csr_array(np.array(matrices)))


def program_of(rows, b, cost, relation="=="):
    n = cost.shape[0]
    return SDP(
        (PsdVariable("X", n),),
        {"X": InnerProduct(cost)},
        (Rows("rows", relation, {"X": rows}, np.asarray(b, dtype=float)),),
    )


@settings(max_examples=10)
@given(st.integers(0, 2**32 - 1), st.floats(1e-15, 1e-2), st.booleans())
def test_no_point_is_proved_where_none_is_feasible(seed, excess, narrow):
    """Entries of absolute value one, beside a diagonal of ones, that are a little larger."""
    rng = np.random.default_rng(seed)
    entries = Entries(2, np.array([[0, 0], [1, 1], [0, 1]]))
    sdp = program_of(entries, [1.0, 1.0, 1.0 + excess], np.eye(2))
    start = np.ones((2, 2)) * [1.0, 0.0] + 10.0 ** rng.uniform(-9, -1) * rng.normal(size=(2, 2))
    assert isinstance(through(sdp, {"X": Factor(start)}, narrow=narrow), str)


@pytest.mark.nightly
@settings(max_examples=10)
@given(st.integers(0, 2**32 - 1), st.booleans())
def test_no_point_is_proved_beyond_a_limit_that_multipliers_prove(seed, narrow):
    """Rows whose sum is - tr X ask for more than nothing: there is no such X."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 6))
    parts = [random_rows(rng, n, 1).matrix().toarray()[0] for _ in range(int(rng.integers(1, 4)))]
    parts.append(-svec(np.eye(n)) - np.sum(parts, axis=0))
    rows = SvecMap(n, sp.csr_array(np.array(parts)))
    b = rng.normal(size=len(parts))
    b[-1] += 10.0 ** rng.uniform(-12, 0) - b.sum()
    start = 10.0 ** rng.uniform(-7, 0) * rng.normal(size=(n, n))
    sdp = program_of(rows, b, np.eye(n))
    assert isinstance(through(sdp, {"X": Factor(start)}, narrow=narrow), str)


def test_a_matrix_too_large_to_be_written_down_is_proved_by_what_rows_read():
    """A ring of 4101 points that winds around a torus; all products of neighbours are alike."""
    n = 4101  # of an even ring every other sum is told by the others
    steps = 2.0 * np.pi / n * np.array([512.0, 900.0])
    angle = np.arange(n)[:, None] * steps
    R = np.hstack([np.cos(angle), np.sin(angle)]) / np.sqrt(2.0)
    sdp = methods.density_map(graphs.cycle(n), np.full(n, np.cos(steps).sum())).to_sdp()
    noise = 1e-9 * np.sin(np.arange(R.size)).reshape(R.shape)
    found = attain(sdp, Point({"K": Factor(R + noise)}))
    assert found.value == pytest.approx(n, rel=1e-6)
    assert found.value <= n
