"""Small files for small pictures: a page of the gallery shows all of its thumbnails at once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from PIL import Image

COLOURS = 128


def shrink(folder: Path) -> None:
    """Give the thumbnails beneath a folder a palette; those that have one stay as they are."""
    for path in sorted(folder.glob("*_output/**/thumb/*.png")):
        with Image.open(path) as picture:
            if picture.mode != "P":
                picture.convert("RGBA").quantize(COLOURS).save(path, optimize=True)


def _shrink(app: Any) -> None:
    shrink(Path(app.srcdir))


def setup(app: Any) -> dict[str, bool]:
    """Run after sphinx-gallery, whose priority is the usual 500."""
    app.connect("builder-inited", _shrink, priority=600)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
