"""Newton steps of the central path solve the equations that they stand for."""

from __future__ import annotations

import numpy as np
import pytest

from sdpdr import graphs, methods
from sdpdr.certify.path import Path
from sdpdr.certify.standard import standard
from sdpdr.linalg import Diagonal, Entries, Trace
from sdpdr.program import SDP, PsdVariable, Rows

from .test_units import random_program


def matrix_program():
    """A matrix that is a variable, with two equations and limits on some of its entries."""
    rows = (
        Rows("diagonal", "==", {"X": Diagonal(3)[[0, 1]]}, np.array([1.0, 2.0])),
        Rows("limits", "<=", {"X": Entries(3, [[0, 1], [2, 2]])}, np.array([0.5, 3.0])),
    )
    return standard(SDP((PsdVariable("X", 3),), {"X": Trace(3)}, rows)).flat


PROGRAMS = {
    "points": lambda: random_program(0),
    "multipliers": matrix_program,
    "inequalities": lambda: standard(methods.mvu(graphs.path([1.0, 2.0, 3.0])).to_sdp()).flat,
}


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("mu", [1e-3, 10.0])
def test_a_step_solves_the_equations_of_newton_from_any_point(name, mu, monkeypatch):
    """Both sides hold after it, and the multipliers are those of the barrier next to the slack.

    At once: refinement would make up for a wrong solution.
    """
    monkeypatch.setattr("sdpdr.certify.path._REFINEMENTS", 1)
    program = PROGRAMS[name]()
    path, rng, m = Path(program, lambda: False), np.random.default_rng(0), program.f.size
    assert bool(path.own_rows.size) == (name != "points")
    for _ in range(5):
        noise = rng.normal(size=program.b.size)
        shares = (v for v in 0.5 ** np.arange(20) if program.all_inside(program.centre + v * noise))
        s = program.centre + 0.9 * next(shares) * noise
        x, w = rng.normal(size=program.c.size), rng.normal(size=m)
        dx, z, ds, length = path._step(x, s, w, mu)
        close = {"abs": 1e-7 * (1.0 + np.abs(z).max() + np.abs(dx).max())}
        assert program.E @ (x + dx) == pytest.approx(program.f, **close)
        assert program.A @ (x + dx) + s + ds == pytest.approx(program.b, **close)
        missed = program.c + program.E.T @ z[:m] + program.A.T @ z[m:]
        assert missed == pytest.approx(0.0 * missed, **close)
        step = 1e-7 / max(1.0, length)
        slope = program.each(lambda cone, v: cone.gradient(v), s + step * ds)
        slope = slope - program.each(lambda cone, v: cone.gradient(v), s - step * ds)
        slope = slope / (2.0 * step)
        gradient = program.each(lambda cone, v: cone.gradient(v), s)
        size = np.abs(gradient).max() + np.abs(slope).max()
        assert -z[m:] / mu == pytest.approx(gradient + slope, abs=1e-5 * size)
        assert length == pytest.approx(np.sqrt(ds @ slope), rel=1e-4)
