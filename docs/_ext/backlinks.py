"""Links from source to documentation, where one module serves several public rooms.

Sphinx takes all names of a module to be of the room that it came upon first: `GraphProjection` of
``sdpdr.estimators`` is linked as ``sdpdr.GraphProjection``, since `LDA` lies beside it. The page
that a link leads to knows the name. Pages of the guide show docstrings that have no anchor there.
"""

from __future__ import annotations

import re
from typing import Any

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
    """

    def right(found: re.Match[str]) -> str:
        name = found["name"].rpartition(".")[2]
        if f"{found['anchor']}.".startswith(f"{found['name']}."):
            return found[0]
        member = re.search(rf"\.{name}((?:\.\w+)?)$", found["anchor"])
        anchor = found["name"] + member[1] if member else found["anchor"]
        return f"{found['page']}#{anchor}"

    return _SHOWN.sub(r"\g<page>", _LINK.sub(right, body))


def _mend(app: Any, page: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    if page.startswith("_modules/") and "body" in context:
        context["body"] = mended(context["body"])


def setup(app: Any) -> dict[str, Any]:
    """Mend pages of source before they are written."""
    app.connect("html-page-context", _mend)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
