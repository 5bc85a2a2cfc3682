"""Every problem survives as an SDPA file: same objective, same rows; if small, same optimum."""

import pytest

from sdpdr import solve
from sdpdr.lab.cli.problems import reduced
from sdpdr.lab.library.problem import find_card, library
from sdpdr.program import read_sdpa, write_sdpa

from ..equality_form import assert_same_at_a_point

pytestmark = pytest.mark.integration

CARDS = dict(library())
BUILT = {name: card for name, card in CARDS.items() if card.expect.error is None}
# A row of centring names every entry of a row of the matrix, so plain files grow as n^2.
LARGE = 400
BY_SIZE = sorted(BUILT.values(), key=lambda card: -card.size.n)
# The smallest problem of each method, and the smallest that has a value.
FIRST = {card.method["name"]: card.name for card in BY_SIZE}
SMALLEST = {card.method["name"]: card.name for card in BY_SIZE if card.expect.value is not None}
WRITTEN = [
    pytest.param(name, id=name, marks=[pytest.mark.nightly] * (name not in FIRST.values()))
    for name, card in BUILT.items()
    if card.size.n <= LARGE
]


@pytest.mark.daily(14)
@pytest.mark.parametrize("name", WRITTEN)
def test_a_problem_survives_its_file(tmp_path, name):
    sdp = CARDS[name].build().to_sdp()
    path = tmp_path / f"{name}.dat-s"
    write_sdpa(sdp, path)
    again = read_sdpa(path)
    assert again.name == name
    assert again.maximize == sdp.maximize
    assert_same_at_a_point(sdp, again)


# Clarabel comes no nearer than 2e-5 there on some processors.
MORE_PRECISE = {("are-line", "lmi"): "dense"}


@pytest.mark.nightly
@pytest.mark.parametrize("form", ["gram", "lmi"])
@pytest.mark.parametrize("name", SMALLEST.values())
def test_the_smallest_problem_of_each_method_has_the_same_optimum(tmp_path, name, form):
    card = CARDS[name]
    write_sdpa(reduced(card.build().to_sdp(), form), tmp_path / "small.dat-s")
    solver = MORE_PRECISE.get((name, form), "clarabel")
    solution = solve(read_sdpa(tmp_path / "small.dat-s"), solver, tol=1e-7)
    assert solution.value == pytest.approx(card.expect.value, rel=1e-5, abs=1e-5)


def test_a_member_of_a_family_is_written_like_any_card(tmp_path):
    sdp = find_card("ring@7").build().to_sdp()
    write_sdpa(sdp, tmp_path / "ring.dat-s")
    assert_same_at_a_point(sdp, read_sdpa(tmp_path / "ring.dat-s"))
