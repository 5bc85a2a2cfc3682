"""The list of references, without a role that its entries do not fit.

Sphinx calls it a list, and its entries are no items of a list but entries of a bibliography.
"""

from __future__ import annotations

from typing import Any

_LIST = '<div role="list" class="citation-list">'


def _mend(app: Any, page: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    if "body" in context:
        context["body"] = context["body"].replace(_LIST, "<div>")


def setup(app: Any) -> dict[str, bool]:
    """Mend pages before they are written."""
    app.connect("html-page-context", _mend)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
