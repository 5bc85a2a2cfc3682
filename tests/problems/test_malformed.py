"""A card with a mistake is refused, and the message says where it is and what would be right."""

import re

import pytest

from sdpdr.errors import CardError, FileFormatError
from sdpdr.lab.library.card import Card

pytestmark = pytest.mark.integration

GOOD = """\
[about]
title = "Roll"
reference = "none"
tags = ["quick"]

[data]
generator = "swiss_roll"
n = 30
seed = 0

[graph]
kind = "knn"
n_neighbors = 5

[method]
name = "mvu"
isometry = "inequality"

[expect]
value = 1.0
provenance = "certified"
source = "a test"

[size]
n = 30
edges = 90

[run]
solver = "auto"
"""


def load(tmp_path, old="", new=""):
    assert old in GOOD
    path = tmp_path / "roll.toml"
    path.write_text(GOOD.replace(old, new, 1), encoding="utf-8")
    return Card.load(path)


@pytest.mark.parametrize(
    ("old", "new", "key", "words"),
    [
        ("[about]", "[abuot]", "abuot", "unknown. Did you mean 'about'"),
        ('title = "Roll"\n', "", "about.title", "missing: write a text"),
        ('"Roll"', '" "', "about.title", "is empty"),
        ('["quick"]', '"quick"', "about.tags", "expected a list of texts, got 'quick'"),
        ("swiss_roll", "swiss_role", "data.generator", "Did you mean 'swiss_roll'"),
        ("seed = 0", "sede = 0", "data.sede", "unknown. Did you mean 'seed'"),
        ("seed = 0", "seed = true", "data.seed", "expected a whole number, got True"),
        ('"knn"', '"kn"', "graph.kind", "Did you mean 'knn'"),
        ("n_neighbors = 5", "angles = 1", "graph.angles", "expected true or false, got 1"),
        ('kind = "knn"\nn_neighbors = 5', 'kind = "cycle"\nn = 9', "graph.kind", "drop [data]"),
        (
            'kind = "knn"\nn_neighbors = 5',
            'kind = "path"\nlengths = ["a"]',
            "graph.lengths",
            "expected a list of numbers, got ['a']",
        ),
        ('name = "mvu"', 'name = "mvv"', "method.name", "Did you mean 'mvu'"),
        ('"inequality"', '"inequalty"', "method.isometry", "Did you mean 'inequality'"),
        ('"inequality"', "{ band = 2.0 }", "method.isometry", "must lie in (0, 1)"),
        ('"inequality"', "{ slack = 1.0, wide = 2 }", "method.isometry", "unknown isometry"),
        (
            "value = 1.0\n",
            "",
            "expect.value",
            "one of value, status, error; got none",
        ),
        (
            "value = 1.0",
            'value = 1.0\nstatus = "INFEASIBLE"',
            "expect.value",
            "got value, status",
        ),
        ("value = 1.0", 'status = "INFEASABLE"', "expect.status", "Did you mean 'INFEASIBLE'"),
        ("value = 1.0", "value = 1.0\nrank = 0", "expect.rank", "of at least 1, got 0"),
        ('"certified"', '"guess"', "expect.provenance", "Allowed: analytic, certified, paper"),
        ("[size]\nn = 30\nedges = 90\n", "", "size", "missing: write a table"),
        ('solver = "auto"', "tol = 0.0", "run.tol", "expected a number above 0"),
        ('solver = "auto"', 'slow = "yes"', "run.slow", "expected true or false, got 'yes'"),
    ],
)
def test_a_mistake_is_named(tmp_path, old, new, key, words):
    with pytest.raises(CardError, match=re.escape(words)) as caught:
        load(tmp_path, old, new)
    assert str(caught.value).startswith(f"card roll.toml, key {key}: ")


def test_points_must_be_given_to_a_graph_of_points(tmp_path):
    data = GOOD[GOOD.index("[data]") : GOOD.index("[graph]")]
    with pytest.raises(CardError, match=re.escape("'knn' is made from points: add [data]")):
        load(tmp_path, data, "")


# A method made of points needs data, and neither a graph nor a number of edges.
POINTS = """\
[about]
title = "Clouds"
reference = "none"
tags = ["quick"]

[data]
generator = "two_clusters"
n = 12

[method]
name = "ghodsi"

[expect]
value = 1.0
provenance = "certified"
source = "a test"

[size]
n = 12
"""


def load_points(tmp_path, old="", new=""):
    path = tmp_path / "clouds.toml"
    path.write_text(POINTS.replace(old, new, 1), encoding="utf-8")
    return Card.load(path)


def test_a_method_made_of_points_builds_from_data_alone(tmp_path):
    assert load(tmp_path).name == "roll"  # the card that the tests above spoil is good
    card = load_points(tmp_path)
    assert card.build().name == "ghodsi"
    assert card.size.edges == 0
    with pytest.raises(CardError, match="ghodsi is made of points alone"):
        card.neighbor_graph  # noqa: B018  # the property refuses
    listed = load_points(
        tmp_path, 'name = "ghodsi"', 'name = "ghodsi"\nsimilar = [[0, 1]]\ndissimilar = [[0, 7]]'
    )
    assert listed.build().size()["matrices"] == {"A": 2}


@pytest.mark.parametrize(
    ("old", "new", "key", "words"),
    [
        ("[method]", '[graph]\nkind = "complete"\n[method]', "method.name", "drop [graph]"),
        ('[data]\ngenerator = "two_clusters"\nn = 12\n', "", "method.name", "add [data]"),
        ('"ghodsi"', '"ghodsi"\ncap = "x"', "method.cap", "expected a number"),
        ('"ghodsi"', '"ghodsi"\ncup = 1.0', "method.cup", "Did you mean 'cap'"),
        ("[size]\nn = 12", "[size]\nn = 12\nedges = 3", "size.edges", "unknown"),
    ],
)
def test_a_mistake_in_a_card_of_points_is_named(tmp_path, old, new, key, words):
    with pytest.raises(CardError, match=re.escape(words)) as caught:
        load_points(tmp_path, old, new)
    assert str(caught.value).startswith(f"card clouds.toml, key {key}: ")


def test_data_and_graphs_of_another_size_are_refused_when_they_are_built(tmp_path):
    card = load_points(tmp_path, "[size]\nn = 12", "[size]\nn = 13")
    with pytest.raises(CardError, match="says n = 13, but there are 12 points"):
        card.build()
    card = load(tmp_path, "edges = 90", "edges = 91")
    with pytest.raises(CardError, match=r"\[size\] says n = 30, edges = 91, but its graph has"):
        card.build()


def test_what_is_not_toml_is_refused(tmp_path):
    path = tmp_path / "broken.toml"
    for text in (b"[about", b"\xff\xfe", b"a = 1\na = 2"):
        path.write_bytes(text)
        with pytest.raises(FileFormatError, match="is not TOML"):
            Card.load(path)
    with pytest.raises(FileFormatError, match="cannot be read"):
        Card.load(tmp_path / "nowhere.toml")
