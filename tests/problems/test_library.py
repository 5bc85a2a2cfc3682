"""Every card shipped loads, builds, and meets what it expects; formulas are computed anew."""

import itertools

import numpy as np
import pytest

from sdpdr import datasets
from sdpdr.errors import SdpdrError, UnknownNameError
from sdpdr.lab.library.problem import find_card, library
from sdpdr.lab.library.vocabulary import METHODS

pytestmark = pytest.mark.integration

CARDS = dict(library())
# Up to half a minute; smaller ones of their kinds say the same.
DEAR = (
    "anchored-out-of-reach", "anchored-swiss-roll-60", "apart-s-curve-150", "are-walk",
    "cheap-slack-apart", "cheap-slack-colored", "cheap-slack-furthest", "cheap-slack-roll",
    "collinear-8-equality", "colored-digits-80", "colored-gaussian-50-equality",
    "colored-swiss-roll-2000", "complete-20-equality", "cp-cut-cycle", "cp-cut-singular",
    "cp-lift-cycle-4", "density-map-trace-300", "digits", "digits-1500", "gaussian-120",
    "gaussian-60-equality", "grid-with-hole", "impossible-ring-band", "impossible-ring-colored",
    "ism-slack-40", "isometric-nmf-line", "isometric-nmf-unit-rows", "loocv-too-little-trace",
    "metric-xing-clouds", "metric-xing-clouds-200", "metric-xing-clouds-diagonal",
    "mfnu-gaussian-40-equality", "mfnu-s-curve-200", "mfnu-swiss-roll-2000", "mfnu-swiss-roll-60",
    "mixed-labels-sparse-200", "mmmf-max-norm-30", "mmmf-soft-150", "mmmf-soft-60",
    "nmf-lift-random-100", "nmf-lift-random-40", "nmf-lift-slack-signs", "nmf-products-square",
    "nmf-shor-square",
    "noisy-swiss-roll", "polynomial-below-least-value", "polynomial-moments-curved", "s-curve",
    "s-curve-1500", "sopca-gaussian-20", "sparse-direction-40", "spiral-150-slack",
    "straight-path-300", "swiss-roll-100-band", "swiss-roll-100-equality", "swiss-roll-1000",
    "swiss-roll-1000-k6", "swiss-roll-10000-k4", "swiss-roll-30-equality", "swiss-roll-4000",
    "trefoil-100-equality", "trefoil-knot",
)  # fmt: skip
SOLVED = [
    pytest.param(
        card, id=name, marks=[pytest.mark.nightly] if card.run.slow or name in DEAR else []
    )
    for name, card in CARDS.items()
]


@pytest.mark.daily(8)
@pytest.mark.parametrize("card", SOLVED)
def test_a_card_meets_its_expectation(card):
    try:
        outcome = card.solve()
    except SdpdrError as error:
        outcome = error
    assert [finding for finding in card.check(outcome) if not finding.holds] == []


def test_every_card_says_how_its_answer_is_known_and_knows_it_to_five_millionths():
    for card in CARDS.values():
        expect = card.expect
        assert expect.source.strip(), card.name
        assert card.reference.strip(), card.name
        assert card.tags, card.name
        assert expect.provenance in ("analytic", "certified"), card.name
        if expect.provenance == "certified":
            assert expect.value is not None, card.name
        assert expect.rtol <= 5e-6, card.name


def test_the_library_has_the_problems_promised():
    assert len(CARDS) >= 125
    assert {card.method["name"] for card in CARDS.values()} == set(METHODS)
    assert {card.expect.error for card in CARDS.values()} >= {None, "DisconnectedGraphError"}
    for status in ("INFEASIBLE", "UNBOUNDED"):
        methods = {c.method["name"] for c in CARDS.values() if c.expect.status == status}
        assert len(methods) >= 5
    assert len({c.method["name"] for c in CARDS.values() if "degenerate" in c.tags}) >= 8
    sizes = [card.size.n for card in CARDS.values() if card.expect.value is not None]
    for low, high in itertools.pairwise([20, 50, 100, 300, 1000, 3000, 10001]):
        assert sum(low <= n < high for n in sizes) >= 3
    assert [card.name for card in CARDS.values()].index("swiss-roll-100") < [
        card.name for card in CARDS.values()
    ].index("swiss-roll-1000")


def test_a_card_is_found_by_name_and_by_path(tmp_path):
    text = (tmp_path / "mine.toml").write_text
    text(
        '[about]\ntitle = "Mine"\nreference = "none"\ntags = []\n'
        '[graph]\nkind = "path"\nlengths = [1.0, 2.0]\n[method]\nname = "mvu"\n'
        '[expect]\nvalue = 4.666666667\nprovenance = "analytic"\nsource = "by hand"\n'
        "[size]\nn = 3\nedges = 2\n"
    )
    card = find_card(str(tmp_path / "mine.toml"))
    assert card.name == "mine"
    assert all(finding.holds for finding in card.check(card.solve()))
    assert find_card("circle").title == CARDS["circle"].title
    with pytest.raises(UnknownNameError, match="Did you mean 'circle'"):
        find_card("cirkle")


# -- the analytic values, from their formulas ------------------------------------------------------


def test_analytic_values_are_what_their_formulas_give():
    for name, X, factor in (
        ("path-graph", datasets.path()[0], 1.0),
        ("path-graph-band", datasets.path()[0], 1.1),
        ("circle", datasets.circle(100)[0], 1.0),
        ("complete-graph", datasets.gaussian(40, 3, 0)[0], 1.0),
    ):
        assert CARDS[name].expect.provenance == "analytic"
        variance = np.square(X - X.mean(axis=0)).sum()
        np.testing.assert_allclose(CARDS[name].expect.value, factor * variance, rtol=1e-9)


# -- checking --------------------------------------------------------------------------------------


def test_a_wrong_answer_is_found():
    card, other = CARDS["path-graph"], CARDS["path-graph-band"]
    findings = {finding.key: finding for finding in card.check(other.solve())}
    assert not findings["value"].holds
    assert "1.0e-01" in findings["value"].found
    assert findings["status"].holds
    assert findings["rank"].holds


def test_a_solution_is_not_the_error_expected_nor_the_other_way_round():
    solution = CARDS["path-graph"].solve()
    assert not CARDS["two-clusters"].check(solution)[0].holds
    assert not CARDS["path-graph"].check(ValueError("no"))[0].holds
