"""Equality form: corresponding points have equal objective, and duals carry over."""

import numpy as np
import pytest
import scipy.sparse as sp

from sdpdr.linalg import InnerProduct, SvecMap, VectorMap, smat, svec, svec_size
from sdpdr.program import (
    SDP,
    Lmi,
    PsdVariable,
    Rows,
    VectorVariable,
    read_sdpa,
    to_equality_form,
    write_sdpa,
)

from ..equality_form import assert_same_at_a_point


def everything():
    """A program that uses every feature of the standard form."""
    rng = np.random.default_rng(0)
    n, free, curved, signed, order = 3, 2, 3, 2, 2

    def on_matrix(m):
        return SvecMap(n, rng.standard_normal((m, svec_size(n))))

    def on_vector(m, q):
        return VectorMap(rng.standard_normal((m, q)))

    rows = (
        Rows("fixed", "==", {"K": on_matrix(2), "free": on_vector(2, free)}, rng.normal(size=2)),
        Rows("least", "<=", {"K": on_matrix(3), "curved": on_vector(3, curved)}, np.ones(3)),
        Rows("alone", "<=", {"signed": on_vector(1, signed)}, np.ones(1)),
    )
    size = svec_size(order)
    lhs = {"K": on_matrix(size), "free": on_vector(size, free), "curved": on_vector(size, curved)}
    return SDP(
        variables=(
            PsdVariable("K", n),
            VectorVariable("free", free),
            VectorVariable("curved", curved, curvature=np.array([0.5, 1.0, 4.0])),
            VectorVariable("signed", signed, nonnegative=True),
        ),
        objective={
            "K": InnerProduct(rng.standard_normal((n, n))),
            "free": on_vector(1, free),
            "curved": on_vector(1, curved),
        },
        rows=rows,
        lmis=(Lmi("cone", order, lhs, rng.standard_normal(size)),),
        constant=2.5,
        maximize=True,
        name="everything",
    )


def test_only_equalities_matrices_and_signed_scalars_are_left():
    form = to_equality_form(everything())
    assert form.lmis == ()
    assert {r.relation for r in form.rows} == {"=="}
    assert all(v.nonnegative and v.curvature is None for v in form.vector_variables)
    assert [r.label for r in form.rows][:4] == ["fixed", "least", "alone", "cone"]
    assert (form.constant, form.maximize, form.name) == (2.5, True, "everything")


def test_corresponding_points_have_equal_value_and_miss_the_same_rows(tmp_path):
    sdp = everything()
    assert_same_at_a_point(sdp, to_equality_form(sdp))
    write_sdpa(sdp, tmp_path / "everything.dat-s")
    assert_same_at_a_point(sdp, read_sdpa(tmp_path / "everything.dat-s"))


@pytest.mark.parametrize("seed", range(2))
def test_multipliers_carry_over_with_equal_dual_value_and_slack(seed):
    sdp, rng = everything(), np.random.default_rng(seed)
    form = to_equality_form(sdp)
    root = rng.standard_normal((2, 2))
    duals = {r.label: rng.uniform(size=r.m) for r in sdp.rows} | {"cone": root @ root.T}
    lifted = {**duals, "cone": -svec(duals["cone"])}
    u = sdp.dual_slack("curved", duals)
    for k, (s, q) in enumerate(zip(u, [0.5, 1.0, 4.0], strict=True)):
        lifted[f"curved[{k}]"] = np.array([s * s / (2.0 * q)])
        block = sp.csr_array(form.dual_slack(f"curved[{k}]", lifted)).toarray()
        np.testing.assert_allclose(block, [[s * s / (2 * q), s / 2], [s / 2, q / 2]])
    assert form.dual_value(lifted) == pytest.approx(sdp.dual_value(duals))
    np.testing.assert_allclose(form.dual_slack("K", lifted), sdp.dual_slack("K", duals))
    np.testing.assert_allclose(form.dual_slack("free.plus", lifted), sdp.dual_slack("free", duals))
    np.testing.assert_allclose(
        form.dual_slack("free.minus", lifted), -sdp.dual_slack("free", duals)
    )
    np.testing.assert_allclose(form.dual_slack("least.slack", lifted), duals["least"])
    np.testing.assert_allclose(smat(-lifted["cone"]), duals["cone"])


def test_a_program_in_equality_form_is_returned_as_it_is():
    form = to_equality_form(everything())
    assert to_equality_form(form) is form
