"""A picture of an embedding as a page whose points tell what they are under the pointer."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np
from matplotlib.colors import to_hex
from numpy.typing import ArrayLike

from sdpdr.base.errors import ShapeError
from sdpdr.lab.plot.points import pixels_of, plane_of, round_length, size_of
from sdpdr.lab.plot.style import SEQUENCE, colour_points, printable

# Pixels to an inch, around the points, below them for the scale, and of the narrowest page.
_PIXELS, _MARGIN, _BELOW, _NARROWEST = 110.0, 24.0, 20.0, 200.0


def hoverable(
    Y: ArrayLike,
    colour: ArrayLike | None = None,
    *,
    told: Mapping[str, ArrayLike] | None = None,
    title: str = "",
) -> str:
    """Draw an embedding as a page of HTML that needs no other file and no network.

    Parameters
    ----------
    Y : array_like of shape (n, d)
        The first two columns are drawn, with one unit the same length along both.
    colour : array_like of shape (n,), optional
        As for `embedding`.
    told : mapping from name to array_like of shape (n,), optional
        What a point tells under the pointer, a line for each; by default its number, from 0 on.
    title : str, optional

    Returns
    -------
    str

    Raises
    ------
    DataError, ShapeError
        The arrays do not fit together.

    Examples
    --------
    >>> page = hoverable([[0.0, 0.0], [1.0, 0.5]], told={"name": ["Ann", "<Bob>"]})
    >>> page.count("<circle"), "name: Ann" in page, "name: &lt;Bob&gt;" in page
    (2, True, True)
    """
    plane = plane_of(Y)
    n = len(plane)
    columns = {"point": np.arange(n)} if told is None else told
    for name, column in columns.items():
        if len(np.asarray(column)) != n:
            raise ShapeError(f"{n} points, but {name!r} has {len(np.asarray(column))} entries.")
    entries = zip(*(np.asarray(column).tolist() for column in columns.values()), strict=True)
    words = ["\n".join(map("{}: {}".format, columns, row)) for row in entries]
    colouring = colour_points(colour, n)
    across = _PIXELS * size_of(plane)[0]
    at, (width, height), unit = pixels_of(plane, (across, 1.3 * across), _MARGIN)
    height += _BELOW
    points = [
        {"x": f"{x:.1f}", "y": f"{y:.1f}", "colour": to_hex(of), "told": what}
        for (x, y), of, what in zip(at.tolist(), colouring.colours, words, strict=True)
    ]
    length = round_length(0.2 * float(np.ptp(plane[:, 0]))) if np.ptp(plane[:, 0]) > 0.0 else 0.0
    ends = None if colouring.scale is None else [f"{x:.4g}" for x in colouring.scale.get_clim()]
    page = _template().render(
        title=title,
        width=round(max(width, _NARROWEST)),
        height=round(height),
        points=points,
        radius=f"{float(np.clip(110.0 / np.sqrt(n), 2.0, 6.0)):.1f}",
        bar={"x": _MARGIN, "y": height - 12.0, "length": length / unit, "words": f"{length:g}"},
        names=colouring.key,
        ends=ends,
        ramp=[to_hex(SEQUENCE(share)) for share in np.linspace(0.0, 1.0, 9)],
    )
    return printable(str(page))


@cache
def _template() -> Any:
    from jinja2 import Environment

    text = files(__package__).joinpath("hover.html").read_text(encoding="utf-8")
    return Environment(autoescape=True).from_string(text)
