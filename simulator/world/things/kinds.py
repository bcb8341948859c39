"""Kind → how it is built, and where one would find it."""

from __future__ import annotations

from simulator.world.facts.look import Look
from simulator.world.pictures.traits import Traits
from simulator.world.solid.forms import Thing
from simulator.world.things.appliances import kettle, toaster
from simulator.world.things.backpacks import backpack
from simulator.world.things.bags import handbag
from simulator.world.things.bicycles import bicycle
from simulator.world.things.birds import bird
from simulator.world.things.books import book, textbook_page
from simulator.world.things.bridges import bridge
from simulator.world.things.butterflies import butterfly
from simulator.world.things.cars import car
from simulator.world.things.clocks import clock
from simulator.world.things.coins import coin
from simulator.world.things.devices import headphones, speaker
from simulator.world.things.dogs import dog
from simulator.world.things.fishes import fish
from simulator.world.things.flowers import flower
from simulator.world.things.guitars import guitar
from simulator.world.things.hats import hat
from simulator.world.things.kind import Kind
from simulator.world.things.lamps import lamp
from simulator.world.things.motorcycles import motorcycle
from simulator.world.things.mugs import mug
from simulator.world.things.packs import carton, packet
from simulator.world.things.papers import board_game, poster, ticket
from simulator.world.things.play import racket, sports_ball
from simulator.world.things.potted import houseplant
from simulator.world.things.science import instrument, molecule
from simulator.world.things.shoes import shoe
from simulator.world.things.shopfronts import shopfront
from simulator.world.things.signs import flag, sign
from simulator.world.things.statues import statue
from simulator.world.things.succulents import succulent
from simulator.world.things.towers import tower
from simulator.world.things.trees import tree
from simulator.world.things.vans import van
from simulator.world.things.vessels import bottle, jar
from simulator.world.things.watches import watch

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
    "mug": Kind(mug, ("kitchen", "desk", "living room"), held=True),
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
    "tree": Kind(tree, ("park", "street", "garden", "square", "waterfront"), "ground"),
    "ball": Kind(sports_ball, ("gym", "garden", "park", "living room"), "ground", held=True),
    "racket": Kind(racket, ("gym", "park", "living room"), "flat", held=True),
    "guitar": Kind(guitar, ("living room", "shop", "workshop"), "ground"),
    "molecule": Kind(molecule, ("classroom", "desk", "museum"), "surface"),
    "instrument": Kind(instrument, ("classroom", "desk", "museum", "workshop"), "surface"),
    "book": Kind(book, ("desk", "living room", "classroom"), "flat", held=True),
    "textbook_page": Kind(textbook_page, ("classroom", "desk"), "flat"),
    "board_game": Kind(board_game, ("living room", "shop"), "flat"),
    "poster": Kind(poster, ("street", "classroom", "museum", "living room"), "wall"),
    "ticket": Kind(ticket, ("desk", "kitchen"), "flat", held=True),
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


def build(look: Look) -> Thing:
    """The thing that a look describes, standing at the origin."""
    return KINDS[look.kind].make(look, Traits(look))
