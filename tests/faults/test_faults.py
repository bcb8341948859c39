"""Every kind of fault for a whole run: it ends, statuses are exact, other turns are as ever."""

from __future__ import annotations

import asyncio
import hashlib
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from PIL import Image
from small_runs import Equality, make_session

from mmrag.errors import UsageError
from mmrag.files.images import LazyImage
from mmrag.models.scripted import ScriptedModel
from mmrag.protocols import Message, Resources
from mmrag.records import Evidence, Query, Reply, Session, Status, TurnResult
from simulator.faults import current_fault, failing_parts, picture_faults
from simulator.faults.current_fault import DELAYS, ActiveFault
from simulator.faults.failing_parts import with_faults
from simulator.faults.fault_kinds import KINDS, SHARES, WRONG_INPUT, fault_meets_turn, parse_faults
from simulator.faults.picture_faults import apply_picture_fault
from simulator.faults.wrong_inputs import other_conversations
from simulator.parts.isolation_options import IsolationOptions
from simulator.parts.run_parts import Parts
from simulator.run.engine import Rules
from simulator.run.run_config import RunConfig
from simulator.run.runner import Plan, run_sessions
from simulator.run.stop_policies import StopPolicy
from simulator.store.run_reader import RunReader
from simulator.store.run_store import RunStore

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
        chosen = Rules(
            **{"seconds": 5.0, "seed": 7, "strangers": other_conversations(made()), **rules}
        )
        plan = Plan(faults=conditions, stop=never, rules=chosen, concurrency=64)
        work = iter(list(enumerate(sessions)))
        agent = Everything(with_faults(RESOURCES))
        asyncio.run(run_sessions(work, agent, Equality(), store, plan))
    with RunReader(folder) as run:
        return list(run.results())


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(failing_parts, "SLOW", 0.05)
    monkeypatch.setattr(picture_faults, "AFFORDED", 500)
    monkeypatch.setattr(current_fault, "SECONDS", dict.fromkeys(current_fault.SECONDS, 0.05))


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
    assert {r.degradation for r in results} == {condition}
    assert len(results) == len(clean)
    met = [r for r in results if r.fault]
    assert 0 < len(met) < len(results)
    for result in results:
        key = (result.session_id, result.turn_index)
        before = clean[key]
        hit = fault_meets_turn(condition, 7, *key)
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
        level: sum(fault_meets_turn(f"web-empty@{level}", 1, *key) for key in keys) / len(keys)
        for level in range(6)
    }
    assert share[0] == 0
    assert share[5] == 1
    for level, expected in enumerate(SHARES, start=1):
        assert share[level] == pytest.approx(expected, abs=0.06)
    hit = {
        level: {k for k in keys if fault_meets_turn(f"web-empty@{level}", 1, *k)}
        for level in range(6)
    }
    assert all(hit[level] <= hit[level + 1] for level in range(5))  # a worse one hits them too
    assert hit[3] != {key for key in keys if fault_meets_turn("web-empty@3", 2, *key)}
    assert hit[3] != {key for key in keys if fault_meets_turn("model-slow@3", 1, *key)}
    # golden: another hash is another run
    assert fault_meets_turn("web-empty@3", 1, "s0", 0) is True
    assert [fault_meets_turn("model-busy@3", 0, "kettle", t) for t in range(6)] == GOLDEN


GOLDEN = [False, True, False, False, True, True]
"""By hand: the first 8 bytes of sha256 of fault, model-busy, 0, kettle and the turn, below half."""


def test_what_faults_means() -> None:
    assert parse_faults("none") == ()
    assert parse_faults("all") == tuple(f"{kind}@3" for kind in KINDS)
    assert len(KINDS) == 32
    assert parse_faults("web-empty, model-busy@5,web-empty@3") == ("web-empty@3", "model-busy@5")
    assert parse_faults("all@5") == tuple(f"{kind}@5" for kind in KINDS)
    assert parse_faults("network@1")[0] == "network-latency@1"
    assert len(parse_faults("network@1")) == 4
    assert parse_faults("no-picture@5") == ("picture-missing@5",)
    assert parse_faults("input@2") == tuple(f"{kind}@2" for kind in KINDS if kind in WRONG_INPUT)
    assert parse_faults("web") == tuple(
        f"web-{w}@3" for w in ("empty", "slow", "stale", "wrong", "failing")
    )


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
    from mmrag.cache import Cache, cache_resources

    cached = with_faults(cache_resources(RESOURCES, Cache()))
    assert cached.web_search is not None
    with current_fault.under_fault(current_fault.ActiveFault(kind="web-wrong", draw=0.5)):
        wrong = cached.web_search.search_text(["q"], 3)[0]
    right = cached.web_search.search_text(["q"], 3)[0]
    assert [e.id for e in right] == ["q-0", "q-1", "q-2"]
    assert [e.id for e in wrong] == ["q-3", "q-4", "q-5"]
    with current_fault.under_fault(current_fault.ActiveFault(kind="web-stale", draw=0.5)):
        stale = cached.web_search.search_text(["q"], 4)[0]
    assert [e.id for e in stale] == ["q-0", "q-1"]  # the newer half is not known yet
    assert cached.image_search is not None
    with current_fault.under_fault(current_fault.ActiveFault(kind="web-stale", draw=0.5)):
        assert len(cached.image_search.search_images([LazyImage.from_bytes(b"x")], 4)[0]) == 4


def test_faults_of_parts_that_an_agent_brings_itself_are_refused() -> None:
    config = RunConfig(agent="llm-only:model=scripted", search="none", faults="web-empty")
    with pytest.raises(UsageError, match=r"--isolate.*web-empty"):
        Parts(config).host_agent(IsolationOptions(isolate=True), 1)
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
    found = apply_picture_fault(query, ActiveFault(kind=kind, draw=0.5))
    if kind == "picture-missing":
        assert found.image is None
        assert found.earlier == ()
    else:
        assert {one.data for one in found.earlier} == {found.image.data} != {image.data}
        assert len(found.earlier) == 2
