"""Kind of thing → how it is built, and where one would find it."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from simulator.studio.solid.scene_types import Stands, Thing
from simulator.studio.things.animals import bird, butterfly, fish
from simulator.studio.things.bags import backpack, handbag
from simulator.studio.things.balls_and_guitars import guitar, racket, sports_ball
from simulator.studio.things.books import book, textbook_page
from simulator.studio.things.cars import car, van
from simulator.studio.things.coins import coin
from simulator.studio.things.containers import bottle, carton, jar, packet
from simulator.studio.things.cycles import bicycle, motorcycle
from simulator.studio.things.dogs import dog
from simulator.studio.things.games_and_posters import board_game, poster, ticket
from simulator.studio.things.hats_and_shoes import hat, shoe
from simulator.studio.things.headphones_and_watches import headphones, speaker, watch
from simulator.studio.things.household import clock, kettle, lamp, mug, toaster
from simulator.studio.things.landmarks import bridge, tower
from simulator.studio.things.molecules_and_instruments import instrument, molecule
from simulator.studio.things.plants import flower, tree
from simulator.studio.things.potted_plants import houseplant
from simulator.studio.things.signs_and_flags import flag, sign
from simulator.studio.things.statues_and_shopfronts import shopfront, statue
from simulator.studio.things.succulents import succulent
from simulator.world.facts.look import Look
from simulator.world.pictures.traits import Traits


class Kind(NamedTuple):
    """How a kind of thing is built, and where one would find it."""

    make: Callable[[Look, Traits], Thing]
    """The same look gives the same thing: what families share comes from `traits.family` or
    `traits.near`, what tells look-alikes apart from `traits.variant`."""
    places: tuple[str, ...]
    """Names in `simulator.studio.places.place_kinds.PLACES`, the most usual first."""
    stands: Stands = "surface"
    held: bool = False
    """Whether a wearer would hold it up in one hand."""


KINDS: dict[str, Kind] = {
    "dog": Kind(dog, ("park", "living room", "garden", "street", "waterfront"), "ground"),
    "bird": Kind(bird, ("garden", "park", "waterfront", "street"), "air"),
    "fish": Kind(fish, ("market", "kitchen")),
    "butterfly": Kind(butterfly, ("garden", "park"), "air"),
    "headphones": Kind(headphones, ("desk", "shop", "living room"), "surface"),
    "speaker": Kind(speaker, ("living room", "desk", "shop"), "surface"),
    "lamp": Kind(lamp, ("desk", "living room", "shop"), "surface"),
    "watch": Kind(watch, ("desk", "shop"), "flat", held=True),
    "kettle": Kind(kettle, ("kitchen", "shop")),
    "mug": Kind(mug, ("kitchen", "desk", "living room", "shop"), held=True),
    "clock": Kind(clock, ("living room", "desk", "shop")),
    "toaster": Kind(toaster, ("kitchen", "shop")),
    "tower": Kind(tower, ("square", "waterfront", "park"), "ground"),
    "bridge": Kind(bridge, ("waterfront",), "ground"),
    "shopfront": Kind(shopfront, ("street", "square"), "ground"),
    "statue": Kind(statue, ("square", "park"), "ground"),
    "bottle": Kind(bottle, ("kitchen", "shop", "market"), held=True),
    "jar": Kind(jar, ("kitchen", "shop", "market"), held=True),
    "carton": Kind(carton, ("kitchen", "shop"), held=True),
    "packet": Kind(packet, ("kitchen", "shop", "desk"), held=True),
    "flower": Kind(flower, ("living room", "garden", "market", "kitchen", "desk")),
    "houseplant": Kind(houseplant, ("living room", "desk", "shop", "classroom", "kitchen")),
    "succulent": Kind(succulent, ("desk", "kitchen", "living room", "shop"), held=True),
    "tree": Kind(tree, ("park", "street", "garden", "square", "waterfront", "market"), "ground"),
    "ball": Kind(
        sports_ball, ("gym", "garden", "park", "living room", "shop"), "ground", held=True
    ),
    "racket": Kind(racket, ("gym", "park", "living room", "shop"), "flat", held=True),
    "guitar": Kind(guitar, ("living room", "shop", "workshop"), "ground"),
    "molecule": Kind(molecule, ("classroom", "desk", "museum"), "surface"),
    "instrument": Kind(instrument, ("classroom", "desk", "museum", "workshop", "shop"), "surface"),
    "book": Kind(book, ("desk", "living room", "classroom", "shop"), "flat", held=True),
    "textbook_page": Kind(textbook_page, ("classroom", "desk"), "flat"),
    "board_game": Kind(board_game, ("living room", "shop"), "flat"),
    "poster": Kind(poster, ("street", "classroom", "museum", "living room"), "wall"),
    "ticket": Kind(ticket, ("desk", "kitchen", "square", "waterfront"), "flat", held=True),
    "sign": Kind(sign, ("park", "street", "waterfront", "square"), "ground"),
    "coin": Kind(coin, ("desk", "museum"), "flat", held=True),
    "flag": Kind(flag, ("square", "waterfront", "park"), "ground"),
    "bicycle": Kind(bicycle, ("street", "park", "square", "waterfront"), "ground"),
    "car": Kind(car, ("street", "square", "waterfront"), "ground"),
    "motorcycle": Kind(motorcycle, ("street", "square", "waterfront"), "ground"),
    "van": Kind(van, ("street", "market", "square"), "ground"),
    "shoe": Kind(shoe, ("shop", "living room", "gym", "market")),
    "handbag": Kind(handbag, ("shop", "living room", "desk", "market")),
    "hat": Kind(hat, ("shop", "market", "living room", "desk"), held=True),
    "backpack": Kind(backpack, ("classroom", "gym", "shop", "park", "desk"), "ground"),
}

PLACES_BY_USE = {
    "shop": ("shop", "market"),
    "home": ("kitchen", "desk", "living room", "classroom", "gym", "workshop", "garden"),
    "out": ("park", "street", "square", "waterfront", "museum", "garden", "gym"),
}
"""`Scene.place` → places of that use."""

SOLD_OUTDOORS = {"car", "motorcycle", "bicycle"}
FORECOURT = ("street", "square")
"""Where they are on sale."""


def places_of(kind: str, use: str = "") -> tuple[str, ...]:
    """Where a kind is met; of a `use` (`Scene.place`) only, where the kind has places of it."""
    places = KINDS[kind].places
    if use == "shop" and kind in SOLD_OUTDOORS:
        return FORECOURT
    return tuple(p for p in places if p in PLACES_BY_USE.get(use, ())) or places


def build(look: Look) -> Thing:
    """The thing that a look describes, standing at the origin."""
    return KINDS[look.kind].make(look, Traits(look))
