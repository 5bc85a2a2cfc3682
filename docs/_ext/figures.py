"""A scraper for sphinx-gallery: every figure twice, for light and for dark pages.

It also finds the figures of `sdpdr.plot`, which pyplot never sees.
"""

from __future__ import annotations

from collections.abc import Iterator
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

DPI = 120
SAVED = "saved"
# Ink and faint ink are slightly blue.
COLOURLESS = 0.11
PROPERTIES = ("color", "facecolor", "edgecolor", "markerfacecolor", "markeredgecolor")
IMAGE = """
.. image:: /{path}
   :alt: {alt}
   :class: sphx-glr-single-img {only}
"""


class FigureScraper:
    """Saves every figure that a block has drawn, once.

    It keeps none of them: what the configuration holds is written beside every page.
    """

    def __repr__(self) -> str:
        # The configuration is compared between builds; an address would change every time.
        return "FigureScraper()"

    def __call__(self, block: Any, block_vars: dict[str, Any], gallery_conf: Any) -> str:
        """Save the new figures and return the text that shows them."""
        drawn = [
            value for value in block_vars["example_globals"].values() if isinstance(value, Figure)
        ]
        drawn += [pyplot.figure(number) for number in pyplot.get_fignums()]
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
            alt = described(figure)
            for path, only in ((light, "only-light"), (dark, "only-dark")):
                place = path.relative_to(gallery_conf["src_dir"]).as_posix()
                text += IMAGE.format(path=place, alt=alt, only=only)
        pyplot.close("all")
        return text


def darken(figure: Figure) -> None:
    """Turn ink to chalk: whatever has no colour becomes as light as it was dark."""
    for artist in figure.findobj():
        if getattr(artist, "get_array", lambda: None)() is None:
            for name, colours in _colours(artist):
                grey = np.ptp(colours[:, :3], axis=1) < COLOURLESS
                if grey.any():
                    colours[grey, :3] = 1.0 - colours[grey, :3]
                    getattr(artist, f"set_{name}")(colours if len(colours) > 1 else colours[0])


def described(figure: Figure) -> str:
    """The titles of the panels, or what they draw, for those who do not see them."""
    titles = [axes.get_title(loc) for axes in figure.axes for loc in ("left", "center")]
    if not any(titles):
        titles = [_drawn(axes) for axes in figure.axes]
    return "; ".join(" ".join(title.split()) for title in titles if title)


def _drawn(axes: Axes) -> str:
    """What a panel without a title draws: by its labels, else by its kinds of marks."""
    labels = [label for label in (axes.get_ylabel(), axes.get_xlabel()) if label]
    if labels:
        return " by ".join(labels)
    kinds = {"points": PathCollection, "lines": (LineCollection, Line2D), "images": AxesImage}
    marks = [axes.collections, axes.lines, axes.images]
    seen = [artist for artists in marks for artist in artists]
    words = [word for word, kind in kinds.items() if any(isinstance(a, kind) for a in seen)]
    return " and ".join(words)


def _colours(artist: Artist) -> Iterator[tuple[str, np.ndarray]]:
    for name in PROPERTIES:
        # A patch has a setter for both of its colours at once, and no getter.
        if hasattr(artist, f"get_{name}") and hasattr(artist, f"set_{name}"):
            colours = to_rgba_array(getattr(artist, f"get_{name}")())
            if len(colours):
                yield name, colours
