"""Rows are left out until nothing can be, and what is proved of few entries holds of all."""

from __future__ import annotations

import numpy as np
import pytest

from sdpdr import minimize, psd
from sdpdr.base.deadline import Deadline
from sdpdr.solving.diagnosis.sources import view_of
from sdpdr.solving.diagnosis.subsets import Proved, fewest

COUNT = 24


class Hidden:
    """A conflict of some rows, whose proofs have multipliers on rows that they do not need."""

    def __init__(self, needed, rng):
        self.needed, self.rng, self.proofs = needed, rng, 0

    def __call__(self, kept):
        self.proofs += 1
        if not kept[self.needed].all():
            return None
        z = kept * (self.rng.random(kept.size) < 0.5)
        z[self.needed] = 1.0
        return Proved(kept, z)


@pytest.mark.parametrize("size", [1, 2, 5, COUNT])
@pytest.mark.parametrize("seed", range(5))
def test_the_rows_that_are_left_are_those_of_the_conflict(size, seed):
    rng = np.random.default_rng(seed)
    needed = np.sort(rng.choice(COUNT, size, replace=False))
    prove = Hidden(needed, rng)
    every = prove(np.ones(COUNT, dtype=bool))
    rows = np.arange(COUNT)
    found, is_complete = fewest(every, list(rows[:, None]), rows, prove, Deadline())
    assert is_complete
    assert np.flatnonzero(found.kept).tolist() == needed.tolist()


def test_what_is_left_when_time_is_up_is_proved():
    prove = Hidden(np.array([3]), np.random.default_rng(0))
    every = prove(np.ones(COUNT, dtype=bool))
    rows = np.arange(COUNT)
    found, is_complete = fewest(every, list(rows[:, None]), rows, prove, Deadline(0.0))
    assert not is_complete
    assert found.kept[3]


def test_rows_of_a_cone_stay_together_and_nameless_ones_stay():
    prove = Hidden(np.array([3]), np.random.default_rng(0))
    every = prove(np.ones(COUNT, dtype=bool))
    cones = np.arange(COUNT)
    cones[3:6] = 3
    cones[20:] = -1
    groups = [np.flatnonzero(cones == k) for k in np.unique(cones[cones >= 0])]
    found, _ = fewest(every, groups, cones, prove, Deadline())
    assert np.flatnonzero(found.kept).tolist() == [3, 4, 5, 20, 21, 22, 23]


def test_entries_that_no_constraint_is_about_leave_the_matrix():
    K = psd("K", 6)
    view = view_of(minimize(K.trace()) + (K[1, 4] >= 1.0).named("a"), Deadline())
    busy = view.stated.busy(np.ones(view.stated.right.size, dtype=bool))
    own = np.flatnonzero(busy & view.stated.own)
    # The entries (1, 1), (1, 4) and (4, 4).
    assert view.stated.rows[own].indices.tolist() == [2, 11, 14]
