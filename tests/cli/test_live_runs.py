"""A live run through the command line: held, shown, proved, reported, compared."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from called_command import mmrag
from msgspec.structs import replace
from small_runs import picture

from mmrag.images import LazyImage
from mmrag.records import Capture
from simulator.store.run_store import RunStore
from simulator.wearer.looking import Retaken
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
    told = mmrag("show", str(run), "multi-00000", "--degradation", "low-light@3").stdout
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


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (("--wearer", "angry"), "scripted or live"),
        (("--wearer", "live", "--after-stop", "generate"), "leaves for good"),
        (("--wearer", "live", "--reference-history"), "really said"),
    ],
)
def test_what_a_live_wearer_cannot_do_is_refused(
    agents: Path, more: tuple[str, ...], words: str
) -> None:
    refused = mmrag(
        "run", "--data", "mini", "--search", "none", "--agent", "random", "--limit", "1",
        "--out", str(agents / "refused"), *more, code=2,
    )  # fmt: skip
    assert words in " ".join(refused.stderr.split())


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
    monkeypatch.setattr("simulator.wearer.looking.renderer", lambda: studio)
    (tmp_path / "afile").write_text("")
    session = next(iter(World("assets/mini", pictures="clean")))
    taken = Retaken(tmp_path / "afile" / "looks").take(session, "closer")
    assert taken is not None
    assert taken.image.pil().size == (8, 8)
