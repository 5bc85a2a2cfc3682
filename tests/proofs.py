"""What tests ask of proofs: one side of a program in standard form, by all that the package has."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

from sdpdr.certify import certify as bounded
from sdpdr.certify.answer import is_small, prove_answer
from sdpdr.certify.attained import attained
from sdpdr.certify.standard import standard
from sdpdr.program import Point
from sdpdr.program.ray import Ray
from sdpdr.solvers.flat import ask_clarabel


def attain(sdp, point, **_options):
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


def certify(sdp, duals, **_options):
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


def prove_infeasible(sdp, duals, **_options):
    """The ray that the kernel finds, or why it finds none."""
    found = prove_answer(sdp, Point({}, duals), ask_clarabel, claim="infeasible")
    is_ray = found.ray is not None and found.ray.kind == "infeasible"
    return found.ray if is_ray else found.how["value"]


def prove_unbounded(sdp, values, **_options):
    """The ray that the kernel finds from a direction, or why it finds none."""
    found = prove_answer(sdp, Point(values), ask_clarabel, claim="unbounded")
    is_ray = found.ray is not None and found.ray.kind == "unbounded"
    return found.ray if is_ray else found.how["bound"]


__all__ = ["Ray", "attain", "certify", "prove_infeasible", "prove_unbounded"]
