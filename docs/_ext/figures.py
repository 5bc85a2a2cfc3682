"""A scraper for sphinx-gallery that keeps the figures of `sdpdr.plot`, which pyplot never sees."""

from __future__ import annotations

from typing import Any

from matplotlib.figure import Figure
from sphinx_gallery.scrapers import figure_rst

DPI = 120


class FigureScraper:
    """Saves every figure that a block has left in a variable, once."""

    def __init__(self) -> None:
        self._kept: list[Figure] = []

    def __repr__(self) -> str:
        # The configuration is compared between builds; an address would change every time.
        return "FigureScraper()"

    def __call__(self, block: Any, block_vars: dict[str, Any], gallery_conf: Any) -> str:
        """Save the new figures and return the text that shows them."""
        paths = []
        for value in block_vars["example_globals"].values():
            if not isinstance(value, Figure) or hasattr(value, "number") or value in self._kept:
                continue
            self._kept.append(value)
            paths.append(next(block_vars["image_path_iterator"]))
            value.savefig(paths[-1], dpi=DPI)
        return figure_rst(paths, gallery_conf["src_dir"])
