"""Every kind of fault for a whole run: it ends, statuses are exact, other turns are as ever."""

from __future__ import annotations

import asyncio
import hashlib
import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pandas as pd
import pytest
from called_command import mmrag
from PIL import Image
from small_runs import Equality, make_session

from mmrag.errors import SpecError, UsageError
from mmrag.files.images import LazyImage
from mmrag.models.scripted import ScriptedModel
from mmrag.protocols import Message, Resources
from mmrag.records import Evidence, Exchange, Query, Reply, Session, Status, TurnResult
from simulator.application.execution import forget_failures
from simulator.faults import parts, pictures, turn
from simulator.faults.inputs import POOL, given, strangers
from simulator.faults.parts import with_faults
from simulator.faults.pictures import arrived
from simulator.faults.spec import KINDS, SHARES, WRONG_INPUT, faults, is_hit
from simulator.faults.turn import DELAYS, Met
from simulator.parts.agent_host import Hosting
from simulator.parts.run_parts import Parts
from simulator.reports.draw.write import make_report
from simulator.reports.figures.report import ReportOptions
from simulator.run.config import RunConfig
from simulator.run.engine import Rules
from simulator.run.results.turn_results import failure_note, fault_note
from simulator.run.runner import Plan, run_sessions
from simulator.run.stop_policies import StopPolicy
from simulator.store.run_store import RunReader, RunStore

HITS = 40


def hits(source: str, asked: str, k: int) -> tuple[Evidence, ...]:
    return tuple(
        Evidence(
            source=source, id=f"{asked}-{i}", score=1 / (i + 1), date=f"2030-01-{i % 28 + 1:02d}"
        )
        for i in range(min(k, HITS))
    )


class Web:
    def search_text(self, queries: Sequence[str], k: int = 50) -> list[tuple[Evidence, ...]]:
        return [hits("web", query, k) for query in queries]


class Pictures:
    def search_images(self, images: Sequence[LazyImage], k: int = 30) -> list[tuple[Evidence, ...]]:
        return [hits("image-kg", image.sha256[:6], k) for image in images]


def script(messages: Sequence[Message]) -> str:
    return f"the model heard {messages[0].text}"


class Everything:
    """Looks, searches twice and asks its model; says a hash of all that it was given."""

    def __init__(self, resources: Resources) -> None:
        assert resources.model is not None
        self.resources, self.model = resources, resources.model("scripted")

    async def answer(self, query: Query) -> Reply:
        web, pictures = self.resources.web_search, self.resources.image_search
        assert web is not None
        assert pictures is not None
        seen = (
            "nothing" if query.image is None else f"{query.image.pil().size} {query.image.sha256}"
        )
        images = [] if query.image is None else [query.image]
        # in threads, as searches are asked for: what happens there is this turn's, too
        found = await asyncio.to_thread(web.search_text, [query.text], 5)
        shown = await asyncio.to_thread(pictures.search_images, images, 5)
        said = await self.model.generate([Message(role="user", text=query.text)])
        all_of_it = repr((seen, [[e.id for e in es] for es in [*found, *shown]], said.text))
        return Reply(text=hashlib.sha256(all_of_it.encode()).hexdigest()[:12])


RESOURCES = Resources(
    web_search=Web(), image_search=Pictures(), model=lambda _spec: ScriptedModel(script)
)


def held(folder: Path, sessions: list[Session], *conditions: str, **rules: Any) -> list[TurnResult]:
    with RunStore(folder) as store:
        store.set_meta("judge", "equality")
        never = StopPolicy.parse("never")
        chosen = Rules(**{"seconds": 5.0, "seed": 7, "strangers": strangers(made()), **rules})
        plan = Plan(faults=conditions, stop=never, rules=chosen, concurrency=64)
        work = iter(list(enumerate(sessions)))
        agent = Everything(with_faults(RESOURCES))
        asyncio.run(run_sessions(work, agent, Equality(), store, plan))
    with RunReader(folder) as run:
        return list(run.results())


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "SLOW", 0.05)
    monkeypatch.setattr(pictures, "AFFORDED", 500)
    monkeypatch.setattr(turn, "SECONDS", dict.fromkeys(turn.SECONDS, 0.05))


@pytest.fixture(scope="module")
def clean(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, int], TurnResult]:
    results = held(tmp_path_factory.mktemp("clean") / "run", made())
    return {(r.session_id, r.turn_index): r for r in results}


def made() -> list[Session]:
    return [make_session(i, turns=4) for i in range(6)]


FAILS = {
    "web-failing": Status.AGENT_ERROR, "pictures-failing": Status.AGENT_ERROR,
    "model-busy": Status.AGENT_ERROR, "model-down": Status.AGENT_ERROR,
    "model-hang": Status.TIMEOUT, "picture-broken": Status.DATA_ERROR,
}  # fmt: skip
LATE = {"web-slow", "pictures-slow", "model-slow", "network-latency", "network-jitter"}
"""These change when an answer comes, and not the answer."""


@pytest.mark.parametrize("kind", KINDS)
def test_a_run_under_any_fault_ends_and_only_the_turns_it_met_are_others(
    kind: str, clean: dict[tuple[str, int], TurnResult], tmp_path: Path
) -> None:
    condition = f"{kind}@3"
    rules = {"seconds": 0.4} if kind == "model-hang" else {}
    results = [
        r for r in held(tmp_path / "run", made(), condition, **rules) if r.degradation != "clean"
    ]
    assert ({r.degradation for r in results}, len(results)) == ({condition}, len(clean))
    met = [r for r in results if r.fault]
    assert 0 < len(met) < len(results)
    for result in results:
        key = (result.session_id, result.turn_index)
        before = clean[key]
        hit = is_hit(condition, 7, *key)
        if result.status is Status.SKIPPED_AFTER_STOP:
            continue
        assert result.fault == (kind if hit and not _spared(kind, result) else "")
        if not result.fault:
            assert (result.status, result.reply) == (before.status, before.reply)
        elif kind in FAILS:
            assert result.status is FAILS[kind]
            assert result.reply is None
        else:
            assert result.status is before.status
            assert result.reply is not None
            assert (result.reply == before.reply) is (kind in LATE or kind in DELAYS)
            assert result.delay == DELAYS.get(kind, 0)
            assert kind not in LATE or result.seconds >= 0.02


def _spared(kind: str, result: TurnResult) -> bool:
    return kind == "picture-late" and result.turn_index > 0


def test_what_is_hit_depends_on_seed_session_and_turn_alone() -> None:
    keys = [(f"s{i}", t) for i in range(200) for t in range(4)]
    share = {
        level: sum(is_hit(f"web-empty@{level}", 1, *key) for key in keys) / len(keys)
        for level in range(6)
    }
    assert (share[0], share[5]) == (0, 1)
    for level, expected in enumerate(SHARES, start=1):
        assert share[level] == pytest.approx(expected, abs=0.06)
    hit = {level: {k for k in keys if is_hit(f"web-empty@{level}", 1, *k)} for level in range(6)}
    assert all(hit[level] <= hit[level + 1] for level in range(5))  # a worse one hits them too
    assert hit[3] != {key for key in keys if is_hit("web-empty@3", 2, *key)}
    assert hit[3] != {key for key in keys if is_hit("model-slow@3", 1, *key)}
    assert is_hit("web-empty@3", 1, "s0", 0) is True  # golden: another hash is another run
    assert [is_hit("model-busy@3", 0, "kettle", t) for t in range(6)] == GOLDEN


GOLDEN = [False, True, False, False, True, True]
"""By hand: the first 8 bytes of sha256 of fault, model-busy, 0, kettle and the turn, below half."""


def test_what_faults_means() -> None:
    assert faults("none") == ()
    assert (faults("all"), len(KINDS)) == (tuple(f"{kind}@3" for kind in KINDS), 32)
    assert faults("web-empty, model-busy@5,web-empty@3") == ("web-empty@3", "model-busy@5")
    assert faults("all@5") == tuple(f"{kind}@5" for kind in KINDS)
    assert faults("network@1")[0] == "network-latency@1"
    assert len(faults("network@1")) == 4
    assert faults("no-picture@5") == ("picture-missing@5",)
    assert faults("input@2") == tuple(f"{kind}@2" for kind in KINDS if kind in WRONG_INPUT)
    assert faults("web") == tuple(
        f"web-{w}@3" for w in ("empty", "slow", "stale", "wrong", "failing")
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("web-emty", "no fault is called 'web-emty'.*web-empty"), ("web-empty@6", "1 .*to 5"),
        ("web@0", "1 .*to 5"), ("low-light@3", "no fault is called 'low-light'"),
        (",", "names no fault")
    ]
)  # fmt: skip
def test_faults_that_nobody_knows(text: str, said: str) -> None:
    with pytest.raises(SpecError, match=said):
        RunConfig(faults=text)


def test_a_run_without_faults_has_the_name_it_always_had() -> None:
    assert RunConfig().fingerprint == RunConfig(faults="none").fingerprint
    assert RunConfig(faults="web").fingerprint != RunConfig().fingerprint


def test_a_conversation_without_a_picture_meets_faults_too(tmp_path: Path) -> None:
    texts = [msgspec.structs.replace(session, capture=None) for session in made()]
    of_pictures = [kind for kind in KINDS if kind.startswith("picture") or "-picture" in kind]
    of_pictures.append("other-stream")
    nothing_there = [f"{kind}@5" for kind in (*of_pictures, "network-bandwidth", "network-loss")]
    results = held(tmp_path / "run", texts, "web-failing@5", *nothing_there)
    seen = {(r.degradation, r.status, r.fault) for r in results}
    assert seen == {
        ("clean", Status.ANSWERED, ""),
        ("web-failing@5", Status.AGENT_ERROR, "web-failing"),
    }  # what concerns pictures is not asked twice for nothing


def test_a_fault_leaves_nothing_in_the_cache(tmp_path: Path) -> None:
    from mmrag.cache import Cache, share

    cached = with_faults(share(RESOURCES, Cache()))
    assert cached.web_search is not None
    with turn.meeting(turn.Met(kind="web-wrong", draw=0.5)):
        wrong = cached.web_search.search_text(["q"], 3)[0]
    right = cached.web_search.search_text(["q"], 3)[0]
    assert [e.id for e in right] == ["q-0", "q-1", "q-2"]
    assert [e.id for e in wrong] == ["q-3", "q-4", "q-5"]
    with turn.meeting(turn.Met(kind="web-stale", draw=0.5)):
        stale = cached.web_search.search_text(["q"], 4)[0]
    assert [e.id for e in stale] == ["q-0", "q-1"]  # the newer half is not known yet
    assert cached.image_search is not None
    with turn.meeting(turn.Met(kind="web-stale", draw=0.5)):
        assert len(cached.image_search.search_images([LazyImage.from_bytes(b"x")], 4)[0]) == 4


def test_faults_of_parts_that_an_agent_brings_itself_are_refused() -> None:
    config = RunConfig(agent="llm-only:model=scripted", search="none", faults="web-empty")
    with pytest.raises(UsageError, match=r"--isolate.*web-empty"):
        Parts(config).host_agent(Hosting(isolate=True), 1)
    http = RunConfig(agent="http:url=http://localhost:1", faults="model-busy,network-loss")
    with pytest.raises(UsageError, match=r"http.*its own.*model-busy.*network"):
        Parts(http).check_faults()
    Parts(RunConfig(agent=http.agent, faults="network-loss")).check_faults()
    Parts(RunConfig(agent="grounded", faults="all")).check_faults()


@pytest.mark.parametrize(
    "kind", ["picture-missing", "picture-broken", "network-bandwidth", "network-loss"]
)
def test_earlier_pictures_of_a_conversation_arrive_no_better_than_the_last(kind: str) -> None:
    noise = np.random.default_rng(1).integers(0, 255, (300, 300, 3), np.uint8)
    buffer = io.BytesIO()
    Image.fromarray(noise).save(buffer, "PNG")
    image = LazyImage.from_bytes(buffer.getvalue())
    query = Query(text="?", image=image, earlier=(image, image), turn_index=2)
    found = arrived(query, Met(kind=kind, draw=0.5))
    if kind == "picture-missing":
        assert (found.image, found.earlier) == (None, ())
    else:
        assert {one.data for one in found.earlier} == {found.image.data} != {image.data}
        assert len(found.earlier) == 2


# -- inputs

SESSIONS = [make_session(n) for n in range(12)]
OTHERS = strangers(SESSIONS)
RED, BLUE = (220, 20, 20), (20, 20, 220)


def asked(text: str = "What does the red mug cost?", turn: int = 0, **more: object) -> Query:
    image = SESSIONS[0].capture.image
    return Query(text=text, image=image, session_id="s000", turn_index=turn, **more)


def met(kind: str, query: Query, draw: float = 0.4) -> tuple[Query, Met]:
    fault = Met(kind=kind, draw=draw)
    return given(query, fault, OTHERS, (0.0, 0.0, 8.0, 16.0)), fault


def test_half_of_the_question_comes() -> None:
    query, fault = met("cut-question", asked())
    assert (query.text, fault.got) == ("What does the", "“What does the”")


def test_the_question_before_is_glued_to_it() -> None:
    before = Exchange(query="Who made it?", reply="Somebody.")
    query, fault = met("glued-question", asked(turn=1, history=(before,)))
    assert query.text == "Who made it? What does the red mug cost?"
    assert fault.is_felt
    first, _ = met("glued-question", asked())
    assert first.text.endswith(" What does the red mug cost?")
    assert first.text.startswith("question 0 of ")


def test_somebody_elses_picture_changes_with_the_turn_and_the_one_before_does_not() -> None:
    streams = {met("other-stream", asked(), d / 10)[0].image.sha256 for d in range(10)}
    before = {met("previous-picture", asked(), d / 10)[0].image.sha256 for d in range(10)}
    own = SESSIONS[0].capture.image.sha256
    assert len(streams) == POOL - 1
    assert own not in streams | before
    assert len(before) == 1
    query, fault = met("other-stream", asked(), 0.0)
    assert (query.image.sha256, fault.got) == (OTHERS[1].image.sha256, "the picture of s001")


def test_a_picture_taken_before_in_the_conversation_is_the_previous_one() -> None:
    older = SESSIONS[5].capture.image
    query, fault = met("previous-picture", asked(earlier=(older,)))
    assert (query.image.sha256, fault.got) == (older.sha256, "the picture taken before")


def test_the_view_of_before_does_not_show_the_thing() -> None:
    pixels = np.full((60, 100, 3), BLUE, np.uint8)
    pixels[10:50, 60:100] = RED
    image = LazyImage.from_pil(Image.fromarray(pixels))
    fault = Met(kind="stale-picture", draw=0.5)
    query = given(asked(), fault, (), None)
    assert fault.is_felt  # also where nobody says what the thing is
    query = given(Query(text="?", image=image), fault, (), (60.0, 10.0, 100.0, 50.0))
    shown = np.asarray(query.image.pil())
    assert shown.shape == pixels.shape
    assert (shown[:, :, 0] < 80).all()


@pytest.mark.parametrize("kind", ["other-stream", "previous-picture", "stale-picture"])
def test_without_a_picture_or_anybody_else_nothing_is_felt(kind: str) -> None:
    fault = Met(kind=kind, draw=0.5)
    query = Query(text="?")
    assert given(query, fault, OTHERS) is query
    if kind != "stale-picture":
        assert given(asked(), fault, OTHERS[:1]) == asked()
    assert not fault.is_felt


def test_a_run_has_others_pictures_only_where_a_fault_needs_them() -> None:
    assert Parts(RunConfig(faults="web")).plan(1).rules.strangers == ()
    found = Parts(RunConfig(faults="input", limit=1)).plan(1).rules.strangers
    assert len({one.session_id for one in found}) == POOL


# -- fault report


def test_a_report_says_what_each_fault_did_and_how_many_turns_met_it(tmp_path: Path) -> None:
    held(tmp_path / "run", made(), "web-failing@3", "picture-late@5", "model-slow@1")
    make_report([tmp_path / "run"], tmp_path / "report", ReportOptions(resamples=50))
    run = json.loads((tmp_path / "report" / "report.json").read_text())["runs"][0]
    points = {point["condition"]: point for point in run["robustness"]["points"]}
    turns = pd.read_parquet(tmp_path / "report" / "turns.parquet")
    for condition, point in points.items():
        rows = turns[turns.condition == condition]
        assert point["fault"]["met"] == rows.met_fault.sum() > 0
        assert point["fault"]["turns"] == 24
        failed = (rows.status == "agent_error").sum()
        assert point["fault"]["failed"] == failed
        assert bool(failed) is (condition == "web-failing@3")
    assert points["picture-late@5"]["fault"]["met"] == 6  # the first turn of each conversation
    page = (tmp_path / "report" / "report.html").read_text()
    assert "the web search raises an error" in page
    assert "the picture is not there yet at the first question" in page


def test_a_failure_that_a_fault_made_is_not_asked_again(tmp_path: Path) -> None:
    held(tmp_path / "run", made(), "web-failing@3")
    with RunReader(tmp_path / "run") as run:
        before = run.turn_counts()
        assert before["agent_error"] > 0
        assert failure_note(run) is None
    assert forget_failures(tmp_path / "run") == 0
    with RunReader(tmp_path / "run") as run:
        assert run.turn_counts() == before


def test_a_condition_in_which_every_turn_failed_is_told_of(tmp_path: Path) -> None:
    """It has no change from clean, and was left out where the hardest condition is named."""
    held(tmp_path / "run", made(), "web-failing@5", "model-garbage@5")
    make_report([tmp_path / "run"], tmp_path / "report", ReportOptions(resamples=50))
    page = (tmp_path / "report" / "report.html").read_text()
    assert "Under <b>web-failing@5</b> not one turn could be scored" in page
    assert "Under <b>model-garbage@5</b>" not in page
    assert "The largest loss" not in page


def test_a_run_says_beforehand_and_afterwards_that_a_fault_is_not_felt(tmp_path: Path) -> None:
    said = mmrag(
        "run", "--data", "mini", "--limit", "2", "--agent", "random", "--search", "none",
        "--judge", "exact", "--faults", "web-empty@5,network-loss@5", "--out", str(tmp_path / "r"),
    ).stderr  # fmt: skip
    flat = " ".join(said.split())
    assert "this run searches nothing, so no turn will feel web-empty@5." in flat
    assert "no turn felt web-empty@5: this assistant does not use what fails there" in flat
    with RunReader(tmp_path / "r") as run:
        assert fault_note(run, ("network-loss@5",), seed=0) is None  # felt
        assert fault_note(run, ("picture-missing@5",), seed=0) is None  # not held at all
