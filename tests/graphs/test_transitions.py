"""Steps with labels: which pairs move alike, which states must coincide, what is refused."""

import numpy as np
import pytest

from sdpdr import datasets, graphs
from sdpdr.errors import DataError, DisconnectedGraphError, ShapeError


def path(n):
    return graphs.path(np.ones(n - 1))


def as_set(before, after):
    return {(tuple(b), tuple(a)) for b, a in zip(before.tolist(), after.tolist(), strict=True)}


def test_one_action_links_every_pair_of_steps():
    before, after = graphs.transitions(path(5), "AAAA").pairs()
    assert np.array_equal(after, before + 1)
    assert len(before) == 6


def test_actions_are_matched_across_sequences_and_not_across_their_boundary():
    before, after = graphs.transitions(path(8), "ABABAB", [4, 4]).pairs()
    expected = {(0, 2), (0, 5), (1, 4), (1, 6), (2, 5), (4, 6)}
    assert as_set(before, after) == {((i, j), (i + 1, j + 1)) for i, j in expected}


def test_an_unknown_action_says_nothing():
    known = graphs.transitions(path(4), ["A", "A", "A"])
    unknown = graphs.transitions(path(4), ["A", None, "A"])
    missing = graphs.transitions(path(4), ["A", float("nan"), "A"])
    assert len(known.pairs()[0]) == 3
    assert as_set(*unknown.pairs()) == as_set(*missing.pairs()) == {((0, 2), (1, 3))}
    assert graphs.transitions(path(3), [None, None]).names == ()


@pytest.mark.parametrize("seed", range(2))
def test_rows_are_independent_and_imply_those_left_out(seed):
    actions = datasets.random_walk(14, 3, seed)
    steps = graphs.transitions(path(14), actions, inverse={"L": "R", "U": "D"})
    before, after = steps.pairs()
    lengths = np.zeros((len(before), 14, 14))
    for row, (b, a) in enumerate(zip(before, after, strict=True)):
        lengths[row][tuple(np.sort(b))] += 1.0
        lengths[row][tuple(np.sort(a))] -= 1.0
    rows = lengths.reshape(len(before), -1)
    rank = np.linalg.matrix_rank(rows)
    assert rank == len(before)
    for to in steps.moves:
        here = np.flatnonzero(to >= 0)
        for i in here:
            for j in here[here > i]:
                more = np.zeros((14, 14))
                more[tuple(np.sort([i, j]))] += 1.0
                more[tuple(np.sort(to[[i, j]]))] -= 1.0
                assert np.linalg.matrix_rank(np.vstack([rows, more.ravel()])) == rank


def test_an_action_and_its_inverse_lead_back():
    steps = graphs.transitions(path(4), "RLR", inverse={"L": "R"})
    assert steps.place.tolist() == [0, 1, 0, 1]
    assert steps.coinciding.tolist() == [[0, 2], [1, 3]]
    assert steps.names == ("R",)


def test_chains_of_edges():
    graph = graphs.from_edges(5, [[0, 1], [0, 3], [1, 2], [3, 4]], np.ones(4))
    pairs, chain = graphs.transitions(graph, "AAAA").chains(graph.edges)
    assert pairs[:4].tolist() == graph.edges.tolist()
    assert chain[0] == chain[2] == chain[3] != chain[1]
    assert {tuple(sorted(p)) for p in pairs[4:].tolist()} == {(2, 3), (1, 4)}
    assert dict(zip(map(tuple, pairs.tolist()), chain, strict=True))[(1, 4)] == chain[1]


def test_sequences_join_consecutive_states_and_need_each_other():
    X = np.array([[0.0], [5.0], [0.1], [100.0], [101.0], [102.0]])
    graph = graphs.sequences(X[:3], 1)
    assert {(0, 1), (1, 2)} <= set(map(tuple, graph.edges.tolist()))
    with pytest.raises(DisconnectedGraphError, match="sequences"):
        graphs.sequences(X, 1, [3, 3])
    joined = graphs.sequences(X, 1, [3, 3], connect="mst")
    assert joined.is_connected
    assert (2, 3) not in set(map(tuple, graphs.sequences(X, 1, [3, 3], connect="none").edges))
    assert graphs.sequences(X, 1, [3, 3], connect="none").n_components == 2


@pytest.mark.parametrize(
    ("actions", "lengths", "inverse", "error", "words"),
    [
        ("RR", None, None, ShapeError, "2 actions for 4 states in 1 sequence.* 3 are needed"),
        ("RRRR", None, None, ShapeError, "last state of a sequence has none"),
        ("RRR", [2, 3], None, DataError, "add up to 5, but there are 4"),
        ("RRR", [4, 0], None, DataError, r"lengths\[1\]=0 is too small"),
        ([["R"], ["R"], ["L"]], None, None, ShapeError, "one flat sequence"),
        ("RRR", None, {"L": "R"}, DataError, "names the action 'L', but there are only 'R'"),
        ("RLR", None, {"L": "R", "R": "L"}, DataError, "contradicts"),
        ("RLU", None, {"L": "R", "U": "R"}, DataError, "two actions that undo"),
    ],
)
def test_wrong_input_is_refused_in_words(actions, lengths, inverse, error, words):
    with pytest.raises(error, match=words):
        graphs.transitions(path(4), actions, lengths, inverse)


# -- motions and smoothness ------------------------------------------------------------------------


def test_motions_find_a_screw():
    angle = 0.4 * np.arange(12)
    screw = np.column_stack([2.0 * np.cos(angle), 2.0 * np.sin(angle), 0.3 * np.arange(12)])
    steps = graphs.transitions(path(12), "A" * 11)
    motion = graphs.motions(steps, screw)["A"]
    assert motion.residual < 1e-14
    np.testing.assert_allclose(motion(screw[:-1]), screw[1:], atol=1e-13)
    np.testing.assert_allclose(motion.rotation @ motion.rotation.T, np.eye(3), atol=1e-13)
    assert graphs.action_error(steps, screw) < 1e-14
    assert graphs.step_variation(steps, screw) < 1e-14


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda s: graphs.motions(s, np.zeros((3, 2))), ShapeError, "each of the 4 nodes"),
        (lambda s: graphs.step_variation(s, np.zeros((4, 2))), DataError, "no step moves a point"),
    ],
)
def test_wrong_embeddings_are_refused(call, error, words):
    with pytest.raises(error, match=words):
        call(graphs.transitions(path(4), "AAB"))


def test_steps_without_the_action_are_named():
    with pytest.raises(DataError, match="no action 'X', only 'A', 'B'"):
        graphs.transitions(path(3), "AB").of("X")
    with pytest.raises(DataError, match="no labelled steps"):
        graphs.action_error(graphs.transitions(path(3), [None, None]), np.zeros((3, 1)))
