"""Links from source to documentation, where one module serves several public rooms.

Sphinx takes all names of a module to be of the room that it came upon first: `GraphProjection` of
``sdpdr.estimators`` is linked as ``sdpdr.GraphProjection``, since `LDA` lies beside it. The page
that a link leads to knows the name: its own, or that of a class that the function of the page
returns. Pages of the guide show docstrings that have no anchor there.
"""

from __future__ import annotations

import re
from typing import Any

from returned import places, public_name

_LINK = re.compile(
    r'(?P<page>[^"/]*/generated/(?P<name>[\w.]+)(?:-class)?\.html)#(?P<anchor>[\w.]+)'
)
_SHOWN = re.compile(r"(?P<page>/guide/\w+\.html)#sdpdr\.[\w.]+")


def mended(body: str) -> str:
    """A page of source whose links lead to what stands on the page of the reference.

    Examples
    --------
    >>> mended('href="../api/generated/sdpdr.estimators.Base.html#sdpdr.Base.fit"')
    'href="../api/generated/sdpdr.estimators.Base.html#sdpdr.estimators.Base.fit"'
    >>> mended('href="../api/generated/sdpdr.Plan-class.html#sdpdr.Plan"')
    'href="../api/generated/sdpdr.Plan-class.html#sdpdr.Plan"'
    >>> mended('href="../guide/inside.html#sdpdr.program.sdp.SDP"')
    'href="../guide/inside.html"'
    >>> mended('href="../api/generated/sdpdr.quality.html#sdpdr.quality.Quality.facts"')
    'href="../api/generated/sdpdr.quality.html#sdpdr.Quality.facts"'
    """

    def right(found: re.Match[str]) -> str:
        room, _, name = found["name"].rpartition(".")
        kinds = places().get(found["name"], ())
        classes = {kind.__name__: public_name(kind, room) for kind in kinds}
        for last, full in {**classes, name: found["name"]}.items():
            member = re.fullmatch(rf".*\.{last}((?:\.\w+)?)", found["anchor"])
            if member:
                return f"{found['page']}#{full}{member[1]}"
        return found[0]

    return _SHOWN.sub(r"\g<page>", _LINK.sub(right, body))


def _mend(app: Any, page: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    if page.startswith("_modules/") and "body" in context:
        context["body"] = mended(context["body"])


def setup(app: Any) -> dict[str, Any]:
    """Mend pages of source before they are written."""
    app.connect("html-page-context", _mend)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
