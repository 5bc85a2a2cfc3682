"""The page in a real browser: it draws, sorts, filters, fits, and runs nobody else's code.

Needs `playwright` and a Chromium, found on the path or named by ``SDPDR_BROWSER``.
"""

from __future__ import annotations

import os
import shutil

import pytest

from sdpdr.lab.study.page import comparison_page, study_page, to_html

from .frames import contest
from .pages import HOSTILE, results

pytest.importorskip("plotly", reason="the extra 'study' is not installed")

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

BROWSER = os.environ.get("SDPDR_BROWSER") or next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
pytestmark = pytest.mark.skipif(BROWSER is None, reason="no Chromium found; set SDPDR_BROWSER")


@pytest.fixture(scope="module")
def browser():
    with sync_api.sync_playwright() as playwright:
        # A sandbox inside a container that runs as root cannot be had.
        started = playwright.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        yield started
        started.close()


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    read = results()
    wide = contest({f"s{k} gram": [1.0 + k, 2.0, float("inf"), 3.0] for k in range(25)})
    made = {
        "study": study_page(read.frame, read.meta, read.environments),
        "comparison": comparison_page(read, results(factor=1.5, seed=1)),
        "twenty-five": study_page(wide, {"name": "n" * 90}, {}),
    }
    for name, page in made.items():
        (folder / f"{name}.html").write_text(to_html(page), encoding="utf-8")
    return folder


@pytest.fixture
def visit(browser, pages):
    """Open a page and wait until it is drawn; what went wrong lies in its `trouble`."""
    contexts = []

    def open_page(name="study", **options):
        context = browser.new_context(**options)
        contexts.append(context)
        page = context.new_page()
        page.trouble, page.asked_for = [], []
        page.on("console", lambda message: page.trouble.append(message.text))
        page.on("pageerror", lambda error: page.trouble.append(str(error)))
        page.on("request", lambda request: page.asked_for.append(request.url))
        page.goto((pages / f"{name}.html").as_uri())
        page.wait_for_function(
            "[...document.querySelectorAll('.plot')].every(p => p.querySelector('.main-svg'))"
        )
        return page

    yield open_page
    for context in contexts:
        context.close()


def texts(page, table, column):
    return page.eval_on_selector_all(
        f"#{table} tbody tr:not([hidden]) > :nth-child({column})",
        "cells => cells.map(cell => cell.textContent)",
    )


@pytest.mark.parametrize("name", ["study", "comparison", "twenty-five"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_draws_without_a_word_and_without_the_network(visit, name, scheme):
    page = visit(name, color_scheme=scheme)
    assert page.trouble == []
    assert page.asked_for == [page.url]
    marks = page.eval_on_selector_all(
        ".plot",
        "plots => plots.map(p => p.querySelectorAll("
        "'.scatterlayer path, .barlayer path, .heatmaplayer image').length)",
    )
    assert marks
    assert all(marks)


def test_headings_sort_numbers_as_numbers_and_keep_what_is_missing_last(visit):
    page = visit()
    seconds, head = 4, "#growth-table thead th:nth-child(3)"
    assert page.get_attribute(head, "aria-sort") == "none"
    page.click(f"{head} button")
    assert page.get_attribute(head, "aria-sort") == "ascending"
    up = texts(page, "growth-table", 3)
    page.click(f"{head} button")
    assert page.get_attribute(head, "aria-sort") == "descending"
    down = texts(page, "growth-table", 3)
    numbers = [float(text) for text in up if text != "–"]
    assert numbers == sorted(numbers)
    assert [float(text) for text in down if text != "–"] == numbers[::-1]

    page.click(f"#auto-table thead th:nth-child({seconds + 1}) button")
    for _ in range(2):
        spent = texts(page, "auto-table", seconds + 1)
        assert spent[-1] == "–"
        assert "–" not in spent[:-1]
        page.click(f"#auto-table thead th:nth-child({seconds + 1}) button")


def test_numbers_of_unequal_length_are_not_sorted_as_text(visit):
    page = visit()
    page.click("#runs-table thead th:nth-child(4) button")
    sizes = [int(text) for text in texts(page, "runs-table", 4)]
    assert sizes == sorted(sizes)
    assert sizes != sorted(sizes, key=str)


def test_tables_sort_by_keyboard(visit):
    page = visit()
    page.focus("#ranking-table thead th:nth-child(1) button")
    page.keyboard.press("Enter")
    names = texts(page, "ranking-table", 1)
    assert names == sorted(names)


def test_filters_keep_the_rows_that_hold_all_words(visit):
    page = visit()
    everything = len(texts(page, "runs-table", 1))
    page.fill("[data-filters=runs-table]", "LMI crashed")
    left = texts(page, "runs-table", 1)
    assert 0 < len(left) < everything
    assert set(left) == {"card-2"}
    output = page.inner_text("p.filter:has([data-filters=runs-table]) output")
    assert output == f"{len(left)} of {everything} rows"
    page.fill("[data-filters=runs-table]", "")
    assert len(texts(page, "runs-table", 1)) == everything


def test_the_legend_hides_and_isolates(visit):
    page = visit()
    shown = "document.querySelector('#profile-figure .plot').data.map(t => t.visible !== false)"
    buttons = page.locator("#profile-figure .legend button")
    assert buttons.count() == 5
    buttons.nth(1).click()
    assert page.evaluate(shown) == [True, False, True, True, True]
    assert buttons.nth(1).get_attribute("aria-pressed") == "false"
    buttons.nth(1).click()
    buttons.nth(2).dblclick()
    assert page.evaluate(shown) == [False, False, True, False, False]
    buttons.nth(2).dblclick()
    assert page.evaluate(shown) == [True] * 5


def test_pointing_at_the_map_tells_the_reason(visit):
    page = visit()
    plot = page.locator("#failures-figure .plot")
    plot.scroll_into_view_if_needed()
    place = page.evaluate(
        """() => {
          const plot = document.querySelector('#failures-figure .plot');
          const {xaxis, yaxis} = plot._fullLayout, box = plot.getBoundingClientRect();
          const row = yaxis.ticktext.indexOf('card-2');
          const column = xaxis.ticktext.indexOf('clarabel lmi');
          const x = xaxis._offset + xaxis.d2p(column), y = yaxis._offset + yaxis.d2p(row);
          return [box.x + x, box.y + y];
        }"""
    )
    page.mouse.move(*place)
    page.wait_for_selector("#failures-figure .hovertext")
    told = page.text_content("#failures-figure .hovertext")
    for part in ("card-2", "clarabel lmi", "crashed", "<script>window.stolen = 1</script>"):
        assert part.replace(" ", "") in told.replace(" ", "")


def test_foreign_words_do_nothing(visit):
    page = visit()
    assert page.evaluate("window.stolen") is None
    assert page.locator("img").count() == 0
    assert page.locator("a[href^=http]").count() == 0
    assert HOSTILE[:40] in page.inner_text("#reasons")
    page.evaluate(
        """() => {
          const script = document.createElement('script');
          script.textContent = 'window.stolen = 1';
          document.body.append(script);
          const image = document.createElement('div');
          image.innerHTML = '<img src="x:" onerror="window.stolen = 1">';
          document.body.append(image);
        }"""
    )
    page.wait_for_timeout(100)
    assert page.evaluate("window.stolen") is None
    assert any("Content Security Policy" in text for text in page.trouble)


def test_figures_offer_nothing_that_sends_data(visit):
    page = visit()
    titles = page.eval_on_selector_all(
        ".modebar-btn", "buttons => buttons.map(button => button.dataset.title)"
    )
    assert titles
    assert not [title for title in titles if "hare" in title or "loud" in title or "dit" in title]


def test_dark_pages_have_light_ink(visit):
    def brightness(page, script):
        red, green, blue = page.evaluate(f"{script}.match(/\\d+/g).slice(0, 3).map(Number)")
        return red + green + blue

    ink = "getComputedStyle(document.querySelector('#profile-figure .xtick text')).fill"
    paper = "getComputedStyle(document.body).backgroundColor"
    light, dark = visit(color_scheme="light"), visit(color_scheme="dark")
    assert brightness(light, ink) < brightness(light, paper)
    assert brightness(dark, ink) > brightness(dark, paper)


@pytest.mark.parametrize("name", ["study", "comparison", "twenty-five"])
def test_narrow_screens_scroll_tables_not_the_page(visit, name):
    page = visit(name, viewport={"width": 390, "height": 844}, is_mobile=True, has_touch=True)
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    assert page.evaluate("[...document.querySelectorAll('.plot')].every(p => p.offsetWidth > 250)")
    # A finger scrolls the page over a figure.
    modes = page.evaluate(
        "[...document.querySelectorAll('.plot')].map(p => p._fullLayout.dragmode)"
    )
    assert not any(modes)


def test_headings_stay_in_view(visit):
    page = visit()
    place = """() => {
      const box = document.querySelector('#runs-table').closest('.wide');
      box.scrollTop = 500; box.scrollLeft = 200;
      const own = box.getBoundingClientRect();
      const top = box.querySelector('thead th').getBoundingClientRect();
      const first = box.querySelector('tbody tr:nth-child(20) th').getBoundingClientRect();
      return [top.top - own.top, first.left - own.left];
    }"""
    assert page.evaluate(place) == pytest.approx([1, 1], abs=1.5)


def test_it_prints_on_paper(visit):
    page = visit()
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    widths = page.evaluate("[...document.querySelectorAll('.plot')].map(p => p._fullLayout.width)")
    assert set(widths) == {660}
    assert not page.is_visible("#runs-table")
    assert page.is_visible("#ranking-table")
    assert page.pdf()[:5] == b"%PDF-"
