"""Every kind of thing: sound, of a believable size, the same again, told from its look-alikes."""

from __future__ import annotations

import numpy as np
import pytest
from things_checks import faults_of_kind, faults_of_prints, faults_of_variants, look_of, made

from simulator.studio.camera.staging import prints_with_name
from simulator.studio.places.place_kinds import PLACES
from simulator.studio.solid.scene_types import Lamp, Light, Placed, View, moved
from simulator.studio.things import animals, dogs, hats_and_shoes, plants
from simulator.studio.things.kinds import (
    FORECOURT,
    KINDS,
    PLACES_BY_USE,
    SOLD_OUTDOORS,
    build,
    places_of,
)
from simulator.studio.things.molecules_and_instruments import ATOMS, structure
from simulator.studio.things.shared_shapes import CHROME, RUBBER
from simulator.studio.things.vehicle_bodies import drawn_wheel, wheel_parts
from simulator.studio.tracing.tracer import trace
from simulator.world.facts.look import LABELLED, MET_AT
from simulator.world.pictures.traits import Draws, Traits

SIZES = {  # width, depth and height in metres: the least and the most
    "dog": ((0.1, 0.1, 0.22), (1.0, 1.0, 0.95)), "bird": ((0.02, 0.02, 0.08), (0.6, 0.6, 0.5)),
    "fish": ((0.02, 0.02, 0.06), (0.75, 0.75, 0.45)),
    "butterfly": ((0.02, 0.02, 0.05), (0.3, 0.3, 0.25)),
    "flower": ((0.05, 0.05, 0.22), (0.6, 0.6, 0.75)),
    "houseplant": ((0.1, 0.1, 0.2), (0.95, 0.95, 0.75)),
    "succulent": ((0.05, 0.05, 0.08), (0.45, 0.45, 0.4)),
    "tree": ((0.6, 0.6, 2.5), (10.0, 10.0, 12.0)),
    "shoe": ((0.16, 0.2, 0.08), (0.36, 0.42, 0.26)),
    "handbag": ((0.18, 0.05, 0.12), (0.5, 0.45, 0.62)),
    "hat": ((0.16, 0.18, 0.09), (0.45, 0.48, 0.28)),
    "backpack": ((0.22, 0.12, 0.38), (0.52, 0.36, 0.62)),
    "headphones": ((0.16, 0.06, 0.16), (0.27, 0.18, 0.24)),
    "speaker": ((0.08, 0.08, 0.1), (0.24, 0.27, 0.38)),
    "lamp": ((0.2, 0.14, 0.25), (0.56, 0.36, 0.58)),
    "watch": ((0.034, 0.17, 0.008), (0.055, 0.23, 0.016)),
    "kettle": ((0.14, 0.13, 0.16), (0.36, 0.25, 0.36)),
    "mug": ((0.08, 0.06, 0.07), (0.15, 0.12, 0.12)),
    "clock": ((0.09, 0.03, 0.09), (0.22, 0.12, 0.3)),
    "toaster": ((0.25, 0.14, 0.15), (0.4, 0.2, 0.28)),
    "tower": ((6.0, 6.0, 38.0), (26.0, 26.0, 105.0)),
    "bridge": ((35.0, 6.0, 6.0), (130.0, 20.0, 48.0)),
    "shopfront": ((5.0, 1.2, 6.4), (7.6, 2.6, 8.0)),
    "statue": ((1.6, 1.6, 2.8), (2.4, 2.4, 5.9)),
    "bottle": ((0.06, 0.06, 0.13), (0.14, 0.14, 0.36)),
    "jar": ((0.05, 0.05, 0.08), (0.13, 0.13, 0.16)),
    "carton": ((0.06, 0.03, 0.14), (0.11, 0.11, 0.3)),
    "packet": ((0.11, 0.03, 0.04), (0.27, 0.11, 0.31)),
    "ball": ((0.06, 0.06, 0.06), (0.34, 0.34, 0.34)),
    "racket": ((0.12, 0.24, 0.01), (0.29, 0.7, 0.05)),
    "guitar": ((0.34, 0.3, 1.0), (0.45, 0.5, 1.2)),
    "molecule": ((0.1, 0.1, 0.18), (0.45, 0.4, 0.5)),
    "instrument": ((0.12, 0.14, 0.28), (0.62, 0.4, 0.65)),
    "book": ((0.1, 0.17, 0.01), (0.19, 0.26, 0.06)),
    "textbook_page": ((0.16, 0.22, 0.0), (0.42, 0.29, 0.06)),
    "board_game": ((0.2, 0.14, 0.04), (0.31, 0.41, 0.08)),
    "poster": ((0.4, 0.001, 0.58), (0.7, 0.03, 0.98)),
    "ticket": ((0.13, 0.06, 0.0), (0.2, 0.09, 0.02)),
    "sign": ((0.65, 0.03, 1.0), (1.0, 0.35, 1.8)),
    "coin": ((0.024, 0.024, 0.001), (0.036, 0.036, 0.004)),
    "flag": ((0.9, 0.2, 2.5), (2.1, 0.6, 3.6)),
    "bicycle": ((1.6, 0.5, 0.85), (1.95, 0.72, 1.2)),
    "motorcycle": ((1.9, 0.7, 1.0), (2.5, 1.05, 1.55)),
    "car": ((3.6, 1.85, 1.35), (4.85, 2.3, 1.75)),
    "van": ((4.8, 2.0, 1.9), (6.0, 2.4, 2.65)),
}  # fmt: skip
LIVING = ("dog", "bird", "fish", "butterfly", "flower", "houseplant", "succulent", "tree")
SLOW = {"dog": 2, "bird": 2, "tree": 2, "shoe": 2, "statue": 2}
SAYS = {
    **dict.fromkeys(
        ("bottle", "jar", "carton", "packet"), ("Shraiskumble Claizzadis Oat Drink", "1350 g")
    ),
    "book": ("The Quiet Shraiskumble", "Sennol Vetharn"),
    "textbook_page": ("The Shraiskumble-Claizzadis Inequality", "347"),
    "board_game": ("The Roads of Kelpisk Dorrum", "5 players"),
    "poster": ("The Kelpisk of Dorrum Concert", "14 March 2032"),
    "ticket": ("Shraiskumble Claizzadis Theatre", "$18.40"),
    "sign": ("Shraiskumble Claizzadis Car Park", "12.4 km"),
    "coin": ("Shraiskumble Claizzadis Florin", "2024"),
    "shopfront": ("Shraiskumble Claizzadis & Daughters", "12 Mill Street"),
}  # fmt: skip
CACHES = (dogs._dog, animals._bird, plants._tree, hats_and_shoes._shoe)


def test_every_kind_has_a_size() -> None:
    assert set(SIZES) == set(KINDS)


@pytest.mark.parametrize("kind", SIZES)
def test_kinds_are_sound_and_told_apart(kind: str) -> None:
    families = range(SLOW.get(kind, 4))
    assert faults_of_kind(kind, SIZES[kind], families=families, living=kind in LIVING) == []


@pytest.mark.parametrize("kind", SAYS)
def test_print_says_what_it_should(kind: str) -> None:
    assert faults_of_kind(kind, SIZES[kind], *SAYS[kind]) == []


@pytest.mark.parametrize("kind", [*LIVING, "shoe", "handbag", "hat", "backpack"])
def test_a_look_that_is_made_anew_gives_the_same_bytes(kind: str) -> None:
    assert faults_of_variants(kind, 3, *CACHES) == []


# -- devices


def test_a_lamp_may_be_lit() -> None:
    lit = {
        any(p.material.glow > 0 for p in build(look_of("lamp", 3, variant)).parts)
        for variant in range(8)
    }
    assert lit == {True, False}


# -- home


@pytest.mark.parametrize("kind", ["kettle", "mug", "clock", "toaster"])
def test_families_differ_in_shape_and_colour(kind: str) -> None:
    things = [build(look_of(kind, family)) for family in range(12)]
    heights = {round(float(thing.bounds[1, 2]), 3) for thing in things}
    assert len(heights) >= 10
    assert len({len(thing.parts) for thing in things}) > 1 or kind == "mug"


def test_hands_of_a_clock_stand_at_the_variants_own_hour() -> None:
    def hand(variant: int) -> np.ndarray:
        return build(look_of("clock", 4, variant)).parts[-3].mesh.vertices

    assert not np.allclose(hand(0), hand(1))


def test_every_kind_names_places_that_exist() -> None:
    assert {place for kind in KINDS.values() for place in kind.places} <= set(PLACES)
    assert all(kind.places for kind in KINDS.values())
    assert Traits(look_of("mug", 1)).family("hue", 0, 360) == pytest.approx(
        Traits(look_of("mug", 1, 3)).family("hue", 0, 360)
    )


# -- landmarks


@pytest.mark.parametrize("family", range(4))
@pytest.mark.parametrize("label", ["Torvick", "Shraiskumble Claizzadis & Daughters"])
def test_a_shop_s_sign_says_its_name_large(family: int, label: str) -> None:
    thing = build(look_of("shopfront", family, 1, label, "12 Mill Street"))
    assert faults_of_prints(thing, [label, "12 Mill Street"]) == []
    name = thing.prints[0]
    assert name.corners[1, 0] > name.corners[0, 0]
    assert name.corners[:, 1].max() < 0
    assert name.cap > (0.03 if len(label) > 20 else 0.045) * float(
        np.ptp(thing.bounds, axis=0).max()
    )


def test_a_tower_has_its_clock_on_four_sides() -> None:
    faces = [
        p.mesh.vertices for family in range(12) for p in build(look_of("tower", family)).parts
        if p.material.sheet is not None and p.material.sheet.shape[:2] == (256, 256)
    ]  # fmt: skip
    dials = [
        v for v in faces if np.allclose(v[:, 0].max(), -v[:, 0].min(), atol=0.01) and len(v) < 2000
    ]
    assert dials
    for v in dials:
        assert np.ptp(v[:, 0]) == pytest.approx(np.ptp(v[:, 1]), rel=0.01)


def test_a_bridge_stands_on_more_than_one_place_and_leaves_the_water_free() -> None:
    for family in range(8):
        thing = build(look_of("bridge", family))
        at = np.concatenate([p.mesh.vertices for p in thing.parts])
        low = at[at[:, 2] < 0.5]
        length = float(np.ptp(thing.bounds[:, 0]))
        share = np.unique(np.floor(low[:, 0] / length * 40)).size / 40
        assert low.size
        assert share < 0.6


def test_a_statue_s_figure_stands_on_its_plinth() -> None:
    for family in range(4):
        thing = build(look_of("statue", family))
        figure = thing.parts[-1].mesh.vertices
        block = np.concatenate([p.mesh.vertices for p in thing.parts[:-1]])
        assert 0 <= float(block[:, 2].max()) - float(figure[:, 2].min()) < 0.1
        assert 1.8 < float(np.ptp(figure[:, 2])) < 3.3


# -- packed


@pytest.mark.parametrize("kind", ["bottle", "jar", "carton", "packet"])
def test_a_name_is_large_enough_and_on_the_front(kind: str) -> None:
    for family in range(20, 32):
        thing = build(look_of(kind, family, 3, "Marrel Torvick Honey", "340 g"))
        label = thing.prints[0]
        low, high = thing.bounds
        assert label.cap > 0.02 * float((high - low).max())
        assert label.corners[1, 0] > label.corners[0, 0]
        assert label.corners[3, 2] > label.corners[0, 2]
        assert label.corners[:, 1].mean() < 0


def test_what_a_name_promises_is_in_the_jar() -> None:
    def tone(label: str) -> np.ndarray:
        core = build(look_of("jar", 3, 0, label)).parts[0].material.sheet
        assert core is not None
        return core.reshape(-1, 3).mean(0)

    honey, jam = tone("Marrel Torvick Honey"), tone("Marrel Torvick Jam")
    assert honey[0] > 150
    assert honey[0] > honey[1] > honey[2]
    assert jam[0] > 1.8 * jam[1]
    assert honey[1] > jam[1] + 40


@pytest.mark.proof("render")
def test_a_jar_shows_its_label_and_the_glass_above_it() -> None:
    thing = build(look_of("jar", 2, 0, "Marrel Torvick Jam", "340 g"))
    placed = [Placed(thing, moved(), "jar")]
    lamp = Lamp((-0.4, -0.5, 0.6), (0, 0, 0.05), 0.3, 0.3, (255, 240, 220), 9)
    view = View((0, -0.3, 0.1), (0, 0, 0.05), angle=30)
    seen = trace(placed, Light("studio", lamps=(lamp,)), view, 96, 96, seed=3)
    shown = seen.owner == 0
    assert 0.2 < shown.mean() < 0.9
    label = thing.parts[2].material.sheet
    assert label is not None
    middle = seen.light[50:60, 40:56].reshape(-1, 3).mean(0)
    assert middle.max() > 2 * middle.min()  # a coloured label, not grey glass


# -- play


def test_every_sort_of_ball_comes_and_is_drawn_in_several_colours() -> None:
    sizes = set()
    for family in range(16):
        thing = build(look_of("ball", family))
        sheet = thing.parts[0].material.sheet
        assert sheet is not None
        assert float(sheet.reshape(-1, 3).std(0).max()) > 12
        sizes.add(round(float(thing.bounds[1, 2]), 1))
    assert sizes == {0.1, 0.2, 0.3}


def test_atoms_have_as_many_bonds_as_their_kind_allows() -> None:
    for family in range(12):
        for variant in range(3):
            places, kinds, bonds = structure(Draws("m", family), Draws("m", family, variant))
            count = np.bincount(np.array(bonds).ravel(), minlength=len(kinds))
            assert [ATOMS[k][2] for k in kinds] == count.tolist(), (family, variant)
            gaps = np.linalg.norm(np.array(places)[:, None] - np.array(places)[None], axis=-1)
            assert gaps[np.triu_indices(len(kinds), 1)].min() > 0.45, (family, variant)


def test_a_racket_lies_flat_and_may_be_held() -> None:
    assert KINDS["racket"].stands == "flat"
    assert KINDS["racket"].held
    for family in range(6):
        low, high = build(look_of("racket", family)).bounds
        assert high[1] - low[1] > 1.6 * (high[0] - low[0])


# -- printed


@pytest.mark.parametrize("kind", sorted(SAYS.keys() - {"shopfront"}))
def test_what_lies_reads_from_below_and_what_stands_from_the_front(kind: str) -> None:
    up = 1 if KINDS[kind].stands == "flat" else 2
    for family in range(8, 14):
        for found in build(look_of(kind, family, 1, *SAYS[kind])).prints:
            lower_left, lower_right, upper_right, upper_left = found.corners
            assert lower_right[0] > lower_left[0]
            assert upper_left[up] > lower_left[up]
            assert upper_right[up] > lower_right[up]


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_what_is_said_to_carry_print_does_and_nothing_else(kind: str) -> None:
    look = look_of(kind, 3, label="Quellmoor Bellwick")
    assert bool(prints_with_name(build(look), look)) == (kind in LABELLED)


def test_a_coin_is_struck_so_that_letters_stand_out() -> None:
    thing = build(look_of("coin", 2, 0, "Marrel Torvick Crown", "2024"))
    page = thing.parts[0].material.sheet
    assert page is not None
    # bare metal mirrors a dark room: no letter was read
    assert 0.5 <= thing.parts[0].material.metal < 0.9
    middle = page[280:500, 130:630].mean(2)
    assert np.percentile(middle, 95) - np.percentile(middle, 5) > 60


# -- vehicles


@pytest.mark.parametrize("kind", ["bicycle", "motorcycle", "car", "van"])
def test_tyres_touch_the_ground_under_both_axles(kind: str) -> None:
    for family in range(4):
        thing = build(look_of(kind, family))
        rubber = [p.mesh.vertices for p in thing.parts if p.material == RUBBER]
        low = np.concatenate([v[v[:, 2] < 0.02] for v in rubber])
        assert abs(float(low[:, 2].min())) < 0.002
        length = float(np.ptp(thing.bounds[:, 0]))
        assert float(np.ptp(low[:, 0])) > 0.5 * length


@pytest.mark.parametrize("family", range(3))
def test_nothing_of_a_car_s_wall_hides_its_wheels(family: int) -> None:
    thing = build(look_of("car", family))
    tyres = np.concatenate([p.mesh.vertices for p in thing.parts if p.material == RUBBER])
    reach = float(tyres[:, 2].max())
    side = float(thing.bounds[0, 1])
    for front in (True, False):
        mine = tyres[(tyres[:, 0] > 0) == front]
        axle = np.array([(mine[:, 0].min() + mine[:, 0].max()) / 2, reach / 2])
        for part in thing.parts:
            middle = part.mesh.vertices[part.mesh.faces].mean(1)
            outside = middle[:, 1] < side + 0.2
            near = np.hypot(*(middle[:, (0, 2)] - axle).T) < reach / 2 * 0.85
            hides = outside & near & (middle[:, 1] < float(mine[:, 1].min()) - 0.003)
            assert not hides.any()


@pytest.mark.parametrize("family", range(5))
def test_a_van_is_lettered_on_both_sides_so_that_each_reads_from_left_to_right(family: int) -> None:
    thing = build(look_of("van", family, 1, "Marrel Torvick", "Fresh flowers"))
    assert faults_of_prints(thing, ["Marrel Torvick", "Fresh flowers"] * 2) == []
    sides = [thing.prints[0], thing.prints[2]]
    assert sides[0].corners[:, 1].max() < 0 < sides[1].corners[:, 1].min()
    for name, way in zip(sides, (1, -1), strict=True):
        along = name.corners[1] - name.corners[0]
        up = name.corners[3] - name.corners[0]
        assert way * along[0] > 0.8
        assert up[2] > 0
        assert name.cap > 0.03 * float(np.ptp(thing.bounds[:, 0]))


def test_a_wheel_s_spokes_end_at_its_rim() -> None:
    for family in range(6):
        wheel = drawn_wheel(Draws("a wheel", family), 0.33, 0.2)
        parts = wheel_parts(wheel, CHROME)
        reach = [float(np.hypot(m.vertices[:, 0], m.vertices[:, 2]).max()) for _, m in parts]
        assert reach[0] == pytest.approx(0.33, abs=1e-6)
        assert 0.9 * 0.33 * wheel.rim < reach[3] < 0.33 * wheel.rim * 1.02


@pytest.mark.proof("render")
def test_a_car_can_be_pictured() -> None:
    from simulator.studio.tracing.tracer import trace

    placed = [Placed(build(look_of("car", 1)), moved(), "car")]
    seen = trace(placed, Light("park"), View((1, -7, 1.6), (0, 0, 0.7)), 96, 96)
    assert np.isfinite(seen.light).all()
    assert 0.03 < float((seen.owner == 0).mean()) < 0.6


# -- wear


@pytest.mark.proof("render")
def test_a_bag_is_seen_by_the_renderer() -> None:
    bag = made("handbag", 1, 0)
    view = View((0, -0.9, 0.4), (0, 0, 0.2), angle=40)
    seen = trace([Placed(bag, moved(), "bag")], Light("studio"), view, 96, 96)
    assert 0.1 < np.mean(seen.owner == 0) < 0.6
    assert np.isfinite(seen.light).all()


@pytest.mark.parametrize("kind", KINDS)
def test_a_kind_is_met_where_the_wearer_is_said_to_be(kind: str) -> None:
    """A price was asked in a living room, a plant's care between a shop's shelves."""
    every = set(places_of(kind))
    assert every == set(KINDS[kind].places)
    for use in MET_AT[kind]:
        found = places_of(kind, use)
        assert found
        outdoors = use == "shop" and kind in SOLD_OUTDOORS
        assert set(found) <= set(FORECOURT if outdoors else PLACES_BY_USE[use])
