"""The front door: solve an edge program, growing the rank until the answer is certified."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sdpdr.errors import ShapeError
from sdpdr.solvers.lowrank.certificate import (
    Connectivity,
    clip_weights,
    connectivity,
    dual_bound,
    primal_value,
)
from sdpdr.solvers.lowrank.interior_point import InteriorPoint, Iterate
from sdpdr.solvers.lowrank.journal import Journal
from sdpdr.solvers.lowrank.program import EdgeProgram, EngineResult, Matrix, Options, Vector
from sdpdr.solvers.lowrank.start import isomap_start, require_connected


def solve_edge_program(
    program: EdgeProgram, options: Options | None = None, start: Matrix | None = None
) -> EngineResult:
    options = options or Options()
    require_connected(program)
    unit = _Units.of(program)
    journal = Journal(options, unit.value)
    scaled = unit.scale(program)
    R = isomap_start(scaled, options.rank, seed=options.seed) if start is None else start / unit.length
    ip = InteriorPoint(scaled, R.shape[1], journal)
    point = ip.begin(0.9 * R if start is None else R)
    while True:
        point, measure = ip.run(point, options.tol / 4)
        w = clip_weights(scaled, ip.rows.weights(point.y))
        con = connectivity(scaled, w, options.tol, options.seed)
        bound = dual_bound(scaled, w, con.lower)
        value, inf = primal_value(scaled, point.R)
        gap = (bound - value) / abs(value)
        if gap <= options.tol or not con.escape.shape[1] or journal.exhausted: break
        import os
        step=float(os.environ.get('STEP','.1')); prod=float(os.environ.get('PROD','1e-3'))
        E=con.escape[:, :int(os.environ.get('K','6'))]
        i,j=scaled.edges.T
        E=E*np.sqrt(step/((E[i]-E[j])**2/scaled.sqdist[:,None]).max(0))
        print('   grow', ip._newton.rank, E.shape[1], con.value, gap, len(journal.records), measure)
        ip = InteriorPoint(scaled, R.shape[1]+E.shape[1], journal); R=np.hstack([point.R,E])
        point = ip.extend(point, E, prod * value / scaled.m)
    return EngineResult(R=point.R * unit.length, weights=w * unit.weight, status='converged', value=value * unit.value, bound=bound * unit.value,
        infeasibility=inf, iterations=len(journal.records), factorizations=journal.factorizations, history=tuple(journal.records), message='')

from dataclasses import dataclass
@dataclass(frozen=True)
class _Units:
    """Factors that bring a program's lengths and masses near 1."""

    length: float
    weight: float

    @classmethod
    def of(cls, program: EdgeProgram) -> _Units:
        return cls(float(np.sqrt(program.sqdist.mean())), float(program.mass.mean()))

    @property
    def value(self) -> float:
        return self.length**2 * self.weight

    def scale(self, program: EdgeProgram) -> EdgeProgram:
        square = self.length**2
        return EdgeProgram(
            edges=program.edges,
            n=program.n,
            sqdist=program.sqdist / square,
            lower=program.lower / square,
            upper=program.upper / square,
            price=program.price / self.weight,
            stiffness=program.stiffness * square / self.weight,
            mass=program.mass / self.weight,
        )
