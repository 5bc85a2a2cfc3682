"""What to say of text that is no table of numbers because others separate it by other marks."""

from __future__ import annotations

from contextlib import suppress

_OTHERS = (";", "\t", "|", ",", " ")
# Those that stand in words of people too, so that one number beside them says nothing.
_IN_WORDS = (",", " ")


def hint(text: str, expected: str | None) -> str:
    r"""What a cell or line says about its separators and decimal marks, and what to do.

    Parameters
    ----------
    text : str
        A cell that is not a number, or a line that has the wrong number of cells.
    expected : str or None
        The separator that the file should have; None where it has none.

    Returns
    -------
    str
        A sentence with a blank before it; empty if there is nothing to say.

    Examples
    --------
    >>> hint("1,5;2,25", ",").partition(".")[0]
    " It seems to be separated by ';' and to have decimal commas"
    >>> hint("1,5", "\t").partition(".")[0], hint("green", ",")
    (' It seems to have decimal commas', '')
    """
    if expected is None:
        return ""
    if _is_decimal_comma(text) and expected != ",":
        return " It seems to have decimal commas. Write them as points."
    for other in _OTHERS:
        parts = [part.strip() for part in text.split(other)]
        enough = all if other in _IN_WORDS else any
        if other != expected and len(parts) > 1 and enough(map(_is_number, parts)):
            commas = other != "," and any(map(_is_decimal_comma, parts))
            words = " and to have decimal commas" if commas else ""
            option = ", decimal=','" if commas else ""
            separator = r"\s+" if other == " " else other
            return (
                f" It seems to be separated by {other!r}{words}. Write it anew: "
                f"pandas.read_csv(FILE, sep={separator!r}{option}).to_csv(NEW, index=False)."
            )
    return ""


def _is_decimal_comma(text: str) -> bool:
    return text.count(",") == 1 and _is_number(text)


def _is_number(text: str) -> bool:
    with suppress(ValueError):
        float(text.replace(",", ".", 1))
        return True
    return False
