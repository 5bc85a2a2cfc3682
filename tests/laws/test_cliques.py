"""Clique trees, merging and completion: the theorems they rest on, on random patterns."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sdpdr.errors import ShapeError
from sdpdr.linalg.cliques import (
    CliqueCost,
    clique_tree,
    complete_min_rank,
    merge_cliques,
)

COSTS = (CliqueCost(), CliqueCost(overhead=0.0, overlap=0.0), CliqueCost(0.5, 3.0, 2.0))


@st.composite
def patterns(draw):
    """An order, and pairs in any triangle, with repetitions and perhaps the diagonal."""
    n = draw(st.integers(1, 14))
    vertex = st.integers(0, n - 1)
    return n, draw(st.lists(st.tuples(vertex, vertex), max_size=30))


@st.composite
def trees(draw):
    n, pairs = draw(patterns())
    tree = clique_tree(n, pairs)
    cost = draw(st.sampled_from([None, *COSTS]))
    return tree if cost is None else merge_cliques(tree, cost)


def blocks_of(tree, matrix):
    return [matrix[np.ix_(c, c)] for c in tree.cliques]


def mask(tree):
    inside = np.zeros((tree.n, tree.n), dtype=bool)
    for c in tree.cliques:
        inside[np.ix_(c, c)] = True
    return inside


def gram(n, rank, seed):
    factor = np.random.default_rng(seed).standard_normal((n, rank))
    return factor @ factor.T


# -- trees --------------------------------------------------------------------------------------


@given(patterns())
def test_every_pair_and_every_vertex_lies_in_a_clique(pattern):
    n, pairs = pattern
    inside = mask(clique_tree(n, pairs))
    assert inside.diagonal().all()
    assert all(inside[i, j] for i, j in pairs)


@given(trees())
def test_cliques_form_a_tree(tree):
    """Parents come first, no clique lies in another, and those of a vertex form a subtree."""
    assert all(-1 <= p < k for k, p in enumerate(tree.parent))
    sets = [set(c.tolist()) for c in tree.cliques]
    assert not any(a <= b for a, b in itertools.permutations(sets, 2))
    assert all(np.all(np.diff(c) > 0) for c in tree.cliques)
    for v in range(tree.n):
        holding = [k for k, c in enumerate(sets) if v in c]
        roots = [k for k in holding if tree.parent[k] not in holding]
        assert roots == [tree.home[v]]
    for k, shared in enumerate(tree.separators):
        assert set(shared.tolist()) == set().union(*sets[:k]) & sets[k]


@given(trees())
def test_the_pattern_counts_each_entry_once(tree):
    expected = np.flatnonzero(mask(tree)[np.tril_indices(tree.n)])
    assert tree.pattern().tolist() == expected.tolist()
    within = sum(k * (k + 1) // 2 for k in tree.sizes.tolist())
    assert tree.pattern().size == within - tree.n_overlaps


@given(trees(), st.randoms(use_true_random=False))
def test_positions_are_found_or_denied(tree, random):
    for k in range(len(tree.cliques)):
        v = random.randrange(tree.n)
        position = int(tree.position(np.array([k]), np.array([v]))[0])
        found = tree.cliques[k].tolist()
        assert position == (found.index(v) if v in found else -1)


@pytest.mark.parametrize("n", [1, 2, 7])
def test_complete_graphs_paths_and_stars_have_their_known_cliques(n):
    everything = list(itertools.combinations(range(n), 2))
    assert [c.tolist() for c in clique_tree(n, everything).cliques] == [list(range(n))]
    path = clique_tree(n, [(i, i + 1) for i in range(n - 1)])
    assert sorted(c.size for c in path.cliques) == ([2] * (n - 1) or [1])
    assert len(clique_tree(n, []).cliques) == n
    star = clique_tree(n, [(0, i) for i in range(1, n)])
    assert len(star.cliques) == max(1, n - 1)


def test_a_cycle_gets_one_chord_for_each_vertex_but_three():
    tree = clique_tree(9, [(i, (i + 1) % 9) for i in range(9)])
    assert tree.sizes.tolist() == [3] * 7
    assert tree.pattern().size == 9 + 9 + 6


# -- merging ------------------------------------------------------------------------------------


@given(patterns(), st.sampled_from(COSTS))
def test_merging_never_costs_more_and_keeps_the_pattern(pattern, cost):
    fine = clique_tree(*pattern)
    coarse = merge_cliques(fine, cost)
    assert cost.tree(coarse) <= cost.tree(fine) * (1 + 1e-12)
    assert np.all(mask(coarse) >= mask(fine))


# -- completion ---------------------------------------------------------------------------------


@given(trees(), st.integers(0, 4), st.integers(0, 99))
def test_the_completion_of_least_rank(tree, rank, seed):
    matrix = gram(tree.n, rank, seed)
    factor = complete_min_rank(tree, blocks_of(tree, matrix))
    inside = mask(tree)
    # Roots of eigenvalues that are zero but for rounding are all that can differ.
    np.testing.assert_allclose((factor @ factor.T)[inside], matrix[inside], atol=1e-6)
    ranks = [np.linalg.matrix_rank(b, hermitian=True) for b in blocks_of(tree, matrix)]
    assert np.linalg.matrix_rank(factor, tol=1e-5) <= max(ranks)


def test_blocks_of_the_wrong_orders_are_named():
    tree = clique_tree(3, [(0, 1), (1, 2)])
    with pytest.raises(ShapeError, match=r"orders \[2, 2\]; it was given shapes \[\(3, 3\)\]"):
        complete_min_rank(tree, [np.eye(3)])
