"""What places in the open have in common: ground, sky, what is behind, a table or a wall.

Things up to the size of a van stand a few metres away on the pavement or lawn; towers, bridges and
shopfronts stand among houses and trees, as far off as one would step back to see them whole.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from simulator.studio.places import houses
from simulator.studio.places.furnishing import vegetation
from simulator.studio.places.interior import hang, on_wall, perched
from simulator.studio.places.place_materials import IRON
from simulator.studio.places.place_stage import (
    Group,
    Maker,
    Setting,
    Stage,
    Subject,
    own,
    refuse,
)
from simulator.studio.solid.meshes import tube
from simulator.studio.solid.scene_types import Lamp, Light, Part, Thing, moved
from simulator.studio.solid.surfaces import Surface, bark, laid, spread
from simulator.studio.things.people import person
from simulator.world.pictures.traits import Draws

TOWN_HOURS = ("sky", "sky", "city", "city", "sunny city", "sunny city", "sunny city", "sunset")
GREEN_HOURS = ("sky", "sky", "forest", "sunny forest", "sunny forest", "sunny sky")
"""Environments, some with a sun of their own: noon, overcast, sun through haze, evening."""

HUGE = 7.0
"""Metres: larger things stand among houses, not on the pavement."""


class Exterior(NamedTuple):
    """A sort of place in the open."""

    name: str
    ground: Callable[[Draws], Surface]
    behind: Callable[[Stage, Draws, float, float], None]
    """Builds what is behind the things, from a y on, for so many metres to either side."""
    top: Callable[[Stage, Group, Draws], float]
    """A table: fixes the spots, and says where the free ground begins behind it."""
    about: tuple[Maker, ...]
    """On the ground."""
    wall: Callable[[Draws, float], Thing] | None = None
    """What a group of so many metres hangs on; none: a garden wall."""
    grass: bool = False
    room: tuple[float, float] = (2.0, 6.0)
    """Metres from the things to what is behind."""
    level: float = 0.0
    """How far the base plane lies below the things: a kerb's height where there is a road."""


def make_exterior(exterior: Exterior, draws: Draws, need: Subject) -> Setting:
    """The place about its things."""
    stage = Stage(draws, need)
    make = {
        "surface": _on_top, "flat": _on_top, "ground": _on_ground, "wall": _on_wall,
        "air": _perched,
    }[need.stands]  # fmt: skip
    back = make(stage, exterior)
    d = own(draws, "open")
    size = max(need.sizes[0])
    distance = max(d("room", *exterior.room), 0.25 * size if size > HUGE else 0.0)
    if is_front(need):
        distance = 0.05
    half = max(9.0, 0.8 * size)
    surface = exterior.ground(d)
    width = max(160.0, 8 * half)
    stage.room(spread((-width / 2, width / 2), (-0.3 * width, 0.7 * width), surface))
    if need.stands != "wall":
        exterior.behind(stage, own(draws, "behind"), back + distance, half)
    far = min(max(80.0, back + distance + 45), 0.65 * width)
    stage.room(vegetation.distant_trees(own(draws, "belt"), 1.6 * width), pose=moved(0, far))
    if exterior.grass:
        _meadow(stage, own(draws, "grass"))
    front = (stage.near if size > HUGE else stage.far)[1] + 0.6
    end = front + 22.0 if size > HUGE else back + distance - 0.4
    stage.scatter("about", exterior.about, stage.many(4, 22), (-8.0, 8.0), (front, end + 4.0))
    if size <= HUGE:
        stage.scatter("near", exterior.about, stage.many(1, 4), (-2.2, 2.2), (front, 0.6))
    hours = GREEN_HOURS if exterior.grass else TOWN_HOURS
    if size > HUGE:  # a map of the city is too coarse for what one sees whole
        hours = ("sky", "sunny sky", "sky", "sunset")
    stage.light = _sky(own(draws, "sky"), hours, size)
    return stage.done()


def is_front(need: Subject) -> bool:
    """Whether what is asked for is a piece of a house's front: it stands in a row of houses."""
    w, d, h = need.sizes[0]
    return need.stands == "ground" and w > 2.8 and 2.8 < h < 12 and d < 0.6 * w


def _sky(draws: Draws, hours: tuple[str, ...], size: float) -> Light:
    """A time of day; the sun at the wearer's back or side."""
    hour, turn = draws.pick("hour", hours), draws("turn", -55, 125)
    sky = hour.split()[-1]
    if sky == hour:
        return Light(sky, 1.0, turn, air=draws("air", 700, 2500))
    reach = max(14.0, 3 * size)
    at = (
        reach * draws("x", -0.9, 0.9),
        -reach * draws("y", 0.3, 0.9),
        reach * draws("z", 0.5, 1.1),
    )
    side = reach * 0.035
    colour = draws.pick("colour", ((255, 238, 212), (255, 246, 232), (255, 222, 178)))
    return Light(
        "city",
        draws("fill", 0.6, 0.9),
        turn,
        (Lamp(at, (0, 0, 0), side, side, colour, draws("sun", 4200, 9000)),),
        draws("air", 700, 2500),
    )


def _meadow(stage: Stage, draws: Draws) -> None:
    """Blades of grass about the wearer's feet and the things, but not under them."""
    reach = 1.6 if stage.need.stands in ("surface", "flat") else 2.6
    size = max(stage.need.sizes[0])
    if size > HUGE:
        y = stage.near[1]
        stage.room(vegetation.tufts(draws, 5000, (-3, 3), (y + 0.8, y + 6), 0.08))
        return
    stage.room(
        vegetation.tufts(
            draws, 7000, (-reach, reach), (-reach * 1.3, reach), draws("tall", 0.035, 0.075)
        )
    )


def _on_top(stage: Stage, exterior: Exterior) -> float:
    _fits(stage, exterior, 1.4)
    return exterior.top(stage, stage.group(), own(stage.draws, "top"))


def _on_ground(stage: Stage, _: Exterior) -> float:
    group = stage.group(gap=(0.25, 0.7))
    size = group.size
    near = max(1.45 * size, 1.2)
    stage.stand(
        group, (0, 0, 0), rise=(8, 26) if size > 0.6 else (34, 54),
        reach=(near, max(2.6, 2.1 * size, 1.35 * group.width)),
        lowest=1.0,
    )  # fmt: skip
    if size > 2.2:  # one looks at what is large from where one stands, not from above
        low = stage.draws("eyes", 1.5, 1.72)
        stage.look((*stage.near[:2], low), (*stage.far[:2], low))
    return group.depth / 2


def _on_wall(stage: Stage, exterior: Exterior) -> float:
    _fits(stage, exterior, 4.0)
    group = stage.group(gap=(0.2, 0.7))
    on_wall(stage, group)
    draws = own(stage.draws, "wall")
    width = max(8.0, group.width + 5)
    if exterior.wall is None:
        wall = houses.garden_wall(draws, width, max(2.2, group.height + 1.6))
    else:
        wall = exterior.wall(draws, group.width)
    stage.room(wall)
    hang(stage, "hung", houses.ON_WALLS, stage.many(2, 7), 0.0, (-1.8, 1.8), (0.9, 1.9))
    return 0.0


def _perched(stage: Stage, exterior: Exterior) -> float:
    _fits(stage, exterior, 2.5)
    group = stage.group()
    z = perched(stage, group)
    draws, reach = own(stage.draws, "perch"), group.width / 2 + 0.4
    s = draws.pick("side", (-1, 1))
    if exterior.grass:  # a branch, its tree to one side
        limb = tube(
            [
                (s * (reach + 1.2), 0.1, z - 0.12),
                (s * reach, 0, z - 0.014),
                (-s * reach, 0, z - 0.011),
            ],
            [0.05, 0.014, 0.011],
        )
        stage.room(laid(limb, bark((112, 96, 80), 0)))
        stage.room(
            laid(
                tube(
                    [(s * (reach + 1.3), 0.1, -0.1), (s * (reach + 1.15), 0.1, 4.5)], [0.16, 0.11]
                ),
                bark((112, 96, 80), 0),
            )
        )
        for k in range(stage.many(8, 26)):
            own_ = own(draws, f"leaf{k}")
            stage.put(
                vegetation.bush(own_, own_("s", 0.05, 0.11)),
                own_("x", -reach - 0.1, reach + 0.9) * s,
                own_("y", -0.05, 0.1),
                z + own_("z", -0.16, 0.0),
            )
    else:  # an iron rail between posts
        rail = [
            tube([(-reach, 0, z - 0.016), (reach, 0, z - 0.016)], 0.016),
            *(tube([(q * reach, 0, 0), (q * reach, 0, z)], 0.022) for q in (-1, 1)),
        ]
        stage.room(*(Part(r, IRON) for r in rail))
    return group.depth / 2 + 0.4


def _fits(stage: Stage, exterior: Exterior, widest: float) -> None:
    for size in stage.need.sizes:
        if max(size) > widest:
            raise refuse(exterior.name, stage.need, f"at most {widest:g} m; put it on the ground")


def along(
    stage: Stage,
    thing: Maker,
    draws: Draws,
    xs: tuple[float, float],
    y: float,
    step: float,
    *,
    wander: float = 0.0,
) -> None:
    """The same sort of piece again and again along a line, where it hides nothing."""
    x, k = xs[0] + step * draws("start", 0.1, 0.9), 0
    while x < xs[1] and k < 24:
        stage.put(thing(own(draws, f"{k % 2}")), x, y + draws(f"y{k}", -wander, wander))
        x += step * draws(f"step{k}", 0.75, 1.25)
        k += 1


def passers_by(
    stage: Stage, draws: Draws, xs: tuple[float, float], ys: tuple[float, float], most: int = 3
) -> None:
    """Now and then somebody walks or stands there, where they hide nothing."""
    if not draws.chance("anybody", 0.6):
        return
    for k in range(draws.count("how-many", 1, most)):
        walks = draws.chance(f"walks{k}", 0.65)
        who = person(own(draws, f"who{k}"), "walking" if walks else "standing")
        for trial in range(4):
            spot = Draws("passer-by", draws(f"{k}-{trial}"))
            turn = (
                spot.pick("way", (-90, 90)) + spot("veer", -25, 25)
                if walks
                else spot("turn", 0, 360)
            )
            if stage.put(who, spot("x", *xs), spot("y", *ys), 0.012, turn):
                break


def house_row(
    stage: Stage,
    draws: Draws,
    x0: float,
    x1: float,
    y: float,
    *,
    turn: float = 0.0,
    floors: tuple[int, int] = (2, 4),
    designs: int = 3,
) -> None:
    """A row of fronts from x0 to x1, or along y when turned; a few designs again and again."""
    made = [
        houses.house(
            own(draws, f"house{k}"),
            draws(f"w{k}", 5.5, 11.0),
            draws.count(f"f{k}", *floors),
            fine=max(stage.need.sizes[0]) <= HUGE,
        )
        for k in range(designs)
    ]
    x, k = x0, draws.count("first", 0, designs - 1)
    while x < x1:
        house = made[k % designs]
        wide = float(house.bounds[1][0] - house.bounds[0][0])
        middle = x + wide / 2
        pose = moved(middle, y) if not turn else moved(y, middle, turn=turn)
        stage.room(house, pose=pose)
        x += wide
        k += 1 + draws.count(f"skip{x:.1f}", 0, 1)
