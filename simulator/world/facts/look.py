"""What an entity looks like and where it is met, in words a renderer understands. Facts choose it,
pictures draw it."""

from __future__ import annotations

from mmrag.records import Record

KINDS: dict[str, tuple[str, ...]] = {
    "animal": ("dog", "bird", "fish", "butterfly"),
    "book": ("book",),
    "food": ("bottle", "carton", "jar", "packet"),
    "general object recognition": ("kettle", "lamp", "clock", "toaster"),
    "local": ("tower", "bridge", "shopfront", "statue"),
    "math and science": ("textbook_page", "molecule", "instrument"),
    "plants and gardening": ("flower", "tree", "succulent", "houseplant"),
    "shopping": ("headphones", "speaker", "backpack", "mug"),
    "sports and games": ("ball", "racket", "board_game"),
    "style and fashion": ("shoe", "handbag", "hat", "watch"),
    "text understanding": ("sign", "poster", "ticket"),
    "vehicle": ("car", "motorcycle", "bicycle", "van"),
    "other": ("guitar", "coin", "flag"),
}
"""Domain (CRAG-MM's names) → the kinds of thing that can stand in a picture of it."""

LABELLED = {
    "book", "bottle", "carton", "jar", "packet", "shopfront", "textbook_page", "board_game",
    "sign", "poster", "ticket", "van", "coin",
}  # fmt: skip
"""Kinds that carry printed text: their name and a fact. No other kind shows a word of its own."""

MET_AT: dict[str, tuple[str, ...]] = {
    "dog": ("out", "home"), "bird": ("out", "home"), "fish": ("shop", "home"),
    "butterfly": ("out", "home"), "book": ("home", "shop"), "bottle": ("shop", "home"),
    "carton": ("shop", "home"), "jar": ("shop", "home"), "packet": ("shop", "home"),
    "kettle": ("shop", "home"), "lamp": ("shop", "home"), "clock": ("shop", "home"),
    "toaster": ("shop", "home"), "tower": ("out",), "bridge": ("out",), "shopfront": ("out",),
    "statue": ("out",), "textbook_page": ("home",), "molecule": ("home", "out"),
    "instrument": ("home", "out", "shop"), "flower": ("home", "shop", "out"),
    "tree": ("out", "home", "shop"), "succulent": ("home", "shop"), "houseplant": ("home", "shop"),
    "headphones": ("shop", "home"), "speaker": ("shop", "home"),
    "backpack": ("shop", "home", "out"), "mug": ("shop", "home"), "ball": ("out", "home", "shop"),
    "racket": ("out", "home", "shop"), "board_game": ("home", "shop"), "shoe": ("shop", "home"),
    "handbag": ("shop", "home"), "hat": ("shop", "home"), "watch": ("shop", "home"),
    "sign": ("out",), "poster": ("out", "home"), "ticket": ("home", "out"),
    "car": ("out", "shop"), "motorcycle": ("out", "shop"), "bicycle": ("out", "shop"),
    "van": ("out",), "guitar": ("home", "shop"), "coin": ("home", "out"), "flag": ("out",),
}  # fmt: skip
"""Kind → where a wearer meets it: on sale, at home or at work, or out. Needs that are said in no
such place are not asked of it."""


class Look(Record, frozen=True, kw_only=True):
    """Everything a renderer may know about an entity: no fact can leak into a picture but these."""

    domain: str
    kind: str
    family: int
    """Entities with the same kind and family share traits: look-alikes."""
    variant: int
    """What a careful eye can tell apart within a family (markings, proportions, trim)."""
    own_traits: float = 0.0
    """Share of the family's traits that this one has otherwise: models of one maker differ in some,
    copies in none."""
    label: str | None = None
    """Text printed on the entity: its name, a brand, a title. None where it carries none."""
    sublabel: str | None = None
    """Smaller printed text: an author, a net weight, a street."""
