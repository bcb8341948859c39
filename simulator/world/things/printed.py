"""Printed matter: what is read."""

from __future__ import annotations

from simulator.world.things.books import book, textbook_page
from simulator.world.things.coins import coin
from simulator.world.things.kind import Kind
from simulator.world.things.papers import board_game, poster, ticket
from simulator.world.things.signs import flag, sign

KINDS: dict[str, Kind] = {
    "book": Kind(book, ("desk", "living room", "classroom"), "flat", held=True),
    "textbook_page": Kind(textbook_page, ("classroom", "desk"), "flat"),
    "board_game": Kind(board_game, ("living room", "shop"), "flat"),
    "poster": Kind(poster, ("street", "classroom", "museum", "living room"), "wall"),
    "ticket": Kind(ticket, ("desk", "kitchen"), "flat", held=True),
    "sign": Kind(sign, ("park", "street", "waterfront", "square"), "ground"),
    "coin": Kind(coin, ("desk", "museum"), "flat", held=True),
    "flag": Kind(flag, ("square", "waterfront", "park"), "ground"),
}
