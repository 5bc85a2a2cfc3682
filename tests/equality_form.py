"""Whether a program in equality form says the same as the one that it was made of."""

from __future__ import annotations

import numpy as np
import pytest

from sdpdr.program import PsdVariable, to_equality_form


def _a_point(sdp, rng):
    """Any values of a program's variables, and what follows for those of its equality form."""
    point = {}
    for v in sdp.variables:
        if isinstance(v, PsdVariable):
            square = rng.standard_normal((v.n, v.n))
            point[v.name] = (square + square.T) / 2.0
        else:
            point[v.name] = rng.standard_normal(v.size)
    full = dict(point)
    for rows in sdp.rows:
        if rows.relation == "<=":
            full[f"{rows.label}.slack"] = sdp.slack(rows, point)
    for lmi in sdp.lmis:
        full[f"{lmi.label}.slack"] = np.asarray(sdp.lmi_value(lmi, point))
    for v in sdp.vector_variables:
        z = point[v.name]
        if v.curvature is not None:
            full |= {f"{v.name}[{k}]": np.outer([1.0, z[k]], [1.0, z[k]]) for k in range(v.size)}
        elif not v.nonnegative:
            full |= {f"{v.name}.plus": z + 1.0, f"{v.name}.minus": np.ones(v.size)}
    return point, full


def assert_same_at_a_point(sdp, again):
    """A program and its equality form, perhaps read, at a point that need not be feasible."""
    point, full = _a_point(sdp, np.random.default_rng(0))
    written = [v for v in to_equality_form(sdp).variables if v.size]
    assert [v.size for v in written] == [v.size for v in again.variables]
    there = {v.name: full[w.name] for v, w in zip(again.variables, written, strict=True)}
    value = sdp.report(sdp.primal_value(point))
    assert again.report(again.primal_value(there)) == pytest.approx(value, rel=1e-9, abs=1e-9)
    # Slack takes up what inequalities leave, so that only equalities differ from their right side.
    expected = [
        sdp.slack(rows, point) if rows.relation == "==" else np.zeros(rows.m) for rows in sdp.rows
    ]
    residual = np.concatenate([np.zeros(0), *expected])
    found = np.concatenate([np.zeros(0), *(again.slack(rows, there) for rows in again.rows)])
    scale = 1.0 + np.abs(residual).max(initial=0.0) + np.abs(value)
    np.testing.assert_allclose(found[: residual.size], residual, rtol=0.0, atol=1e-8 * scale)
    np.testing.assert_allclose(found[residual.size :], 0.0, rtol=0.0, atol=1e-8 * scale)
