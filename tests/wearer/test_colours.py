"""What colour a thing is called by: only what is seen, is its own, and is not the others'."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest
from PIL import Image
from small_talks import agendas, coloured, facts, talk_of, tell

from mmrag.files.images import LazyImage
from mmrag.records import Outcome
from simulator.wearer.colours import colour_shares, colours_of, palette_has
from simulator.wearer.wearer_view import sight_of
from simulator.world.facts.look import Look
from simulator.world.pictures.traits import Colour, Traits, oklch

HALVES = [[(0, 0), (39, 0), (39, 39), (0, 39)], [(40, 0), (79, 0), (79, 39), (40, 39)]]
GREY: Colour = (120.0, 120.0, 120.0)
WOOD: Colour = (150.0, 115.0, 80.0)


def mug(colour: str) -> Look:
    """A mug whose family is of a colour."""
    hues = {"blue": (240, 270), "green": (135, 160), "yellow": (95, 110)}[colour]
    for family in range(200):
        look = Look(domain="shopping", kind="mug", family=family, variant=1)
        if hues[0] < Traits(look).palette().hue < hues[1]:
            return look
    raise AssertionError(colour)


def named(*halves: tuple[list[tuple[float, Colour]], Look]) -> tuple[str, ...]:
    """The colours of two things, each painted in stripes of (share, colour)."""
    pixels = np.zeros((40, 80, 3), np.uint8)
    for place, (stripes, _) in enumerate(halves):
        top = 0.0
        for share, colour in stripes:
            rows = slice(round(40 * top), round(40 * (top + share)))
            pixels[rows, 40 * place : 40 * place + 40] = np.round(colour)
            top += share
    picture = LazyImage.from_pil(Image.fromarray(pixels))
    return colours_of(picture, HALVES, [look for _, look in halves])


BLUE, TEAL, YELLOW = oklch(0.6, 0.12, 255), oklch(0.6, 0.1, 222), oklch(0.8, 0.14, 102)


@pytest.mark.parametrize(
    ("first", "second", "colours"),
    [
        ([(1, BLUE)], [(1, YELLOW)], ("blue", "yellow")),
        ([(0.3, BLUE), (0.7, GREY)], [(1, GREY)], ("blue", "")),
        ([(0.1, BLUE), (0.9, GREY)], [(1, GREY)], ("", "")),  # a button
        ([(1, BLUE)], [(0.6, BLUE), (0.4, GREY)], ("", "")),  # look-alikes
        ([(1, BLUE)], [(1, TEAL)], ("", "")),  # which somebody else calls blue
        ([(0.5, BLUE), (0.5, oklch(0.7, 0.15, 145))], [(1, GREY)], ("", "")),  # blue, or green?
    ],
)
def test_a_colour_is_that_of_much_of_a_thing_and_of_no_other(
    first: list[tuple[float, Colour]], second: list[tuple[float, Colour]], colours: tuple[str, str]
) -> None:
    assert named((first, mug("blue")), (second, mug("yellow"))) == colours


def test_light_alone_makes_nothing_blue() -> None:
    looks = (Look(domain="shopping", kind="mug", family=n, variant=1) for n in range(99))
    other = next(look for look in looks if not palette_has(look, "blue"))
    assert named(([(1, BLUE)], other), ([(1, GREY)], mug("yellow"))) == ("", "")


def test_a_picture_that_cannot_be_read_and_a_thing_alone_have_no_colour() -> None:
    torn = LazyImage.from_bytes(b"no picture")
    assert colours_of(torn, HALVES, [mug("blue"), mug("yellow")]) == ("", "")
    whole = LazyImage.from_pil(Image.new("RGB", (80, 40), (40, 80, 200)))
    assert colours_of(whole, HALVES[:1], [mug("blue")]) == ("",)


def test_the_wheel_that_proves_it_knows_no_more_than_it_sees() -> None:
    assert colour_shares(np.array([BLUE, BLUE, GREY, WOOD]))["blue"] == 0.5
    assert max(colour_shares(np.zeros((0, 3))).values()) == 0


def test_the_wearer_points_by_a_colour_that_tells_things_apart() -> None:
    two = coloured()
    assert len(two.extra["visible"]) == 2
    talk = talk_of(two)
    assert tell(talk, "Which one do you mean?", Outcome.MISSING, "which") == "point"
    assert "pink book on the left" in talk.turn.query
    assert ("colour", two.extra["subject"], "pink") in talk.turn.wearer.claims


def test_no_colour_is_said_that_answers_what_is_asked() -> None:
    two = coloured()
    last = two.turns[-1]
    asked = msgspec.structs.replace(last.reference, text="Deep Pink", accept=())
    turns = (*two.turns[:-1], msgspec.structs.replace(last, reference=asked))
    talk = talk_of(msgspec.structs.replace(two, turns=turns))
    assert tell(talk, "Which one do you mean?", Outcome.MISSING, "which") == "point"
    assert "The book on the left" in talk.turn.query


@pytest.mark.proof("time")
def test_few_things_of_the_mini_world_have_a_colour() -> None:
    """Look-alikes share theirs: what is named is named of a few, and of one in a picture each."""
    named = 0
    for session in agendas():
        sight = sight_of(session, facts())
        found = [colour for thing in sight.things if (colour := sight.colour(thing))]
        assert len(found) == len(set(found))
        named += bool(found)
    assert named == 5


def test_a_world_of_text_has_no_colours() -> None:
    session = msgspec.structs.replace(agendas()[0], capture=None)
    sight = sight_of(session, facts())
    assert [sight.colour(thing) for thing in sight.things] == [""] * len(sight.things)
