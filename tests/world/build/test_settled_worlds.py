"""A world whose pictures settle what every turn means, and the proof of it."""

from __future__ import annotations

import io
import shutil
from collections import Counter
from pathlib import Path

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from msgspec.structs import replace
from painted_worlds import Painter, meaning, meant
from PIL import Image
from plain_voice import plain
from small_worlds import small_request

from mmrag.errors import DataError, SpecError
from simulator.run.run_config import RunConfig
from simulator.world.build.folder import build, make_plan
from simulator.world.build.world_request import LIFE
from simulator.world.checks.verify import verify_world
from simulator.world.checks.world_stats import world_stats
from simulator.world.language import conversations
from simulator.world.language.questions.question_records import NAMED
from simulator.world.pictures import scene as scenes
from simulator.world.pictures.referents import AMBIGUOUS
from simulator.world.pictures.session_pictures import (
    TRIES,
    RivalPlan,
    plan_rivals,
    session_scene,
    take_picture,
)
from simulator.world.sessions import SETTLED, World

SHARES = {"alone": 0.2, "attention": 0.2, "hand": 0.2, "gaze": 0.2, "ambiguous": 0.2}
REQUEST = replace(
    small_request(pictures=True, singles=4, conversations=40, kg_pictures=4, ego=(90, 120)),
    difficulty=replace(LIFE, settled=SHARES),
)


@pytest.fixture
def painter(monkeypatch: pytest.MonkeyPatch) -> Painter:
    return paint(monkeypatch)


def paint(monkeypatch: pytest.MonkeyPatch) -> Painter:
    painter, make = Painter(), conversations.make_sessions
    monkeypatch.setattr(scenes, "renderer", lambda: painter)
    monkeypatch.setattr(conversations, "make_sessions", lambda *a, **k: meaning(make(*a, **k)))
    return painter


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    with pytest.MonkeyPatch.context() as patch:
        paint(patch)
        out = tmp_path_factory.mktemp("painted") / "world"
        build(REQUEST, out)
    return out


def problems(folder: Path) -> list[str]:
    """Those about what is meant; the files' hashes are another check."""
    return [p for p in verify_world(folder).problems if "sha256" not in p and "bytes" not in p]


def changed(world: Path, tmp_path: Path, change: object) -> list[str]:
    """What verify says of the folder when a row of its conversations was changed."""
    folder = tmp_path / "changed"
    shutil.copytree(world, folder)
    path = folder / "multi-turn.parquet"
    table = pq.read_table(path)
    rows = table.to_pylist()
    change(rows)  # type: ignore[operator]
    pq.write_table(pa.Table.from_pylist(rows, schema=table.schema), path)
    before = problems(world)
    return [p for p in problems(folder) if p not in before]


def test_every_way_is_met_and_stored_with_the_turn(world: Path) -> None:
    ways = Counter(turn.meta.get(SETTLED) for s in World(world) for turn in s.turns)
    assert {"alone", "attention", "words", "hand", "history", "gaze", AMBIGUOUS} <= set(ways)
    assert all(turn.gaze is not None for s in World(world) for turn in s.turns)
    assert verify_world(world).problems == ()


def test_stats_count_what_is_in_view(world: Path) -> None:
    """Painted as attended to, or all alike: then the middle and the size tell nothing."""
    shown = {f.name: f.generated for f in world_stats(world).figures if f.group == "What is meant"}
    ways = [way for s in [*World(world), *World(world, split="single-turn")]
            for t in s.turns if (way := t.meta.get(SETTLED))]  # fmt: skip
    assert shown["turns settled by hand"] == pytest.approx(100 * ways.count("hand") / len(ways))
    assert 0 < shown["of these, the thing meant is the largest"] < 100
    assert shown["egocentric, the thing's box at least 0.04 of the picture"] == 100


def test_the_same_request_gives_the_same_company() -> None:
    sessions = [meant(s) for s in make_plan(REQUEST).multi]
    facts = make_plan(REQUEST).facts
    one, two = (plan_rivals(list(reversed(s)), facts, REQUEST) for s in (sessions, sessions[::-1]))
    assert one.keys() == two.keys()
    none = replace(REQUEST, difficulty=replace(LIFE, rivals=0))
    assert plan_rivals(sessions, facts, none) == {}
    assert all(0 < len(company.rivals) <= LIFE.rivals for company in one.values())


def test_two_things_that_change_places_are_found_out(world: Path, tmp_path: Path) -> None:
    def swap(rows: list[dict]) -> None:
        row = next(r for r in rows if "attention" in r["extra"]["settled_by"])
        owners = np.asarray(Image.open(io.BytesIO(row["owner_image"]["bytes"]))).copy()
        one, two = owners == 1, owners == 2
        owners[one], owners[two] = 2, 1
        buffer = io.BytesIO()
        Image.fromarray(owners).save(buffer, "PNG")
        row["owner_image"]["bytes"] = buffer.getvalue()

    found = changed(world, tmp_path, swap)
    assert any("said to be settled by attention; the picture says ambiguous" in p for p in found)
    assert any("the wearer looks beside the thing that is meant" in p for p in found)


def test_another_way_and_another_gaze_are_found_out(world: Path, tmp_path: Path) -> None:
    def claim(rows: list[dict]) -> None:
        rows[0]["extra"]["settled_by"][0] = "words"
        rows[1]["extra"]["gaze"][0] = [0.0, 0.0]

    found = changed(world, tmp_path, claim)
    assert any("said to be settled by words" in p for p in found)
    assert any("looks beside" in p for p in found)


def test_a_thing_that_no_answer_named_is_found_out(world: Path, tmp_path: Path) -> None:
    def claim(rows: list[dict]) -> None:
        row = next(r for r in rows if r["extra"]["settled_by"][1] == "history")
        note = msgspec.json.decode(row["extra"]["notes"][1])
        row["extra"]["notes"][1] = msgspec.json.encode({**note, "settled_by": NAMED}).decode()
        row["answers"]["ans_full"][0] = "It is red."

    found = changed(world, tmp_path, claim)
    assert any("no earlier answer names the thing that is meant" in p for p in found)


@pytest.mark.parametrize("point", [[0.5, 1.5], [0.5], [float("nan"), 0.5]])
def test_a_gaze_that_is_no_point_costs_its_session(
    world: Path, tmp_path: Path, point: list[float]
) -> None:
    def break_it(rows: list[dict]) -> None:
        rows[0]["extra"]["gaze"][0] = point

    found = changed(world, tmp_path, break_it)
    assert any("looks beside" in p for p in found)
    assert any("give shares of the picture" in p for p in found)
    first = next(iter(World(tmp_path / "changed")))
    with pytest.raises(DataError, match="give shares of the picture, 0 to 1"):
        _ = first.capture.image.data  # type: ignore[union-attr]


def test_a_run_asks_what_its_assistant_can_know(world: Path) -> None:
    everything = list(World(world))
    ways = [{turn.meta.get(SETTLED) for turn in s.turns} for s in everything]
    for config in (RunConfig(), RunConfig(gaze="on"), RunConfig(wearer="live")):
        data = World(world, without=config.not_given)
        asked = [s.id for s in data]
        assert len(data) == len(asked)
        wanted = [s.id for s, of in zip(everything, ways, strict=True)
                  if not of & set(config.not_given)]  # fmt: skip
        assert asked == wanted
    assert RunConfig(wearer="live").not_given == ()
    assert set(RunConfig().not_given) - set(RunConfig(gaze="on").not_given) == {"gaze"}


def test_ambiguous_conversations_are_a_split_of_their_own(world: Path) -> None:
    data = World(world, split="ambiguous")
    assert len(data) == len(list(data)) > 0
    assert all(AMBIGUOUS in {t.meta.get(SETTLED) for t in s.turns} for s in data)
    assert data.fingerprint != World(world).fingerprint
    with pytest.raises(SpecError, match="multi-turn, single-turn, ambiguous"):
        World(world, split="validation")


def test_a_folder_from_before_opens_without_them(world: Path, tmp_path: Path) -> None:
    folder = tmp_path / "old"
    shutil.copytree(world, folder)
    path = folder / "multi-turn.parquet"
    table = pq.read_table(path)
    rows = table.to_pylist()
    for row in rows:
        for name in ("settled_by", "gaze"):
            del row["extra"][name]
    place = table.schema.get_field_index("extra")
    known = [f for f in table.schema.field("extra").type if f.name not in ("settled_by", "gaze")]
    schema = table.schema.set(place, pa.field("extra", pa.struct(known)))
    pq.write_table(pa.Table.from_pylist(rows, schema=schema), path)
    old = World(folder, without=RunConfig().not_given)
    assert len(old) == len(list(old)) == REQUEST.conversations
    assert all(t.gaze is None and SETTLED not in t.meta for s in old for t in s.turns)
    assert not [p for p in problems(folder) if "settled" in p or "looks" in p]


def test_neighbours_that_a_question_brings_count_for_what_settles_it() -> None:
    """They took the wearer's hand as well, and half as many as declared stood alone."""
    plan = make_plan(replace(REQUEST, difficulty=LIFE))
    brought = [s for s in plan.multi if len(s.visible) > 1]
    company = plan_rivals(plan.multi, plan.facts, replace(REQUEST, difficulty=LIFE))
    assert brought
    assert not {s.id for s in brought} & company.keys()
    alone = len(plan.multi) - len(brought) - len(company)
    assert abs(alone - LIFE.settled["alone"] * len(plan.multi)) <= 1


@pytest.mark.parametrize("voices", [REQUEST.voices, (plain(),)])
def test_things_side_by_side_are_pointed_at_where_a_turn_means_one_of_them(
    voices: tuple[str, ...],
) -> None:
    """Errands stay with what an answer named, which needs no finger; the plain voice jumps."""
    request = replace(REQUEST, voices=voices)
    plan = make_plan(request)
    pointed = set[bool]()
    for session in (*plan.multi, *plan.single):
        scene = session_scene(session, plan.facts, request)
        assert scene.place == session.place
        if scene.is_ego and len(session.visible) > 1:
            seen = [q for q in session.questions if q.settled_by not in ("", NAMED)]
            meant = [(q.settled_by, q.means) for q in seen]
            every = all(set(of) == set(session.visible) and way != "words" for way, of in meant)
            assert scene.pointed_at is not every
            assert not scene.attended
            pointed.add(scene.pointed_at)
    assert (voices != REQUEST.voices) in pointed


def test_what_looks_do_not_settle_is_taken_again_then_pointed_at(
    painter: Painter, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = make_plan(REQUEST)
    one = next(s for s in plan.multi if len(s.visible) == 1)
    other = next(e.id for e in plan.facts.of_kind(one.visible[0].rpartition("-")[0])
                 if e.id not in one.visible)  # fmt: skip

    class Crowded(Painter):
        def compose(self, scene):
            shown = super().compose(replace(scene, attended=False))
            self.scenes[-1] = scene
            return shown

    painter = Crowded()
    monkeypatch.setattr(scenes, "renderer", lambda: painter)
    shot = take_picture(one, "clean", plan.facts, REQUEST, RivalPlan("attention", (other,)))
    assert "hand" in shot.settled_by
    assert [scene.pointed_at for scene in painter.scenes] == [False, False, True]
    assert len({scene.key for scene in painter.scenes}) == 3


def test_words_that_nothing_settles_name_the_cure(
    painter: Painter, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = make_plan(REQUEST)
    one = next(s for s in plan.multi if len(s.visible) > 2)
    kind = plan.facts.entity(one.entity_id).kind
    first = replace(one.questions[0], means=one.visible[:2], could_mean=(kind,), settled_by="words")
    open_ = replace(one, questions=(first,))

    class Alike(Painter):
        def compose(self, scene):
            return super().compose(replace(scene, attended=False, pointed_at=False))

    monkeypatch.setattr(scenes, "renderer", Alike)
    with pytest.raises(DataError, match=r"settles which of them is meant; give the world another"):
        take_picture(open_, "clean", plan.facts, REQUEST)
    assert TRIES == 4


def test_a_world_is_not_given_up_for_a_thing_hidden_in_the_first_pictures(
    painter: Painter, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = make_plan(REQUEST)
    one = next(s for s in plan.multi if len(s.visible) > 2)
    kind = plan.facts.entity(one.entity_id).kind
    all_ = replace(one.questions[0], means=one.visible, could_mean=(kind,), settled_by="words")

    class Hiding(Painter):
        def compose(self, scene):
            shown = super().compose(scene)
            *seen, last = shown.masks
            hidden = len({scene.key for scene in self.scenes}) <= 2 * TRIES
            return shown._replace(masks=(*seen, last & (not hidden)))

    painter = Hiding()
    monkeypatch.setattr(scenes, "renderer", lambda: painter)
    assert take_picture(replace(one, questions=(all_,)), "clean", plan.facts, REQUEST).settled_by
    assert len({scene.key for scene in painter.scenes}) == 2 * TRIES + 1
