"""Families: every member is a card of its size, references are met, and mistakes are named."""

import re

import pytest

from sdpdr.errors import CardError, FileFormatError, UnknownNameError
from sdpdr.lab.library.problem import Family, families, find_card, find_family

pytestmark = pytest.mark.integration

FAMILIES = dict(families())
# Sizes that take a second or so; the others are there for plots.
SMALL = 60
SIZES = {
    name: [n for n in family.sizes if n <= SMALL and family.references.at(n).value is not None]
    for name, family in FAMILIES.items()
}
KNOWN = [
    pytest.param(
        FAMILIES[name],
        size,
        id=f"{name}@{size}",
        marks=[pytest.mark.nightly] if size > sizes[0] else [],
    )
    for name, sizes in SIZES.items()
    for size in sizes
]


@pytest.mark.daily(3)
@pytest.mark.parametrize(("family", "size"), KNOWN)
def test_members_meet_their_references(family, size):
    card = family.at(size)
    assert [finding for finding in card.check(card.solve()) if not finding.holds] == []


def test_every_suggested_size_is_that_of_the_problem_and_of_a_reference():
    for family in FAMILIES.values():
        assert set(family.references.values) <= set(family.sizes)
        for size in family.sizes:
            card = family.at(size)
            assert (card.name, card.size.n) == (f"{family.name}@{size}", size)
        family.at(family.sizes[0]).build()


# -- a small family, written here --------------------------------------------------------------

RING = """\
[about]
title = "Ring"
reference = "none"
tags = ["quick"]

[family]
varies = "graph.n"
sizes = [4, 8]
slow_from = 8

[graph]
kind = "cycle"

[method]
name = "mvu"

[references]
provenance = "analytic"
source = "a square"

[references.values]
4 = 2.0

[run]
tol = 1e-7
"""


def load(tmp_path, old="", new=""):
    assert old in RING
    path = tmp_path / "ring.toml"
    path.write_text(RING.replace(old, new, 1), encoding="utf-8")
    return Family.load(path)


def test_a_member_expects_its_value_or_an_optimum(tmp_path):
    family = load(tmp_path)
    known, unknown = family.at(4), family.at(5)
    assert (known.expect.value, known.expect.provenance) == (2.0, "analytic")
    assert (unknown.expect.value, unknown.expect.provenance) == (None, "none")
    assert unknown.expect.describe() == "SOLVED"
    assert all(finding.holds for finding in unknown.check(unknown.solve()))
    assert [family.at(n).run.slow for n in (4, 7, 8, 9)] == [False, False, True, True]
    assert known.run.tol == 1e-7


def test_a_formula_knows_every_size(tmp_path):
    values = '[references]\nprovenance = "analytic"\nsource = "a square"\n\n[references.values]'
    ring = load(tmp_path, values + "\n4 = 2.0", values[:12] + '\nformula = "regular_polygon"\n'
                'provenance = "analytic"\nsource = "trigonometry"')  # fmt: skip
    assert ring.at(6).expect.value == pytest.approx(6.0)


def test_two_keys_take_the_size():
    assert find_family("signs").varies == ("data.n", "data.m")
    card = find_card("signs@20")
    assert card.points[0].shape == (20, 20)


def test_a_member_is_found_by_name_and_by_path(tmp_path):
    load(tmp_path)
    assert find_card(f"{tmp_path / 'ring.toml'}@7").neighbor_graph.m == 7
    with pytest.raises(UnknownNameError, match="Did you mean 'swiss-roll'"):
        find_card("swis-roll@7")
    with pytest.raises(CardError, match="choose a size, as in swiss-roll@50"):
        find_card("swiss-roll")
    for size in ("", "many", "-3", "1.5"):
        with pytest.raises(CardError, match="is no size"):
            find_card(f"swiss-roll@{size}")
    with pytest.raises(CardError, match="of at least 1; got 0"):
        find_card("swiss-roll@0")


@pytest.mark.parametrize(
    ("old", "new", "key", "words"),
    [
        ("[family]", "[famly]", "famly", "Did you mean 'family'"),
        ('varies = "graph.n"', "", "family.varies", "missing: write a list of texts"),
        ('"graph.n"', '"n"', "family.varies", "got 'n'; expected a key of data, graph or method"),
        ('"graph.n"', '"data.n"', "family.varies", "there is no [data]"),
        ('kind = "cycle"', 'kind = "cycle"\nn = 5', "family.varies", "drop it"),
        ("[4, 8]", "[]", "family.sizes", "expected a list of whole numbers above 0, got []"),
        ("[4, 8]", "[8, 4]", "family.sizes", "expected rising numbers"),
        ("4 = 2.0", "four = 2.0", "references.values.four", "is no size"),
        ("4 = 2.0", '4 = "two"', "references.values.4", "expected a number, got 'two'"),
        ("tol = 1e-7", "slow = true", "run.slow", "unknown"),
        ('"analytic"', '"guess"', "references.provenance", "Allowed"),
        ("\n[references.values]\n4 = 2.0", "", "references.values", "one of formula, values"),
    ],
)
def test_a_mistake_is_named(tmp_path, old, new, key, words):
    with pytest.raises(CardError, match=re.escape(words)) as caught:
        load(tmp_path, old, new)
    assert str(caught.value).startswith(f"family ring.toml, key {key}: ")


def test_what_is_no_family_is_refused(tmp_path):
    with pytest.raises(FileFormatError, match="family .* cannot be read"):
        Family.load(tmp_path / "nowhere.toml")
    with pytest.raises(UnknownNameError, match="unknown family"):
        find_family("nothing-like-it")
