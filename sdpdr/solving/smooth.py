"""Grading answers to models with smooth costs, which have no standard form."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sdpdr.certify.knowledge import VALUE
from sdpdr.model import Model
from sdpdr.program.run import Status
from sdpdr.program.solution import Solution
from sdpdr.solvers.base import Outcome
from sdpdr.solvers.flat import ask_solver
from sdpdr.solving.answers import unproved
from sdpdr.solving.candidate import Candidate
from sdpdr.solving.grade import STOPPED
from sdpdr.solving.options import Request
from sdpdr.solving.over_cones import ConeProof
from sdpdr.solving.proofs import budget


def grade_smooth(model: Model, outcome: Outcome, chosen: Candidate, request: Request) -> Solution:
    """Grade a point of a model with smooth costs, over the cones that cvxpy writes it in.

    cvxpy keeps the values of the model's own variables, and not of those that it adds, so that
    Clarabel solves the problem again: its answer is where the kernel's proofs begin.

    Parameters
    ----------
    model : Model
    outcome : Outcome
        The solver's answer to the model as cvxpy writes it.
    chosen : Candidate
    request : Request

    Returns
    -------
    Solution
    """
    point, seconds, stopped = outcome.point, budget(outcome.cpu, request), False
    with request.clock("certify"):
        # These import cvxpy, which takes longer than most solves.
        from sdpdr.model.conic.flat import flat_problem
        from sdpdr.model.conic.kept import values_of
        from sdpdr.model.to_cvxpy import render_model

        flat = flat_problem(render_model(model).problem)
        proof = ConeProof(flat.program, flat.maximize, request.gap_scale)
        try:
            answer = ask_solver(proof.own, seconds)
            proof.prove(answer, ask_solver, tol=chosen.solver.tol, seconds=seconds)
        except KeyboardInterrupt:
            stopped = True
    claim = replace(outcome.claim, verdict=outcome.verdict.value)
    nothing = np.full(flat.program.c.size, np.nan)
    claimed = unproved("", claim, chosen, request)
    found = proof.graded(claimed, nothing, nothing)
    status = found.status
    if status is Status.INFEASIBLE:
        point = replace(point, values={}, duals={})
    elif VALUE in proof.known.how:
        point = replace(point, values=values_of(flat, np.asarray(found.values["x"])))
    if status is Status.INACCURATE:
        status = STOPPED.get(outcome.verdict, status)
    return replace(
        found,
        status=Status.INTERRUPTED if stopped else status,
        value=model.objective(point.values) if point.values else found.value,
        values=point.values,
        duals=point.duals,
        ray=found.ray and replace(found.ray, values={}, duals={}),
    )
