"""Printed matter: what is read."""

from __future__ import annotations

from simulator.world.things.books import book, textbook_page
from simulator.world.things.kind import Kind

KINDS: dict[str, Kind] = {
    "book": Kind(book, ("desk", "living room", "classroom"), "flat", held=True),
    "textbook_page": Kind(textbook_page, ("classroom", "desk"), "flat"),
}
