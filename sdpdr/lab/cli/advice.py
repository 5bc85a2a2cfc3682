"""Messages of the package, with keywords written as options of the command line.

The package writes ``n_neighbors=7`` where the command line has ``--n-neighbors 7``. Other advice is
written for both by `sdpdr.base.advice.either`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

_VALUE = r"""(?:'(?P<text>[^']*)'|"(?P<word>[^"]*)"|(?P<number>[-\w:+]+(?:\.\d[-\w+]*)?))"""


def in_options(options: Mapping[str, str]) -> Callable[[object], str]:
    """Return a function that writes keywords in messages as options.

    Parameters
    ----------
    options : mapping
        From a keyword to the text before its value.

    Examples
    --------
    >>> translate = in_options({"connect": "--connect ", "isometry": "--isometry ",
    ...                         "ridge": "--set ridge="})
    >>> translate("Take more neighbours, or connect='mst' or isometry='band:0.05'.")
    'Take more neighbours, or --connect mst or --isometry band:0.05.'
    >>> translate("Pass ridge=1e-3, or another `connect`.")
    'Pass --set ridge=1e-3, or another --connect.'
    """
    names = "|".join(sorted(options, key=len, reverse=True))
    keyword = re.compile(rf"(?<!--set )(?<![-.\w])(?P<name>{names})={_VALUE}")

    named = re.compile(rf"`({names})`")

    def translate(message: object) -> str:
        text = named.sub(lambda found: options[found[1]].rstrip(" ="), str(message))
        return keyword.sub(
            lambda found: (
                f"{options[found['name']]}{found['text'] or found['word'] or found['number']}"
            ),
            text,
        )

    return translate if options else str
