"""The blocks of actions: their laws, their words, and what they forbid."""

import numpy as np
import pytest

import sdpdr
from sdpdr import blocks
from sdpdr.errors import ShapeError
from sdpdr.program import Factor

BEFORE, AFTER = [[0, 1], [0, 2], [1, 2]], [[1, 2], [1, 3], [2, 3]]


@pytest.mark.parametrize(
    "block",
    [
        blocks.Actions(5, BEFORE, AFTER),
        blocks.Actions(4, [[0, 3]], [[1, 0]], gram="G"),
        blocks.Coinciding(5, [[0, 2], [0, 4]]),
    ],
    ids=["actions", "another name", "coinciding"],
)
def test_every_law_holds(block):
    assert "every law holds" in sdpdr.check_block(block)


def violation(block, points):
    model = blocks.Gram(len(points)) + block
    return max(model.violations({"K": Factor(np.asarray(points, dtype=float))}).values())


def test_equal_steps_and_screws_are_rigid_and_unequal_ones_are_not():
    angle = 0.7 * np.arange(4)
    screw = np.column_stack([np.cos(angle), np.sin(angle), 0.3 * np.arange(4)])
    actions = blocks.Actions(4, BEFORE, AFTER)
    assert violation(actions, [[0.0], [1.0], [2.0], [3.0]]) < 1e-14
    assert violation(actions, screw) < 1e-14
    assert violation(actions, [[0.0], [1.0], [2.0], [4.0]]) > 1.0


def test_actions_are_described_in_words_and_in_latex():
    model = blocks.Gram(5) + blocks.Actions(5, BEFORE, AFTER) + blocks.Coinciding(5, [[0, 4]])
    text = model.describe()
    assert "K_ii + K_jj − 2 K_ij − (K_kk + K_ll − 2 K_kl) = 0" in text
    assert "actions, 3 rows" in text
    assert "coinciding, 1 rows" in text or "coinciding, 1 row" in text
    assert "K_{ii} + K_{jj} - 2 K_{ij} - (K_{kk} + K_{ll} - 2 K_{kl}) = 0" in model.describe(
        "latex"
    )


def test_pairs_outside_the_points_are_refused():
    with pytest.raises(ShapeError, match="points 0..2"):
        list(blocks.Actions(3, [[0, 1]], [[1, 3]]).terms())
