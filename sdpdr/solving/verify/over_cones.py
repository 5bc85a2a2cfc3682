"""Proofs of a cvxpy problem over all of its cones, next to the answer that it keeps."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np

from sdpdr.base.progress import enter_phase
from sdpdr.certify.knowledge import VALUE
from sdpdr.model.conic.kept import values_of
from sdpdr.program.run import Verdict
from sdpdr.program.solution import Solution
from sdpdr.solvers.flat import ask_solver
from sdpdr.solving.over_cones import ConeProof, in_words_of
from sdpdr.solving.verify.completing import completed_point
from sdpdr.solving.verify.given import distance
from sdpdr.solving.verify.kept_answer import KeptAnswer

_ONE_SOLVE = "one solve by Clarabel found the {} that cvxpy does not keep"


def prove_over_cones(kept: KeptAnswer, spent: float = 0.0) -> Solution:
    """What is proved next to the answer that a problem keeps.

    The values that cvxpy keeps are completed by those of the variables that it adds, with its own
    fixed. Multipliers that are missing, and values if there are none, one solve finds.

    Parameters
    ----------
    kept : KeptAnswer
    spent : float, default 0
        CPU seconds of the budget that are spent already.
    """
    enter_phase("proving: the answer that cvxpy keeps")
    flat, settings = kept.flat, kept.settings
    proof = ConeProof(flat.program, flat.maximize, kept.scale)
    units, budget, note = proof.units, kept.budget, ""
    x, z = completed_point(flat.program, kept.point.x), kept.multipliers
    if x is None or np.any(np.isnan(z)):
        begin = time.process_time()
        found = ask_solver(proof.own)
        budget = max(budget, settings.budget(time.process_time() - begin))
        note = _ONE_SOLVE.format("values and multipliers" if x is None else "multipliers")
        x = units.given_point(found.x) if x is None else x
        z = units.given_multipliers(found.z)
    proof.prove(
        proof.answer(x, z),
        ask_solver,
        tol=settings.tol,
        seconds=budget - spent,
        claim="" if kept.verdict is Verdict.SOLVED else kept.verdict.value,
    )
    graded = proof.graded(kept.claimed(note), x, z)
    solution, given = in_words_of(flat, graded), kept.values
    if not given or VALUE not in proof.known.how:
        return solution
    proved = values_of(flat, np.asarray(graded.values["x"]))
    return replace(solution, moved=distance(given, proved))
