"""The noticing score: of fakes that always and never notice, in figures, page and app."""

from __future__ import annotations

import json
from html import unescape
from pathlib import Path

import pytest
from called_command import mmrag
from small_runs import Equality, make_session, run_all

from mmrag.records import Query, Reply, Session
from simulator.faults.fault_kinds import parse_faults
from simulator.faults.wrong_inputs import other_conversations
from simulator.reports.read.fault_notices import notices
from simulator.run.engine import Rules
from simulator.run.stop_policies import StopPolicy
from simulator.store.run_reader import RunReader
from ui.render import render
from ui.replay.conversation_view import conversation

SESSIONS = [make_session(n, turns=3) for n in range(12)]
RIGHT: dict[tuple[str, int], tuple[str, str]] = {
    (s.id, t.index): (s.capture.image.sha256, t.query) for s in SESSIONS for t in s.turns
}


def is_wrong(query: Query) -> bool:
    image = "" if query.image is None else query.image.sha256
    return (image, query.text) != RIGHT[query.session_id, query.turn_index]


class AlwaysNotices:
    async def answer(self, query: Query) -> Reply:
        if is_wrong(query):
            return Reply(text="I don't see what you mean in this picture.")
        return Reply(text=f"answer {int(query.session_id[1:])}-{query.turn_index}")


class NeverNotices:
    async def answer(self, query: Query) -> Reply:
        return Reply(text=f"answer {int(query.session_id[1:])}-{query.turn_index}")


class Nervous:
    async def answer(self, query: Query) -> Reply:
        return Reply(text="Could you ask that again?", ask="which", abstained=True)


def reported(folder: Path, agent: object, sessions: list[Session] = SESSIONS) -> dict:
    run_all(
        folder / "run", sessions, agent, Equality(), faults=parse_faults("input@3"),
        stop=StopPolicy.parse("never"),
        rules=Rules(seed=3, strangers=other_conversations(sessions)),
    )  # fmt: skip
    done = mmrag("report", str(folder / "run"), "--out", str(folder / "page"), "--json")
    return json.loads(done.stdout)["runs"][0]["noticing"]


@pytest.mark.parametrize(
    ("agent", "noticed", "alarms"),
    [(AlwaysNotices(), 1.0, 0.0), (NeverNotices(), 0.0, 0.0), (Nervous(), 1.0, 1.0)],
)
def test_who_always_and_who_never_notices(
    agent: object, noticed: float, alarms: float, tmp_path: Path
) -> None:
    found = reported(tmp_path, agent)
    assert len(found["faults"]) == 6
    assert found["noticed"]["estimate"] == noticed
    assert found["false_alarms"]["estimate"] == alarms
    assert found["false_alarms"]["n"] == 36
    for fault in found["faults"]:
        assert 0 < fault["noticed"]["n"] < 36
        assert fault["noticed"]["estimate"] == noticed
    assert {one["dimension"] for one in found["slices"]} >= {"Turn"}
    page = (tmp_path / "page" / "report.html").read_text()
    assert "<h2>Wrong input</h2>" in page


def test_the_app_says_what_the_assistant_really_got(tmp_path: Path) -> None:
    reported(tmp_path, NeverNotices())
    with RunReader(tmp_path / "run") as run:
        hit = next(r for r in run.results() if r.fault == "cut-question")
        healthy = next(r for r in run.results() if r.degradation == "clean")
        assert healthy.got == ""
        view = conversation(run, "run", hit.session_id, hit.degradation)
    marked = view.turns[hit.turn_index].got
    assert marked == hit.got == "“question " + f"{hit.turn_index}”"
    page = render("conversation.html.j2", view=view, rows=[], current=0, kinds=[], thumbnails=False)
    shown = unescape(str(page))
    assert f"the assistant got {hit.got}" in shown


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("I can’t see a mug in this picture.", True),
        ("I cannot make out the label.", True),
        ("There is no picture with your question.", True),
        ("The question seems incomplete.", True),
        ("That looks like the wrong picture to me.", True),
        ("What do you mean by “it”?", True),
        ("Could you say that again?", True),
        ("It costs 3 euros.", False),
        ("The picture on its label shows a jaguar.", False),
        ("You can see it at the museum.", False),
        ("It was different in 1990.", False),
    ],
)
def test_words_that_notice(text: str, said: bool) -> None:
    assert notices(text, None) is said
    assert notices(text, "look")
