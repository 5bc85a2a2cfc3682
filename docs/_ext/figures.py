"""A scraper for sphinx-gallery: every figure twice, for light and for dark pages.

It also finds the figures of `sdpdr.plot`, which pyplot never sees.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib import pyplot
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PathCollection
from matplotlib.colors import to_rgba_array
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from matplotlib.lines import Line2D
from sphinx.errors import ExtensionError

DPI = 120
SAVED = "saved"
# What matplotlib calls the axes of a colour bar.
COLOUR_BAR = "<colorbar>"
# Ink and faint ink are slightly blue.
COLOURLESS = 0.11
PROPERTIES = ("color", "facecolor", "edgecolor", "markerfacecolor", "markeredgecolor")
IMAGE = """
.. image:: /{path}
   :alt: {alt}
   :class: sphx-glr-single-img {only}
"""


class FigureScraper:
    """Saves every figure that a block has drawn, once: variables and what lies within them.

    It keeps none of them: what the configuration holds is written beside every page.
    """

    def __repr__(self) -> str:
        # The configuration is compared between builds; an address would change every time.
        return "FigureScraper()"

    def __call__(self, block: Any, block_vars: dict[str, Any], gallery_conf: Any) -> str:
        """Save the new figures and return the text that shows them."""
        drawn = [
            *_figures(block_vars["example_globals"].values()),
            *(pyplot.figure(number) for number in pyplot.get_fignums()),
        ]
        text = ""
        for figure in drawn:
            if figure.get_gid() == SAVED:
                continue
            figure.set_gid(SAVED)
            light = Path(next(block_vars["image_path_iterator"]))
            dark = light.with_name(f"{light.stem}_dark.png")
            figure.savefig(light, dpi=DPI)
            darken(figure)
            figure.savefig(dark, dpi=DPI, transparent=True)
            alt = described(figure, block_vars["src_file"])
            for path, only in ((light, "only-light"), (dark, "only-dark")):
                place = path.relative_to(gallery_conf["src_dir"]).as_posix()
                text += IMAGE.format(path=place, alt=alt, only=only)
        pyplot.close("all")
        return text


def _figures(values: Iterable[Any]) -> Iterator[Figure]:
    """The figures among values, and within lists, tuples and mappings of them."""
    waiting, seen = [*values][::-1], set()
    while waiting:
        value = waiting.pop()
        if isinstance(value, Figure):
            yield value
        # A list may hold itself.
        elif isinstance(value, list | tuple | dict) and id(value) not in seen:
            seen.add(id(value))
            waiting += [*(value.values() if isinstance(value, dict) else value)][::-1]


def darken(figure: Figure) -> None:
    """Turn ink to chalk: whatever has no colour becomes as light as it was dark."""
    for artist in figure.findobj():
        if getattr(artist, "get_array", lambda: None)() is None:
            for name, colours in _colours(artist):
                grey = np.ptp(colours[:, :3], axis=1) < COLOURLESS
                if grey.any():
                    colours[grey, :3] = 1.0 - colours[grey, :3]
                    getattr(artist, f"set_{name}")(colours if len(colours) > 1 else colours[0])


def described(figure: Figure, page: str = "a page") -> str:
    """What a figure shows, for those who do not see it: its title, then each of its panels.

    Raises
    ------
    ExtensionError
        Neither the figure nor a panel has a title, and no panel names both of its axes.
    """
    told = [_told(axes) for axes in figure.axes]
    if not (figure.get_suptitle() or any(enough for _, enough in told)):
        left = "; ".join(words for words, _ in told if words) or "nothing"
        raise ExtensionError(
            f"{page}: a figure says no more of itself than {left!r}. Those who do not see it need "
            "words: give it a suptitle, or a panel of it a title or labels of both axes."
        )
    panels = Counter(words for words, _ in told if words)
    words = [figure.get_suptitle(), *(_times(many, one) for one, many in panels.items())]
    return "; ".join(" ".join(part.split()) for part in words if part)


def _told(axes: Axes) -> tuple[str, bool]:
    """Words for a panel, and whether they say what it shows: title, else labels, else marks."""
    titles = [axes.get_title(place) for place in ("left", "center", "right")]
    labels = [label for label in (axes.get_ylabel(), axes.get_xlabel()) if label]
    if any(titles):
        return " ".join(filter(None, titles)), True
    if axes.get_label() == COLOUR_BAR:
        return " ".join(["colours", *labels] if labels else []), False
    return " by ".join(labels) or _marks(axes), len(labels) == 2


def _marks(axes: Axes) -> str:
    """The kinds of marks within a panel."""
    kinds = {"points": PathCollection, "lines": (LineCollection, Line2D), "images": AxesImage}
    seen = [*axes.collections, *axes.lines, *axes.images]
    words = [word for word, kind in kinds.items() if any(isinstance(a, kind) for a in seen)]
    return " and ".join(words)


def _times(many: int, words: str) -> str:
    if many == 1:
        return words
    return f"{many} images" if words == "images" else f"{many} panels of {words}"


def _colours(artist: Artist) -> Iterator[tuple[str, np.ndarray]]:
    for name in PROPERTIES:
        # A patch has a setter for both of its colours at once, and no getter.
        if hasattr(artist, f"get_{name}") and hasattr(artist, f"set_{name}"):
            colours = to_rgba_array(getattr(artist, f"get_{name}")())
            if len(colours):
                yield name, colours
