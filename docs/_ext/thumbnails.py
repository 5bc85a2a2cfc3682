"""Small pictures that lead to pages of the gallery: light files, a dark twin, and words.

sphinx-gallery makes one thumbnail of each page, for light paper and without words. It gets a twin
of the picture for dark pages, and the words of the picture that it shows.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from docutils import nodes
from PIL import Image
from sphinx.errors import ExtensionError
from sphinx_gallery.utils import scale_image

COLOURS = 128
_NAME = re.compile(r"sphx_glr_(?P<page>\w+)_thumb\.png$")


def darken(folder: Path) -> None:
    """Make a twin of every thumbnail beneath a folder whose page has a picture for dark pages."""
    for thumb in sorted(folder.glob("*_output/**/thumb/*_thumb.png")):
        picture = thumb.parents[1] / thumb.name.replace("_thumb.png", "_001_dark.png")
        if picture.is_file():
            with Image.open(thumb) as light:
                scale_image(picture, _twin(thumb), *light.size)


def shrink(folder: Path) -> None:
    """Give the thumbnails beneath a folder a palette; those that have one stay as they are."""
    for path in sorted(folder.glob("*_output/**/thumb/*.png")):
        with Image.open(path) as picture:
            if picture.mode != "P":
                picture.convert("RGBA").quantize(COLOURS).save(path, optimize=True)


def words_of(thumb: Path) -> str:
    """The words of the first picture of the page that a thumbnail leads to.

    Raises
    ------
    ExtensionError
        The page has no picture with words, so that the thumbnail would be a placeholder.
    """
    page = thumb.parents[2] / f"{_NAME.search(thumb.name)['page']}.rst"
    found = re.search(r"^ +:alt: (.+)$", page.read_text(encoding="utf-8"), re.M)
    if found is None:
        raise ExtensionError(
            f"{page.name} holds no picture with words for its thumbnail: keep a figure of the page "
            "in a variable, a list, a tuple or a dictionary when its block of code ends."
        )
    return found[1]


def _twin(thumb: Path) -> Path:
    return thumb.with_name(thumb.name.replace("_thumb.png", "_thumb_dark.png"))


def _prepare(app: Any) -> None:
    darken(Path(app.srcdir))
    shrink(Path(app.srcdir))


def _complete(app: Any, doctree: nodes.document) -> None:
    for light in list(doctree.findall(nodes.image)):
        if _NAME.search(light["uri"]):
            thumb = Path(app.srcdir, light["uri"].lstrip("/"))
            light["alt"] = words_of(thumb)
            if _twin(thumb).is_file():
                dark = light.deepcopy()
                dark["uri"] = str(Path(light["uri"]).with_name(_twin(thumb).name))
                for image, only in ((light, "only-light"), (dark, "only-dark")):
                    image["classes"].append(only)
                light.parent.insert(light.parent.index(light) + 1, dark)


def setup(app: Any) -> dict[str, bool]:
    """Run after sphinx-gallery, and before pictures are collected; the usual priority is 500."""
    app.connect("builder-inited", _prepare, priority=600)
    app.connect("doctree-read", _complete, priority=400)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
