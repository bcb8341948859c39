"""The invented web sites that pages stand on: hosts, chrome, and the words around an article.

Hosts end in `.example`, which no resolver will ever answer (RFC 2606).
"""

from __future__ import annotations

from mmrag.records import Record
from simulator.world.build.randomness import Draw


class Site(Record, frozen=True, kw_only=True):
    """One site: everything that stands around its articles."""

    name: str
    host: str
    style: str
    accent: str
    menu: tuple[str, ...]
    tagline: str
    skin: int
    """Which of the style's layouts it uses."""


def site_for(style: str, draw: Draw) -> Site:
    """One of the sites of a style."""
    return draw.pick(SITES[style])


_MENUS = {
    "encyclopaedia": ("Main page", "Contents", "Current events", "Random article", "About", "Help"),
    "shop": ("New in", "Offers", "Departments", "Gift cards", "Stores", "My account", "Basket (0)"),
    "review": ("Home", "Tests", "Comparisons", "Deals", "Newsletter", "Imprint"),
    "forum": ("Index", "New posts", "Members", "Rules", "Search", "Log in", "Register"),
    "news": ("Front page", "Local", "Business", "Culture", "Sport", "Weather", "Subscribe"),
}

_NAMES: dict[str, tuple[tuple[str, str], ...]] = {
    "encyclopaedia": (
        ("Omnipedium", "the open reference"), ("Plinth Encyclopaedia", "every entry signed"),
        ("The Commons Lexicon", "written by its readers"), ("Quarto", "knowledge in four columns"),
    ),
    "shop": (
        ("Larder & Lane", "things worth having"), ("Bright Counter", "low prices, long hours"),
        ("The Green Awning", "since before you asked"), ("Parcelbox", "at your door tomorrow"),
        ("Stockroom 9", "trade and private"),
    ),
    "review": (
        ("Second Glance", "we look twice"), ("Weekday Tester", "honest, slow, thorough"),
        ("Thumb and Scale", "reviews by weight"), ("Kitchen Table Reviews", "bought, not sent"),
    ),
    "forum": (
        ("The Long Bench", "talk about anything"), ("AskAround", "somebody knows"),
        ("Tinker Board", "hobby forum"), ("Corner Post", "neighbours online"),
    ),
    "news": (
        ("The Morning Ledger", "independent daily"), ("Harbour Courier", "news from the coast"),
        ("Inland Observer", "the weekly paper"), ("Evening Dispatch", "first with the last word"),
    ),
}  # fmt: skip

_ACCENTS = ("#7a2e1d", "#1d4e7a", "#2f6b3c", "#5b3a86", "#8a6a12", "#1f6f70", "#444b54")


def _make(style: str) -> tuple[Site, ...]:
    return tuple(
        Site(
            name=name,
            host=f"www.{''.join(c for c in name.lower() if c.isalnum())}.example",
            style=style,
            accent=_ACCENTS[(i * 3 + len(style)) % len(_ACCENTS)],
            menu=_MENUS[style],
            tagline=tagline,
            skin=i % 2,
        )
        for i, (name, tagline) in enumerate(_NAMES[style])
    )


SITES: dict[str, tuple[Site, ...]] = {style: _make(style) for style in _NAMES}
"""Style → its sites."""
