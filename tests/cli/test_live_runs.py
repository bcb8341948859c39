"""A live run through the command line: held, shown, proved, reported, compared."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from called_command import mmrag
from msgspec.structs import replace
from small_runs import picture

from mmrag.files.images import LazyImage
from mmrag.records import Capture, Passage, Reference, Session, Status
from simulator.application.verify_wearers import verify_run
from simulator.store.run_store import RunStore
from simulator.wearer.further_pictures import Retaken
from simulator.wearer.talk import KEY
from simulator.world.sessions import World

AGENT = '''
from mmrag.errors import Denied
from mmrag.records import Reply
from simulator.world.sessions import World

RIGHT = {t.query: t.reference.text for session in World("assets/mini") for t in session.turns}

def asking(query):
    """Needs a second picture for every other goal; knows the answers then."""
    if query.may_ask and query.turn_index % 2 == 0:
        return Reply(text="Could you go closer?", ask="look")
    known = [q for q in RIGHT if query.text.endswith(q)]
    return RIGHT[known[0]] if known and (query.earlier or not query.may_ask) else "I don't know"

def silent(query):
    return "I don't know"

SEEN = set()

def ending(query):
    """Is refused in the third conversation, which is under low light."""
    SEEN.add((query.session_id, query.image.sha256))
    if len(SEEN) > 2 and query.turn_index:
        raise Denied("the key is not accepted any more")
    return "forty-two"
'''


def painted(_: Retaken, scene: object, how: str, undone: bool) -> Capture:
    """A plain square, another one for each way to look."""
    return Capture(image=LazyImage.from_bytes(picture(len(how)), name=how))


@pytest.fixture
def agents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "live_agents.py").write_text(AGENT)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(Retaken, "_render", painted)  # a path tracer takes seconds
    return tmp_path


def held(folder: Path, name: str, *more: str) -> Path:
    out = folder / name
    mmrag(
        "run", "--data", "mini", "--wearer", "live", "--search", "none", "--judge", "exact",
        "--agent", f"python:name=live_agents/{name}", "--degrade", "low-light@3",
        "--limit", "3", "--out", str(out), "--json", *more,
    )  # fmt: skip
    return out


@pytest.mark.proof("time")
def test_a_live_run_is_held_shown_proved_and_reported(agents: Path) -> None:
    run = held(agents, "asking")
    shown = json.loads(mmrag("show", str(run), "--json").stdout)
    (figures,) = shown["wearers"]
    assert figures["name"] == "low-light@3"
    assert figures["conversations"] == 3
    assert figures["requests"] == sum(entry["n"] for entry in figures["by_request"])
    assert 0 < figures["paid_share"] <= 1
    assert figures["pictures"] > 0
    assert sum(entry["share"] for entry in figures["ends"]) == pytest.approx(1)
    assert "goals solved in" in mmrag("show", str(run)).stdout
    told = mmrag("show", str(run), "multi-00000", "--condition", "low-light@3").stdout
    assert "[asks: look]" in told
    assert "look (brighter)" in told

    assert "No problem found" in mmrag("verify", str(run)).stdout
    proof = json.loads(mmrag("verify", str(run), "--json").stdout)
    assert proof["conversations"] == 3
    assert proof["claims"] >= proof["utterances"]

    mmrag("report", str(run), "--out", str(agents / "report"))
    report = json.loads((agents / "report" / "report.json").read_text())
    assert report["runs"][0]["wearers"] == shown["wearers"]
    page = (agents / "report" / "report.html").read_text()
    assert "Live wearers" in page
    assert "Left at goal" in page


def test_words_that_do_not_follow_are_found(agents: Path) -> None:
    run = held(agents, "silent")
    with RunStore(run) as store:
        session = next(store.sessions())
        said = f"{session.turns[0].query} Or something else?"
        turns = (replace(session.turns[0], query=said), *session.turns[1:])
        store.commit(session=replace(session, turns=turns)).result()
    problems = mmrag("verify", str(run), "--json", code=1)
    found = json.loads(problems.stdout)["problems"]
    assert any("something else" in p and "follows from the replies" in p for p in found)
    assert any("claims ['asks'" in p or "claims ('asks'" in p for p in found)


@pytest.mark.proof("time")
def test_two_live_runs_are_compared_goal_by_goal_with_what_is_won_back(agents: Path) -> None:
    conditions = ("--degrade", "clean,low-light@3")
    silent = held(agents, "silent", *conditions)
    asking = held(agents, "asking", *conditions)
    compared = agents / "compared"
    mmrag("compare", str(silent), str(asking), "--out", str(compared))
    (one,) = json.loads((compared / "compare.json").read_text())["comparisons"]
    assert one["turns"] > 0
    (won,) = one["won_back"]
    assert won["condition"] == "low-light@3"
    assert won["lost"] == 0
    assert won["won"] > 0
    assert won["share"]["estimate"] is None  # nothing was lost that could be won back
    assert "won back" in (compared / "compare.html").read_text()


def test_a_scripted_run_is_not_proved_and_says_what_is(agents: Path) -> None:
    out = agents / "scripted"
    mmrag(
        "run", "--data", "mini", "--search", "none", "--judge", "exact", "--limit", "1",
        "--agent", "python:name=live_agents/silent", "--out", str(out),
    )  # fmt: skip
    assert "mmrag world verify" in mmrag("verify", str(out), code=2).stderr
    assert "wearers" not in json.loads(mmrag("show", str(out), "--json").stdout)


def test_a_run_that_ended_before_a_clean_conversation_is_reported(agents: Path) -> None:
    run = agents / "ending"
    said = mmrag(
        "run", "--data", "mini", "--wearer", "live", "--search", "none", "--judge", "exact",
        "--agent", "python:name=live_agents/ending", "--degrade", "low-light@3,clean",
        "--limit", "2", "--concurrency", "1", "--out", str(run), code=1,
    )  # fmt: skip
    assert "not accepted any more" in said.stderr
    mmrag("report", str(run), "--out", str(agents / "report.html"))


def test_a_picture_that_cannot_be_kept_is_shown_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = SimpleNamespace(image=np.zeros((8, 8, 3), np.uint8), polygon=())
    studio = SimpleNamespace(version="fake", again=lambda scene, how: shown)
    monkeypatch.setattr("simulator.wearer.further_pictures.renderer", lambda: studio)
    (tmp_path / "afile").write_text("")
    session = next(iter(World("assets/mini", pictures="clean")))
    taken = Retaken(tmp_path / "afile" / "looks").take(session, "closer")
    assert taken is not None
    assert taken.image.pil().size == (8, 8)


TAMPERED_TURNS = {
    "a step": lambda r: replace(r, step=not r.step),
    "a status": lambda r: replace(r, status=Status.JUDGE_ERROR),
    "a time-out that replied": lambda r: replace(r, status=Status.TIMEOUT),
    "a turn never asked that replied": lambda r: replace(r, status=Status.SKIPPED_AFTER_STOP),
    "a turn of no conversation": lambda r: replace(r, session_id="other"),
    "a query": lambda r: replace(r, query="What else?"),
    "a failure without a word": lambda r: replace(
        r, reply=None, verdict=None, status=Status.AGENT_ERROR
    ),
}
OTHER = LazyImage.from_bytes(picture(77), name="other")
TAMPERED_SESSIONS = {
    "focus": lambda s: replace(s, capture=replace(s.capture, focus=(0.0, 0.0, 1.0, 1.0))),
    "no focus": lambda s: replace(s, capture=replace(s.capture, focus=None)),
    "outline": lambda s: replace(s, capture=replace(s.capture, polygon=((0.0, 0.0),))),
    "picture": lambda s: replace(s, capture=replace(s.capture, image=OTHER)),
    "quality": lambda s: replace(s, capture=replace(s.capture, quality="blurred")),
    "ego": lambda s: replace(s, capture=replace(s.capture, is_ego=not s.capture.is_ego)),
    "optics record": lambda s: replace(s, capture=replace(s.capture, degraded={"a": 1})),
    "time": lambda s: replace(s, query_time="1999-01-01T00:00:00"),
    "passages": lambda s: replace(s, passages=(Passage(id="p", text="forty-two"),)),
    "things in view": lambda s: replace(s, extra={**s.extra, "visible": ["car-1"]}),
    "patience": lambda s: replace(s, extra={**s.extra, KEY: {**s.extra[KEY], "patience": 99}}),
    "end": lambda s: replace(s, extra={**s.extra, KEY: {**s.extra[KEY], "over": "left"}}),
    "reference": lambda s: first_turn(s, reference=Reference(text="I don't know")),
    "domain": lambda s: first_turn(s, domain="food2"),
    "dimension": lambda s: first_turn(s, meta={"a": "b"}),
    "move": lambda s: first_turn(s, wearer=replace(s.turns[0].wearer, move="press")),
    "claim": lambda s: first_turn(s, wearer=replace(s.turns[0].wearer, claims=())),
    "another picture before the first turn": lambda s: first_turn(s, capture=s.capture),
    "last turn": lambda s: replace(s, turns=s.turns[:-1]),
}


def first_turn(session: Session, **changes: Any) -> Session:
    return replace(session, turns=(replace(session.turns[0], **changes), *session.turns[1:]))


@pytest.mark.proof("time")
def test_whatever_is_changed_with_the_sum_made_again_is_found(agents: Path) -> None:
    run = held(agents, "silent", "--degrade", "clean", "--limit", "1")
    seal = mmrag("seal", str(run)).stdout.strip()
    mmrag("verify", str(run), "--against", seal)
    unnoticed = []
    for name, change in (TAMPERED_TURNS | TAMPERED_SESSIONS | {"skipped turn gone": None}).items():
        other = agents / "tampered"
        shutil.copytree(run, other)
        with RunStore(other) as store:
            session = next(store.sessions())
            turns = store.turns(session.id, session.degradation)
            if name in TAMPERED_TURNS:
                store.commit(change(turns[0])).result()
            elif name in TAMPERED_SESSIONS:
                store.commit(session=change(session)).result()
            else:
                assert turns[-1].status is Status.SKIPPED_AFTER_STOP
                store.forget_turns(session.id, session.degradation, len(turns) - 1)
        if not verify_run(other).problems:
            unnoticed.append(name)
        changed = mmrag("verify", str(other), "--against", seal, code=1)
        assert "sealed" in changed.stderr
        shutil.rmtree(other)
    assert unnoticed == []


def test_a_second_picture_that_the_run_does_not_have_is_found(agents: Path) -> None:
    run = held(agents, "asking")
    with RunStore(run) as store:
        session = next(s for s in store.sessions() if any(t.capture for t in s.turns))
        at = next(i for i, turn in enumerate(session.turns) if turn.capture)
        turns = list(session.turns)
        turns[at] = replace(turns[at], capture=replace(turns[at].capture, image=OTHER))
        store.commit(session=replace(session, turns=tuple(turns))).result()
    assert json.loads(mmrag("verify", str(run), "--json", code=1).stdout)["problems"]


@pytest.mark.proof("time")
def test_a_second_picture_of_something_else_is_found(agents: Path) -> None:
    """Where nothing has to be rendered for it: "brighter" is the clean picture of the data."""
    run = held(agents, "asking")
    proof = json.loads(mmrag("verify", str(run), "--json").stdout)
    assert proof["unproved_pictures"] > 0  # gone closer: rendered by no studio that keeps them
    with RunStore(run) as store:
        one, other = [s for s in store.sessions() if any(t.capture for t in s.turns)][:2]
        (at, taken), *_ = [(i, t.capture) for i, t in enumerate(one.turns) if t.capture]
        theirs = next(t.capture for t in other.turns if t.capture)
        turns = list(one.turns)
        turns[at] = replace(turns[at], capture=replace(taken, image=theirs.image))
        store.commit(session=replace(one, turns=tuple(turns))).result()
    (problem,) = json.loads(mmrag("verify", str(run), "--json", code=1).stdout)["problems"]
    assert one.turns[at].id in problem
    assert "brighter" in problem


def test_a_conversation_that_is_gone_or_hides_from_the_proof_is_found(agents: Path) -> None:
    run = held(agents, "silent")
    with RunStore(run) as store:
        session = next(store.sessions())
        extra = {name: value for name, value in session.extra.items() if name != KEY}
        store.commit(session=replace(session, extra=extra)).result()
        config = store.meta("config")
        store.set_meta("config", {**config, "limit": 4})
    found = json.loads(mmrag("verify", str(run), "--json", code=1).stdout)["problems"]
    assert any(session.id in p and "does not say how it stands" in p for p in found)
    assert any("is not in the run" in p for p in found)


def test_a_scripted_run_is_sealed_too(agents: Path) -> None:
    out = agents / "scripted"
    mmrag(
        "run", "--data", "mini", "--search", "none", "--judge", "exact", "--limit", "1",
        "--agent", "python:name=live_agents/silent", "--out", str(out),
    )  # fmt: skip
    seal = mmrag("seal", str(out)).stdout.strip()
    assert "as it was sealed" in mmrag("verify", str(out), "--against", seal).stdout
    (image,) = [path for path in (out / "images").rglob("*") if path.is_file()]
    image.write_bytes(image.read_bytes() + b" ")
    assert "sealed" in mmrag("verify", str(out), "--against", seal, code=1).stderr
    assert "mmrag seal" in mmrag("verify", str(out), "--against", "abc", code=2).stderr
