"""The pictures of sessions: rendered clean, then degraded as CRAG-MM's shares have it.

Both are kept where they differ. The picture in CRAG-MM's own column is what the camera caught, so
that its quality label is true of its bytes; the clean rendering stands beside it, so that a
paired experiment can start from it.

Which sessions have rivals in view, and how many, are quotas, as the shares of questions are, over
those whose questions bring no neighbours of their own.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from mmrag.errors import DataError
from mmrag.files.images import LazyImage
from mmrag.records import Box, Gaze, Polygon, Record
from simulator.world.build.randomness import Draw
from simulator.world.build.world_request import WorldRequest
from simulator.world.facts.factbase import FactBase
from simulator.world.facts.look import Look
from simulator.world.language.questions.question_records import NAMED, Conversation
from simulator.world.language.session_plans import quota
from simulator.world.pictures.referents import (
    AMBIGUOUS,
    Owners,
    gazes,
    referent_cues,
    view_questions,
)
from simulator.world.pictures.scene import Rendered, Scene

_LOOK_ALIKE = 0.5
"""How often a rival is of the same family; else it is any other of the kind."""


_SEEN_ALONE = {"bridge"}
"""Kinds of which nobody has another in view that is not spoken of."""


class RivalPlan(Record, frozen=True):
    """How the thing asked about is to be told from what else is in view."""

    way: str = "alone"
    """As `Question.settled_by`, or `AMBIGUOUS` on purpose."""
    rivals: tuple[str, ...] = ()
    """Things that nothing is asked about and that the words could mean."""


ALONE = RivalPlan()


def plan_rivals(
    sessions: Sequence[Conversation], facts: FactBase, request: WorldRequest
) -> dict[str, RivalPlan]:
    """Session → its company. Those whose questions speak of neighbours bring their own and count as
    settled by words or by a hand; where they are more than is declared, fewer others have company,
    so that as many as declared stand alone. The sessions are those of one set whose pictures are
    egocentric."""
    free = [
        s.id for s in sessions
        if len(s.visible) == 1 and s.questions[0].means
        and facts.entity(s.entity_id).kind not in _SEEN_ALONE
    ]  # fmt: skip
    order = Draw(facts.seed, "company").shuffled(sorted(free))
    left: dict[str, float] = {**quota(request.difficulty.settled, len(sessions))}
    for session in sessions:
        if len(session.visible) > 1:
            way = "words" if session.questions[0].means[1:] else "hand"
            left[way] = left.get(way, 0) - 1
    surplus = sum(max(0, -left.get(way, 0)) for way in ("words", "hand"))
    others = {way: max(0, left.get(way, 0)) for way in ("attention", "hand")}
    fewer = max(0.0, 1 - surplus / max(1, sum(others.values())))
    left |= {way: n * fewer for way, n in others.items()}
    shares = {way: max(n, 0) for way, n in left.items() if way != "words"}
    if not sum(shares.values()):
        shares = {"alone": 1}
    ways = [way for way, n in quota(shares, len(order)).items() for _ in range(n)]
    by_id = {session.id: session for session in sessions}
    return {
        name: RivalPlan(way, _rivals(by_id[name], facts, request.difficulty.rivals, way))
        for name, way in zip(order, ways, strict=True)
        if way != "alone" and request.difficulty.rivals
    }


def _rivals(session: Conversation, facts: FactBase, most: int, way: str) -> tuple[str, ...]:
    main = facts.entity(session.entity_id)
    draw = Draw(facts.seed, "rivals", session.id)
    family = [e.id for e in facts.family(main) if e.id != main.id]
    others = [e.id for e in facts.of_kind(main.kind) if e.id != main.id]
    count = 1 if way == AMBIGUOUS else draw.between(1, most)
    chosen: dict[str, None] = {}
    for _ in range(count):
        pool = family if family and draw.chance(_LOOK_ALIKE) else others
        if pool := [i for i in pool if i not in chosen]:
            chosen[draw.pick(pool)] = None
    return tuple(chosen)


EGO_SHARE = 6248 / (6248 + 1695)
"""Egocentric among all published pictures."""

NEARNESS = (0.8, 1.2)
"""How large things are in egocentric pictures, as `Scene.entity_scale`: mostly 2 to 10 % of them.

So chosen, with the clutter, that the built-in encoder, shown the whole picture, has the thing among
its first 30 about as often as CLIP has on CRAG-MM (52 %); measured in docs/benchmarks/search.md.
Print that a question needs is held closer: the renderer keeps it large enough to read.
"""

TRIES = 4
"""Pictures that are taken of a session until what is meant is settled; in the second half of them
a finger points at what has rivals."""

LAST_TRIES = 16
"""The same where gaze counts too: of four things that "these" means one may be hidden in each of
the first pictures, and a world is not given up for it."""

CLUTTER = 0.9
"""How much else there is in egocentric pictures, as `Scene.clutter`."""


class SessionPicture(Record, frozen=True, kw_only=True):
    """A session's picture, clean and as captured."""

    scene: Scene
    things: tuple[str, ...]
    """Ids of what stands in it, the thing asked about first."""
    clean: bytes
    polygon: Polygon
    other_polygons: tuple[Polygon, ...]
    texts: tuple[tuple[str, Box], ...]
    visible: tuple[float, ...]
    """How much of each thing nothing stands before, the one asked about first."""
    settled_by: tuple[str, ...]
    """Per turn, how the clean picture and the words settle which thing is meant (`referents`)."""
    gazes: tuple[Gaze | None, ...]
    """Per turn, where in the clean picture the wearer looks."""
    owners: bytes
    """Which thing each pixel of the clean picture shows (`pixel_truth`)."""
    depth: bytes
    degradation: str = "clean"
    captured: bytes | None = None
    captured_focus: Box | None = None
    """The box of what remains visible of the entity."""
    captured_polygon: Polygon | None = None
    record: Any = None


def session_scene(
    conversation: Conversation,
    facts: FactBase,
    request: WorldRequest,
    company: RivalPlan = ALONE,
    attempt: int = 0,
) -> Scene:
    """What the wearer looks at: the thing asked about, the others that questions refer to, and its
    rivals. Another attempt is another place, with a finger that points where looks did not help, or
    from the first where a turn tells one from those beside it."""
    looks = [_look(facts, i) for i in (*conversation.visible, *company.rivals)]
    ego = is_ego(conversation, facts.seed)
    beside = ego and len(conversation.visible) > 1
    if beside:  # side by side; a finger tells one from the others where a turn does
        pointed_at = _tells_apart(conversation)
    else:
        pointed_at = company.way == "hand" or (len(looks) > 1 and attempt >= TRIES // 2)
    width, height = request.ego if ego else (request.catalogue, request.catalogue)
    plain = Scene(
        main=looks[0],
        others=tuple(looks[1:]),
        is_ego=ego,
        attended=company.way not in ("gaze", AMBIGUOUS) and not beside,
        whole_others=not company.rivals,
        pointed_at=ego and pointed_at and company.way not in ("gaze", AMBIGUOUS),
        place=conversation.place,
        legible=conversation.text_clue,
        key=f"{facts.seed}/{conversation.id}" + (f"/{attempt}" if attempt else ""),
        width=width,
        height=height,
    )
    if not ego:
        return plain
    near = Draw(facts.seed, "nearness", conversation.id).uniform(*NEARNESS)
    return msgspec.structs.replace(plain, entity_scale=round(near, 3), clutter=CLUTTER)


def _tells_apart(conversation: Conversation) -> bool:
    """Whether a turn means some of the things only, or one beside another."""
    every = set(conversation.visible)
    return any(
        q.settled_by == "words" or (q.settled_by not in ("", NAMED) and set(q.means) != every)
        for q in conversation.questions
    )


def is_ego(conversation: Conversation, seed: int) -> bool:
    """Whether the session's picture is egocentric."""
    return Draw(seed, "ego", conversation.id).chance(EGO_SHARE)


def assign_qualities(sessions: Sequence[Conversation], seed: int) -> dict[str, str]:
    """Session → degradation as a spec, often `clean`: CRAG-MM's shares, met to within one."""
    from simulator.optics import QualityMix

    mix = QualityMix.crag_mm()
    specs: dict[str, str] = {}
    for ego in (True, False):
        ids = [s.id for s in sessions if is_ego(s, seed) is ego]
        specs |= {i: str(spec) for i, spec in mix.assign(ids, seed=seed, is_ego=ego).items()}
    return specs


def quality_of(spec: str) -> str:
    """The quality label that a degradation earns: `blurred:motion@2` is `blurred`."""
    return "normal" if spec == "clean" else re.split("[:@+]", spec, maxsplit=1)[0]


def take_picture(
    conversation: Conversation,
    spec: str,
    facts: FactBase,
    request: WorldRequest,
    company: RivalPlan = ALONE,
) -> SessionPicture:
    """Render a session's picture until it settles what is meant, and degrade it as the spec says.

    Where rivals do not let it be settled it is taken without them, and then gaze has to settle it.
    """
    shot = _settled(conversation, facts, request, company)
    if shot is None and company.rivals:
        shot = _settled(conversation, facts, request, ALONE)
    shot = shot or _settled(conversation, facts, request, ALONE, gaze=True, tries=LAST_TRIES)
    if shot is None:
        raise DataError(
            f"{conversation.id}: no picture of {', '.join(conversation.visible)} settles which of "
            "them is meant; give the world another --seed, or mend the need whose words leave it "
            f"open: {'; '.join(q.template for q in conversation.questions if q.means)}."
        )
    if spec == "clean":
        return shot
    return _degraded(shot, spec, f"{facts.seed}/{conversation.id}", request.jpeg)


def _settled(
    conversation: Conversation,
    facts: FactBase,
    request: WorldRequest,
    company: RivalPlan,
    *,
    gaze: bool = False,
    tries: int = TRIES,
) -> SessionPicture | None:
    """The first picture in which every turn is settled as the company wants it."""
    from simulator.world.pictures.pixel_truth import owners_of
    from simulator.world.pictures.scene import renderer

    visible = (*conversation.visible, *company.rivals)
    kinds = [facts.entity(name).kind for name in visible]
    asked = view_questions(
        ((q.means, q.could_mean, q.settled_by) for q in conversation.questions), visible
    )
    for attempt in range(tries):
        scene = session_scene(conversation, facts, request, company, attempt)
        rendered = renderer().compose(scene)
        owners = owners_of(rendered.masks, rendered.hand)
        by_gaze = company.way == "gaze"
        ways = referent_cues(owners, kinds, asked, gaze=gaze or by_gaze)
        if (AMBIGUOUS in ways) == (company.way == AMBIGUOUS) and by_gaze <= ("gaze" in ways):
            return _shot(scene, rendered, owners, visible, ways, gazes(owners, asked), request)
    return None


def _shot(
    scene: Scene,
    rendered: Rendered,
    owners: Owners,
    visible: tuple[str, ...],
    ways: Sequence[str],
    points: Sequence[Gaze | None],
    request: WorldRequest,
) -> SessionPicture:
    from simulator.world.pictures.pixel_truth import encode_depth, encode_owners

    clean = encode_jpeg(rendered.image, request.jpeg)
    return SessionPicture(
        scene=scene,
        things=visible,
        settled_by=tuple(ways),
        gazes=tuple(points),
        clean=clean,
        polygon=_rounded(rendered.polygon),
        other_polygons=tuple(_rounded(p) for p in rendered.other_polygons),
        texts=rendered.text_boxes,
        visible=tuple(round(share, 3) for share in rendered.visible),
        owners=encode_owners(owners),
        depth=encode_depth(rendered.depth),
    )


def box_of(polygon: Polygon) -> Box:
    """The smallest upright box around a polygon."""
    xs, ys = [x for x, _ in polygon], [y for _, y in polygon]
    return (min(xs), min(ys), max(xs), max(ys))


def encode_jpeg(image: NDArray[np.uint8], quality: int = 90) -> bytes:
    """RGB pixels as a JPEG file."""
    import cv2

    done, data = cv2.imencode(".jpg", image[..., ::-1], [cv2.IMWRITE_JPEG_QUALITY, quality])
    assert done
    return data.tobytes()


def sha256(data: bytes) -> str:
    """Content hash."""
    return hashlib.sha256(data).hexdigest()


def _degraded(shot: SessionPicture, spec: str, key: str, jpeg: int) -> SessionPicture:
    from simulator.optics import degrade

    done = degrade(
        LazyImage.from_bytes(shot.clean, name=key),
        spec,
        focus=box_of(shot.polygon),
        polygon=shot.polygon,
        key=key,
    )
    return msgspec.structs.replace(
        shot,
        degradation=spec,
        captured=encode_jpeg(done.image, jpeg),
        captured_focus=done.record.box,
        captured_polygon=_rounded(done.record.polygon) if done.record.polygon else None,
        record=msgspec.to_builtins(done.record),
    )


def _look(facts: FactBase, entity_id: str) -> Look:
    look = facts.entity(entity_id).look
    assert look is not None, f"{entity_id} cannot stand in a picture"
    return look


def _rounded(polygon: Polygon) -> Polygon:
    return tuple((round(float(x), 2), round(float(y), 2)) for x, y in polygon)
