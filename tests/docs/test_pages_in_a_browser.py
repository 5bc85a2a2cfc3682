"""Pages in a real browser: they move by keyboard, fit a telephone, and can be read by everyone.

Two pages are built here, without the rest of the documentation; ``SDPDR_PAGES`` names a folder of
pages that were built before, all of which are looked at (``make pages``). Needs `playwright` and a
Chromium, found on the path or named by ``SDPDR_BROWSER``; accessibility is checked by axe-core,
whose script ``SDPDR_AXE`` names.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote, urlparse

import pytest

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
pytest.importorskip("pydata_sphinx_theme", reason="the documentation's packages are not installed")

DOCS = Path(__file__).parents[2] / "docs"
BROWSER = os.environ.get("SDPDR_BROWSER") or next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
AXE = os.environ.get("SDPDR_AXE")
pytestmark = [
    pytest.mark.nightly,
    pytest.mark.skipif(BROWSER is None, reason="no Chromium found; set SDPDR_BROWSER"),
]

HEAVIEST = 2_000_000
ELSEWHERE = (
    "_build", "gallery", "tables", "api", "guide", "howto", "methods", "problems", "studies",
    "gallery_output", "course", "start", "dev", "evidence", "examples.rst", "references.rst",
    "concepts.rst", "changelog.md", "contributing.md",
)  # fmt: skip
SETTLED = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
# The theme's button for searching says more than its name does.
NOT_OURS = [[".search-button__button"]]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    built = os.environ.get("SDPDR_PAGES")
    if built:
        return Path(built).resolve()
    out = tmp_path_factory.mktemp("site")
    settings = {
        "extensions": "mathml,moving,sphinx_design",
        "exclude_patterns": ",".join(ELSEWHERE),
    }
    words = [word for name, value in settings.items() for word in ("-D", f"{name}={value}")]
    command = [sys.executable, "-m", "sphinx", "-Q", "-b", "html", *words, str(DOCS), str(out)]
    subprocess.run(command, check=True)
    return out


def pages(site):
    """All pages but for the listings of sources, which are one page with many texts."""
    made = {"_modules", "_static"}
    return [path for path in sorted(site.rglob("*.html")) if not made & set(path.parts)]


@pytest.fixture(scope="module")
def browser():
    with sync_api.sync_playwright() as playwright:
        # A sandbox inside a container that runs as root cannot be had.
        started = playwright.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        yield started
        started.close()


@pytest.fixture
def visit(browser, site):
    """Open a page without the network."""
    contexts = []

    def open_page(page="moving.html", **options):
        calm = {"viewport": {"width": 1200, "height": 900}, "reduced_motion": "reduce"}
        context = browser.new_context(offline=True, **(calm | options))
        contexts.append(context)
        opened = context.new_page()
        opened.goto((site / page).as_uri())
        return opened

    yield open_page
    for context in contexts:
        context.close()


def figure(page, title):
    return page.locator("figure.moving", has=page.get_by_text(title, exact=False)).first


def status(part):
    return part.locator("[role=status]").inner_text()


EVERY_PICTURE = """Promise.all([...document.images].map(image => {
    image.loading = "eager";
    return image.decode().catch(() => console.error(`no picture ${image.src}`));
}))"""


@pytest.fixture(scope="module")
def seen(browser, site):
    """What one visit finds on each page: errors, requests elsewhere, bytes, width, complaints."""
    context = browser.new_context(offline=True, reduced_motion="reduce")
    if AXE:
        context.add_init_script(path=AXE)
    page = context.new_page()
    said, asked_for = [], []
    page.on("console", lambda words: words.type == "error" and said.append(words.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("request", lambda request: asked_for.append(request.url))
    found = {}
    for path in pages(site):
        said.clear()
        asked_for.clear()
        page.set_viewport_size({"width": 400, "height": 800})
        page.emulate_media(color_scheme="light")
        page.goto(path.as_uri())
        page.evaluate(SETTLED)
        width = page.evaluate("document.documentElement.scrollWidth")
        page.evaluate(EVERY_PICTURE)
        page.set_viewport_size({"width": 1200, "height": 900})
        files = {Path(unquote(urlparse(url).path)) for url in asked_for if url[:5] == "file:"}
        found[path.relative_to(site).as_posix()] = {
            "errors": list(said),
            "elsewhere": [u for u in asked_for if not u.startswith(("file:", "data:", "blob:"))],
            "bytes": sum(file.stat().st_size for file in files if file.is_file()),
            "width": width,
            **{scheme: complaints(page, scheme) for scheme in ("light", "dark")},
        }
    context.close()
    return found


# What the checker holds to be grave; its answers are long, so that they are read in the page.
GRAVE = """async exclude => {
    const found = await axe.run({exclude}, {preload: false, resultTypes: ["violations"]});
    if (!found.passes.length) throw Error("nothing was checked");
    return found.violations.filter(one => ["serious", "critical"].includes(one.impact))
        .map(one => `${one.id}, ${one.nodes.length} times: ${one.nodes[0].html}`);
}"""


def complaints(page, scheme):
    """What the accessibility checker has to say in one of the colour schemes."""
    if AXE is None:
        return []
    page.emulate_media(color_scheme=scheme)
    page.evaluate("document.querySelectorAll('details').forEach(part => part.open = true)")
    page.evaluate(SETTLED)
    return page.evaluate(GRAVE, NOT_OURS)


def test_no_script_fails_and_nothing_is_fetched(seen):
    assert {name: page["errors"] for name, page in seen.items() if page["errors"]} == {}
    assert {name: page["elsewhere"] for name, page in seen.items() if page["elsewhere"]} == {}


def test_no_page_is_heavy_with_all_its_pictures(seen):
    assert {name: page["bytes"] for name, page in seen.items() if page["bytes"] >= HEAVIEST} == {}


def test_the_links_above_stay_in_one_line(visit):
    page = visit("index.html")
    heights = {}
    for width in (960, 1000, 1040, 1100, 1200, 1600):
        page.set_viewport_size({"width": width, "height": 700})
        page.evaluate(SETTLED)
        heights[width] = page.locator(".bd-header__inner").bounding_box()["height"]
    assert len(set(heights.values())) == 1, heights


def test_no_page_scrolls_sideways_on_a_telephone(seen):
    assert {name: page["width"] for name, page in seen.items() if page["width"] > 400} == {}


@pytest.mark.skipif(AXE is None, reason="SDPDR_AXE does not name axe.min.js of axe-core")
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_an_accessibility_checker_has_no_serious_complaint(seen, scheme):
    assert {name: page[scheme] for name, page in seen.items() if page[scheme]} == {}


@pytest.mark.parametrize("title", ["Swiss roll of 252", "How many neighbours", "One unfolding of"])
def test_arrow_keys_move_a_slider_and_the_picture(visit, title):
    part = figure(visit(), title)
    slider, picture = part.get_by_role("slider"), part.locator(".moving-picture")
    slider.focus()
    slider.press("Home")
    first = slider.get_attribute("aria-valuetext"), status(part), picture.inner_html()
    slider.press("End")
    last = slider.get_attribute("aria-valuetext"), status(part), picture.inner_html()
    assert all(one != other for one, other in zip(first, last, strict=True))
    slider.press("ArrowLeft")
    assert status(part) != last[1]
    assert part.locator("[role=status]").get_attribute("aria-live") == "polite"


def test_nothing_moves_by_itself_for_readers_who_want_no_motion(visit):
    calm, lively = (
        figure(visit("index.html", reduced_motion=motion), "Swiss roll of 252")
        for motion in ("reduce", "no-preference")
    )
    assert calm.get_by_role("button").inner_text() == "Play"
    assert lively.get_by_role("button").inner_text() == "Pause"


def test_pages_say_the_same_without_scripts(visit):
    page = visit(java_script_enabled=False)
    part = figure(page, "Swiss roll of 252")
    assert part.locator("svg[role=img] circle").count() == 252
    assert part.locator("svg").get_attribute("aria-label")
    assert page.locator("figure.moving figcaption").count() == page.locator("figure.moving").count()
