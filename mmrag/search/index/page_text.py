"""From a page's HTML to the text that is searched. Pages are written by strangers: all is bounded.

trafilatura finds the main text and leaves out navigation, footers and cookie notices. Where it
finds nothing (a fragment, a page of tables, broken markup) the visible text is taken as it is: a
page is never lost because it is ugly.
"""

from __future__ import annotations

import codecs
import re
import unicodedata
from functools import cache
from html import unescape
from typing import Any

from mmrag.records import Record

MAX_HTML = 4 << 20
"""Characters of HTML that are looked at; the rest of a longer page is cut off."""

MAX_TEXT = 400_000
"""Characters of text that are kept of a page."""

MAX_DEPTH = 250
"""Open elements beyond which markup is not parsed but stripped: parsers recurse."""

MAX_TAGS = 100_000
"""Tags beyond which markup is stripped too: trafilatura takes twenty seconds for a million."""

_TAG = re.compile(r"<(/?)([a-zA-Z][\w:-]*+)([^<>]*+)>")  # gives nothing back, so it is linear
_VOID = frozenset("area base br col embed hr img input link meta source track wbr".split())  # noqa: SIM905
_HIDDEN = re.compile(
    r"(?is)<(script|style|template|noscript|head)\b.*?(?:</\1\s*>|\Z)|<!--.*?(?:-->|\Z)"
)
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)  # fmt: skip
_DECLARED = re.compile(
    rb"(?i)<(?:meta\b[^<>]{0,300}?charset|\?xml\b[^<>]{0,100}?encoding)\s*=\s*[\"']?\s*"
    rb"(windows-125[0-8]|iso-8859-(?:[1-9]|1[0134-6])|koi8-[ru]|shift_jis|euc-jp|euc-kr|"
    rb"gb2312|gbk|gb18030|big5)\b"
)
"""What pages declare, all but Unicode: Python also knows codecs that no page is written in."""
_READ_AS = {"iso-8859-1": "cp1252", "gb2312": "gbk"}  # as browsers do
_SPACES = re.compile(r"[^\S\n]+")


class Page(Record, frozen=True, kw_only=True):
    """A page as it is indexed."""

    url: str
    title: str = ""
    text: str = ""
    date: str | None = None
    snippet: str = ""
    """What the public package calls `page_snippet`."""


def page_text(html: str | bytes) -> str:
    """The readable text of a page, one block a line.

    >>> page_text("<p>Boils <b>1 l</b> in 90 s.</p><script>steal()</script>")
    'Boils 1 l in 90 s.'
    """
    text = decoded(html) if isinstance(html, bytes) else html
    text = text[:MAX_HTML].replace("\0", " ")
    if "<" not in text:
        return tidy(unescape(text))
    if text.count("<") > MAX_TAGS or _depth(text) > MAX_DEPTH:
        return tidy(strip_tags(text))
    return tidy(_main_text(text) or strip_tags(text))


def decoded(data: bytes) -> str:
    """A file's characters: by its byte order mark, what it declares, UTF-8, or Windows' own.

    One broken character does not turn a page of UTF-8 into another encoding: the more of what is
    not ASCII reads as UTF-8, the more it is UTF-8.

    >>> decoded("Müller".encode("utf-16")), decoded("Müller".encode("cp1252"))
    ('Müller', 'Müller')
    """
    data = data[: MAX_HTML * 4]
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return data[len(mark) :].decode(encoding, "replace")
    if declared := _DECLARED.search(data[:4096]):
        name = declared.group(1).decode().lower()
        return data.decode(_READ_AS.get(name, name), "replace")
    text = data.decode("utf-8", "replace")
    broken = text.count("\ufffd")
    whole = len(text) - len(text.encode("ascii", "ignore")) - broken
    return text if whole >= broken else data.decode("cp1252", "replace")


def strip_tags(html: str) -> str:
    """All visible text without markup; linear in the length of its input.

    >>> strip_tags("below <b>3</b> bar, if x < 3 or y > 4")
    'below  3  bar, if x < 3 or y > 4'
    """
    shown = _HIDDEN.sub(" ", html)
    shown = re.sub(
        r"(?i)<(?:/?(?:p|div|li|tr|h[1-6]|table|ul|ol|section|article)\b[^<>]*|br\s*/?)>",
        "\n",
        shown,
    )
    return unescape(re.sub(r"<[a-zA-Z/!?][^<>]{0,5000}>", " ", shown))


def tidy(text: str) -> str:
    """Composed characters, no control characters, single spaces, no empty lines, bounded."""
    clean = unicodedata.normalize("NFC", text[: MAX_TEXT * 2])
    clean = "".join(c for c in clean if c in "\n\t" or unicodedata.category(c)[0] != "C")
    lines = (_SPACES.sub(" ", line).strip() for line in clean.split("\n"))
    return "\n".join(line for line in lines if line)[:MAX_TEXT]


def _main_text(html: str) -> str:
    from lxml.etree import LxmlError
    from trafilatura import extract

    try:
        found = extract(
            html, config=_config(), include_comments=True, include_tables=True, favor_recall=True
        )
    except (LxmlError, ValueError, AttributeError, RecursionError):  # raised on hostile markup
        return ""
    return found or ""


@cache
def _config() -> Any:
    from trafilatura.settings import use_config

    config = use_config()
    config.set("DEFAULT", "EXTRACTION_TIMEOUT", "0")  # its timeout is a signal: main thread only
    config.set("DEFAULT", "MIN_EXTRACTED_SIZE", "1")
    config.set("DEFAULT", "MIN_OUTPUT_SIZE", "1")
    return config


def _depth(html: str) -> int:
    """Deepest nesting if nothing closes by itself: an upper bound, in one pass."""
    depth = deepest = 0
    for closing, name, attributes in _TAG.findall(html):
        if closing:
            depth = max(depth - 1, 0)
        elif not attributes.endswith("/") and name.lower() not in _VOID:
            depth += 1
            deepest = max(deepest, depth)
    return deepest
