"""What tests ask of proofs: one side of a program in standard form, by all that the package has.

And an oracle of rays that shares no code with the proofs.
"""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np

from sdpdr.certify import certify as bounded
from sdpdr.certify.answer import is_small, prove_answer
from sdpdr.certify.attained import attained
from sdpdr.certify.standard import standard
from sdpdr.linalg.svec import smat, svec_size
from sdpdr.program import Point, PsdVariable, as_dense
from sdpdr.program.ray import Ray
from sdpdr.program.run import Verdict
from sdpdr.program.sdp import without_objective
from sdpdr.solvers.flat import ask_clarabel
from sdpdr.solving.proofs import Prover


def attain(sdp, point):
    """The better value of those next to a factor and of the kernel; None where none is proved."""
    near = attained(sdp, point.values)
    words = "no point was proved feasible"
    found = SimpleNamespace(value=None, argument=words, values=point.values)
    if near is not None:
        found = near
    if not is_small(sdp):
        return found
    by_kernel = prove_answer(sdp, point, ask_clarabel)
    if by_kernel.value is None:
        return found
    words = by_kernel.how["value"]
    other = SimpleNamespace(value=by_kernel.value, argument=words, values=by_kernel.values)
    if found.value is None or (other.value > found.value) == sdp.maximize:
        return other
    return found


def certify(sdp, duals):
    """The better bound of multipliers at any size and by the kernel."""
    found = bounded(sdp, duals)
    if not is_small(sdp):
        return found
    form = standard(sdp)
    values = form.values(ask_clarabel(form.flat).x)
    by_kernel = prove_answer(sdp, Point(values, duals), ask_clarabel)
    if by_kernel.bound is None:
        return found
    if found.bound is None or (by_kernel.bound < found.bound) == sdp.maximize:
        return replace(found, bound=by_kernel.bound, argument=by_kernel.how["bound"])
    return found


def prove_infeasible(sdp, duals):
    """The ray that is found next to multipliers, or why there is none."""
    found = Prover(sdp, 1e-6).of(Point({}, duals), Verdict.INFEASIBLE)
    is_ray = found.ray is not None and found.ray.kind == "infeasible"
    return found.ray if is_ray else found.how["value"]


def prove_unbounded(sdp, values):
    """The ray that is found next to a direction, or why there is none."""
    found = Prover(sdp, 1e-6).of(Point(values), Verdict.UNBOUNDED)
    is_ray = found.ray is not None and found.ray.kind == "unbounded"
    return found.ray if is_ray else found.how["bound"]


ROUNDING = 1e-9


def shows(ray, sdp):
    """Whether the numbers of a ray show what it says, up to rounding; those behind faces do not."""
    if ray.kind == "infeasible":
        return _contradicts(without_objective(sdp), ray.duals)
    return _improves_for_ever(sdp, {k: as_dense(x) for k, x in ray.values.items()})


def _contradicts(sdp, duals):
    """Multipliers in their cones whose slack is in its cone, beside a dual value above zero."""
    size = max(float(np.max(np.abs(y), initial=0.0)) for y in duals.values())
    signs = [duals[r.label] for r in sdp.rows if r.relation == "<="]
    signs += [np.linalg.eigvalsh(duals[lmi.label]) for lmi in sdp.lmis]
    for v in sdp.variables:
        slack = sdp.dual_slack(v.name, duals)
        slack = slack.toarray() if hasattr(slack, "toarray") else np.asarray(slack)
        if isinstance(v, PsdVariable):
            signs.append(np.linalg.eigvalsh(slack))
        elif v.nonnegative:
            signs.append(slack)
        else:
            signs.append(-np.abs(slack))
    are_in_cones = all(np.min(s, initial=0.0) >= -ROUNDING * size for s in signs)
    return are_in_cones and sdp.dual_value(duals) > ROUNDING * size


def _improves_for_ever(sdp, step):
    """A step that no constraint limits, and that lowers the objective."""
    size = max(float(np.max(np.abs(x))) for x in step.values())
    signs = [np.linalg.eigvalsh(step[v.name]) for v in sdp.psd_variables]
    for v in sdp.vector_variables:
        still = -np.abs(step[v.name]) * (v.curvature is not None)
        signs.append(np.minimum(step[v.name], still) if v.nonnegative else still)
    for r in sdp.rows:
        moved = sdp.evaluate(r.lhs, step, r.m)
        signs.append(-moved if r.relation == "<=" else -np.abs(moved))
    for lmi in sdp.lmis:
        signs.append(np.linalg.eigvalsh(smat(sdp.evaluate(lmi.lhs, step, svec_size(lmi.order)))))
    is_free = all(np.min(s, initial=0.0) >= -ROUNDING * size for s in signs)
    return is_free and sdp.primal_value(step) - sdp.constant < -ROUNDING * size


__all__ = ["Ray", "attain", "certify", "prove_infeasible", "prove_unbounded", "shows"]
