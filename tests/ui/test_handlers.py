"""What the pages' handlers answer, without a browser."""

from __future__ import annotations

import asyncio
import json
import re
import threading
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import gradio as gr
import msgspec
import pytest
from small_runs import write
from ui_agents import Watched
from ui_parts import picture, result, session, write_run

from mmrag.agents import agents
from mmrag.errors import UsageError
from mmrag.files.images import LazyImage
from mmrag.protocols import Resources
from mmrag.records import JudgeItem, Outcome, Query, Reply, Verdict
from simulator.reports.comparison.paired_runs import ComparedRun, compare_runs
from simulator.reports.draw.markdown import comparison_markdown
from simulator.reports.figures.report import ReportOptions, build_report, load_report_runs
from simulator.run.rejudge import rejudge_run
from simulator.store.run_reader import RunReader
from simulator.store.run_store import RunStore
from ui.opened_runs import open_runs
from ui.pages.compare import Compare
from ui.pages.live import Live
from ui.pages.replay import Replay
from ui.pages.robustness import Robustness
from ui.pages.script_calls import calls
from ui.pages.verdicts import VerdictCalls
from ui.render import points, render
from ui.replay.conversation_list import ConversationList
from ui.replay.people_verdicts import VerdictEditor
from ui.replay.run_figures import Difference, RunComparison, RunFigures
from ui.views.lab_view import degrade_picture
from ui.views.live_view import AgentCache, LiveTalk, VisitorSession
from ui.views.robustness_view import EXAMPLES, RobustnessFigures


def opened(folder: Path) -> dict[str, ConversationList]:
    return {folder.name: ConversationList(RunReader(folder))}


def test_two_tabs_follow_one_growing_run(tmp_path: Path) -> None:
    runs = opened(write_run(tmp_path / "run", 1, finished=False))
    page = Replay(runs)
    opened_as = page.open_replay({"run": "run"})
    seen = {
        key: str(opened_as[key]) for key in ("run", "session", "condition", "version", "outcomes")
    }
    with RunStore(tmp_path / "run") as store:
        store.begin(1, session(1)).result()
        store.commit(result(session(0), 1, "i")).result()
    for _ in range(2):
        told = page.follow_run(seen)
        assert "2 conversations" in told["list"]
        assert "talk-0000" in told["view"]  # the conversation that is looked at has a new verdict
        again = page.follow_run({**seen, "version": str(told["version"])})
        assert set(again) == {"version", "finished"}


class Always:
    """A judge with one opinion."""

    def __init__(self, outcome: Outcome) -> None:
        self.id, self.outcome = f"{outcome}/1", outcome

    async def judge(self, item: JudgeItem) -> Verdict:
        return Verdict(outcome=self.outcome, judge=self.id)


def test_a_run_that_was_judged_again_shows_its_new_marks(tmp_path: Path) -> None:
    """In a page that is loaded again, where the run is chosen again, and in what is computed."""
    runs = opened(write_run(tmp_path / "run", 2))
    page, analysis = Replay(runs), RunFigures(runs)

    def marks() -> set[str]:
        return {mark for row in runs["run"].find_all() for mark in row.outcomes}

    assert "perfect" in marks()
    for outcome, again in (
        (Outcome.INCORRECT, lambda: page.open_replay({"run": "run"})),
        (Outcome.ACCEPTABLE, lambda: analysis.frame("run")),
    ):
        with RunStore(tmp_path / "run") as store:
            asyncio.run(rejudge_run(store, Always(outcome)))
        again()
        assert str(outcome) in marks()
        assert "perfect" not in marks()
    assert not (analysis.frame("run")["score"] < 0).any()
    version = runs["run"].version
    page.open_replay({"run": "run"})
    assert runs["run"].version == version  # nothing was written, nothing is read again


def test_turns_that_were_forgotten_are_gone_from_the_list(tmp_path: Path) -> None:
    runs = opened(write_run(tmp_path / "run", 1))
    row = runs["run"].find_all()[0]
    with RunStore(tmp_path / "run") as store:
        store.forget_turns(*row.key, 1)
    Replay(runs).open_replay({"run": "run"})
    assert len(runs["run"].find_all()[0].outcomes) == 1


def test_the_page_without_a_run_can_be_played_with() -> None:
    page = Replay({})
    assert "No run is open" in page.open_replay({})["view"]
    for method in (page.list_conversations, page.show_conversation, page.follow_run):
        (call,) = calls(method)
        assert "not open" in call({"run": "gone"})["error"]


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ({"run": "gone", "session": "talk-0000"}, "No opened run is called"),
        ({"run": "run", "session": "nobody"}, "no session"),
        ({"session": "talk-0001", "degradation": "rotated@9"}, "not run under"),
        ({"session": "talk-0001", "condition": "<b>{{x}}</b>"}, "not run under"),
        ({"run": "run", "session": "talk-0001", "turn": "-7", "offset": "1e9"}, ""),
        ({"run": "run", "session": "talk-0001"}, ""),
        ({}, ""),
    ],
)
def test_a_link_to_nowhere_says_so(tmp_path: Path, query: dict[str, str], words: str) -> None:
    page = Replay(opened(write_run(tmp_path / "run", 2)))
    shown = page.open_replay(query)["view"]
    assert words in shown
    assert ("mm-message" in shown) is bool(words)


def test_all_turns_behind_a_cell_are_counted_and_few_are_shown(tmp_path: Path) -> None:
    breakage = RobustnessFigures(RunFigures(opened(write_run(tmp_path / "run", 70))))
    found = breakage.examples("run", "low-light@3")
    assert (found.n, found.lost, found.won) == (210, 140, 0)  # turns 1 and 2 of each are lost
    assert len(found.shown) == EXAMPLES
    assert len({one.session for one in found.shown}) == EXAMPLES
    assert {(str(e.before.outcome), str(e.after.outcome)) for e in found.shown} == {
        ("perfect", "incorrect")
    }
    animals = breakage.examples("run", "low-light@3", dimension="domain", part="animal")
    assert animals.n == 69  # 23 of the conversations
    for wrong in ({"dimension": "domain", "part": "nobody"}, {"stage": "nowhere"}):
        with pytest.raises(UsageError, match="no "):
            breakage.examples("run", "low-light@3", **wrong)


def test_a_turn_that_nobody_scored_has_not_flipped(tmp_path: Path) -> None:
    with RunStore(write_run(tmp_path / "run", 1)) as store:
        unscored = result(session(0, "low-light@3"), 0, "c")
        verdict = Verdict(outcome="unscored", judge="rules/1", reason="the judge failed")
        store.add_verdict(unscored, verdict).result()
    page = Compare(RunFigures(opened(tmp_path / "run"))).open_compare({})["pairs"]
    assert page.count('data-flip="lost"') == 2
    assert page.count("data-flip") == 2


def test_what_a_person_judged_otherwise_is_listed_and_found(tmp_path: Path) -> None:
    analysis = RunFigures(opened(write_run(tmp_path / "run", 3)))
    desk = VerdictCalls(VerdictEditor(analysis))
    here = {"run": "run", "session": "talk-0001", "condition": "low-light@3", "person": "anna"}
    desk.say_verdict({**here, "turn": "1", "said": "right"})  # as the judge says
    said = desk.say_verdict({**here, "turn": "2", "said": "right"})["otherwise"]
    assert said == {"talk-0001": {"low-light@3": {"1": [("anna", "right")]}}}  # JSON has text keys
    replay = Replay(analysis.runs)
    assert replay.list_conversations({"run": "run"})["otherwise"]["talk-0001"] == said["talk-0001"]
    judged = replay.list_conversations({"run": "run", "people": "yes"})
    assert (judged["first"], judged["total"]) == ("talk-0001", 1)
    assert replay.list_conversations({"run": "run", "people": "yes", "kind": "clean"})["total"] == 0
    for turn in ("1", "2"):
        back = desk.say_verdict({**here, "turn": turn, "said": "withdrawn"})
    assert back["otherwise"] == {"talk-0001": {}}


def test_one_picture_is_shown_once_and_two_twice(tmp_path: Path) -> None:
    compare = Compare(RunFigures(open_runs([write_run(tmp_path / name, 1) for name in "ab"])))
    page = compare.open_compare({"run": "a", "other": "b"})["pairs"]
    assert page.count("<img") == 1
    assert "data-flip" not in page
    assert compare.open_compare({"run": "a", "other": "b"})["figures"].count("Two things") == 0
    asked = {"run": "a", "other": "b", "b": "low-light@3"}
    assert "Two things differ here: the run and the" in compare.open_compare(asked)["figures"]
    assert compare.open_compare({"run": "a", "other": "a"})["pairs"].count("<img") == 2


def test_all_pairs_are_reached_in_one_scroll(tmp_path: Path) -> None:
    compare = Compare(RunFigures(opened(write_run(tmp_path / "run", 30))))
    asked = {"run": "run", "other": "run", "session": "talk-0017"}
    pages = [compare.open_compare(asked)["pairs"]]
    while more := re.search(r'data-after="(\d+)"', pages[-1]):
        pages.append(compare.show_pairs({**asked, "after": more[1]})["pairs"])
    seen = re.findall(r'data-session="([^"]+)"', "".join(pages))
    assert seen[:2] == ["talk-0017", "talk-0000"]
    assert sorted(seen) == [f"talk-{number:04d}" for number in range(30)]


def test_two_different_runs_are_compared_where_there_are_two_of_the_same_talks(
    tmp_path: Path,
) -> None:
    write_run(tmp_path / "a", 2)
    with RunStore(tmp_path / "other-talks") as store:
        store.begin(0, session(9)).result()
    one_run = [tmp_path / "a", tmp_path / "other-talks"]

    def sides(folders: list[Path], **asked: str) -> list[tuple[str, str]]:
        shown = Compare(RunFigures(open_runs(folders))).open_compare({"run": "a", **asked})
        return [(side["run"], side["condition"]) for side in shown["sides"]]

    assert sides(one_run) == [("a", "clean"), ("a", "low-light@3")]
    two = [*one_run, write_run(tmp_path / "b", 2)]
    assert sides(two) == [("a", "clean"), ("b", "clean")]
    assert sides(two, a="low-light@3") == [("a", "low-light@3"), ("b", "low-light@3")]
    assert sides(two, other="b", a="low-light@3", b="nowhere") == sides(two, a="low-light@3")


def test_the_table_of_pairs_says_which_way_and_what_did_not_flip(tmp_path: Path) -> None:
    with RunStore(write_run(tmp_path / "run", 2)) as store:
        for number, degradation, index, outcome in (
            (1, "low-light@3", 1, "perfect"), (1, "low-light@3", 2, "perfect"),
            (0, "low-light@3", 2, "missing"), (0, "clean", 2, "incorrect"),
        ):  # fmt: skip
            turn = result(session(number, degradation), index, "c")
            store.add_verdict(turn, Verdict(outcome=Outcome(outcome), judge="rules/1")).result()
    page = Compare(RunFigures(opened(tmp_path / "run"))).open_compare({})["pairs"]
    assert "1 of 2 conversations flipped: 0 turns won, 1 lost" in page
    flipped, kept = page.split("1 conversation did not flip")
    assert "talk-0000" in flipped
    assert flipped.count("△ score rose") == 1  # from incorrect to missing
    assert flipped.count("▽ score fell") == 1  # from right to what was not asked
    assert "talk-0001" in kept
    assert "left after the failures above; counts as missing" in page
    assert page.count('mm-alike">run<') == 2  # a phone has room for the condition alone
    assert 'mm-small">low-light&#64;3<' in page


def test_a_run_that_is_gone_is_not_silently_another(tmp_path: Path) -> None:
    compare = Compare(RunFigures(opened(write_run(tmp_path / "run", 2))))
    shown = compare.open_compare({"run": "gone", "other": "<b>"})["figures"]
    assert "The run gone is not open any more" in shown
    assert "&lt;b&gt; is not open" in shown


def live(make: Any = Resources) -> Live:
    return Live({}, AgentCache(make, ["watched"]), ["watched"], Path("nowhere"))


def seated() -> VisitorSession:
    return VisitorSession(LiveTalk("watched", image=LazyImage.from_bytes(picture(1))))


def answers(page: Live, seat: VisitorSession, text: str, number: int = 0) -> list[list[Any]]:
    async def collect() -> list[list[Any]]:
        return [answer async for answer in page.ask(seat, text, number)]

    return asyncio.run(collect())


@pytest.fixture(autouse=True, scope="module")
def watched() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(agents._targets, "watched", lambda resources: Watched())
        yield


def test_an_agent_that_breaks_when_it_is_made_leaves_nothing_working() -> None:
    def broken() -> Resources:
        raise ImportError("no module named torch")

    view, text, message = answers(live(broken), seated(), "what is it?")[-1]
    assert "working" not in view
    assert text == "what is it?"  # not lost
    assert "ImportError: no module named torch" in message


def test_the_picture_is_not_sent_again_while_the_agent_works() -> None:
    found = answers(live(), seated(), "what is it?")
    assert len(found) > 2
    assert not any("data:image" in str(answer) for answer in found)


def test_what_cannot_be_asked_is_said_before_the_agent_is_made() -> None:
    def never() -> Resources:
        raise AssertionError

    page, seat = live(never), VisitorSession(LiveTalk("watched"))
    page.arrive(gr.EventData(None, {}), seat, "watched")  # there is no run to take one from
    ((_, _, message),) = answers(page, seat, "what is it?")
    assert "Choose a picture first" in message
    ((_, _, message),) = answers(live(never), seated(), "  ")
    assert "Type a question first" in message


def test_a_question_that_is_quicker_than_the_first_picture_waits_for_it() -> None:
    page, seat = live(), VisitorSession(LiveTalk("watched"))

    async def both() -> list[list[Any]]:
        async def arrive() -> None:
            await asyncio.sleep(0.2)
            page.begin(seat, "watched", LazyImage.from_bytes(picture(1)))

        arriving = asyncio.create_task(arrive())
        found = [answer async for answer in page.ask(seat, "what is it?")]
        await arriving
        return found

    assert "reply 1, after nothing" in asyncio.run(both())[-1][0]


@pytest.mark.parametrize("leaving", ["another picture", "a new conversation", "another agent"])
def test_an_answer_that_comes_late_does_not_bring_the_old_talk_back(leaving: str) -> None:
    page, seat = live(), seated()

    async def leave() -> list[list[Any]]:
        asking = page.ask(seat, "what is it?")
        await anext(asking)
        if leaving == "another picture":
            page.begin(seat, "watched", LazyImage.from_bytes(picture(2)))
        elif leaving == "a new conversation":
            page.begin_anew(seat)
        else:
            page.switch_agent(seat, "other")
        chosen = seat.talk
        left = [answer async for answer in asking]
        assert seat.talk is chosen
        await asyncio.sleep(0.05)
        assert len(asyncio.all_tasks()) == 1
        return left

    ((shown, *_),) = asyncio.run(leave())
    assert shown == page.page(seat.talk)
    assert seat.talk.exchanges == []
    assert seat.talk.agent_spec == ("other" if leaving == "another agent" else "watched")


def test_a_talk_goes_on_where_it_was() -> None:
    page, seat = live(), seated()
    for text in ("what is it?", "and this?"):
        answers(page, seat, text)
    assert [turn.query for turn in seat.talk.exchanges] == ["what is it?", "and this?"]
    assert "reply 2, after what is it?" in str(answers(page, seat, "?")[0][0])


async def all_of(asking: AsyncIterator[list[Any]]) -> list[list[Any]]:
    return [answer async for answer in asking]


def test_who_asks_again_meanwhile_is_asked_for_after_it() -> None:
    page, seat = live(), seated()

    async def both() -> None:
        texts = ("what is it?", "and this?")
        found = await asyncio.gather(*(all_of(page.ask(seat, text)) for text in texts))
        assert all(answer[1] == gr.skip() for one in found for answer in one)

    asyncio.run(both())  # nothing is given back
    assert [turn.query for turn in seat.talk.exchanges] == ["what is it?", "and this?"]


def test_questions_are_asked_in_the_order_sent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    page, seat = live(), seated()

    async def both() -> None:
        later = [asyncio.create_task(all_of(page.ask(seat, f"question {n}", n))) for n in (3, 2)]
        await asyncio.sleep(0.1)
        shown = await all_of(page.ask(seat, "question 1", 1))
        assert "question 1" in shown[0][0]
        await asyncio.gather(*later)

    asyncio.run(both())
    assert [turn.query[-1] for turn in seat.talk.exchanges] == ["1", "2", "3"]
    monkeypatch.setattr("ui.pages.live.OUT_OF_ORDER_WAIT", 0.2)
    first, *_ = answers(page, seat, "its colour?", 5)  # the fourth was lost
    assert "its colour?" in first[0], "nobody looks at an empty page while it waits"
    assert len(seat.talk.exchanges) == 4


def test_what_waits_is_asked_once_and_of_its_own_conversation() -> None:
    page, seat = live(), seated()

    async def quick(*texts: str, leave: bool = False) -> list[list[list[Any]]]:
        first = page.ask(seat, texts[0])
        begun = await anext(first)
        others = [asyncio.create_task(all_of(page.ask(seat, text))) for text in texts[1:]]
        await asyncio.sleep(0)
        if leave:
            page.begin_anew(seat)
        return [[begun, *(await all_of(first))], *(await asyncio.gather(*others))]

    asyncio.run(quick("what is it?", "what is it?", " "))  # sent twice, and nothing
    assert [turn.query for turn in seat.talk.exchanges] == ["what is it?"]
    shown = asyncio.run(quick("and this?", "and that?", leave=True))
    assert seat.talk.exchanges == []
    assert "Not asked" in shown[1][-1][2]
    assert "and that?" in shown[1][-1][2]


def test_an_agent_is_asked_by_as_many_visitors_as_it_bears() -> None:
    at_once: list[int] = []

    class Narrow(Watched):
        capacity = 1

        async def answer(self, query: Query) -> Reply:
            at_once.append(1)
            assert len(at_once) == 1
            await asyncio.sleep(0.05)
            at_once.pop()
            return Reply(text="something")

    page = live()
    page.shelf._agents["watched"] = Narrow()

    async def all_ask() -> list[str]:
        seats = [seated() for _ in range(3)]

        async def one(seat: VisitorSession) -> None:
            async for _ in page.ask(seat, "what is it?"):
                pass

        await asyncio.gather(*map(one, seats))
        return [str(seat.talk.exchanges[0].status) for seat in seats]

    assert asyncio.run(all_ask()) == ["answered"] * 3


def test_looking_again_waits_for_the_answer() -> None:
    page, seat = live(), seated()

    async def meanwhile() -> list[Any]:
        asking = page.ask(seat, "what is it?")
        await anext(asking)
        found = page.look_again(seat, "watched", LazyImage.from_bytes(picture(2)))
        async for _ in asking:
            pass
        return found

    assert "when it has answered" in asyncio.run(meanwhile())[2]
    assert [turn.query for turn in seat.talk.exchanges] == ["what is it?"]


def test_a_visitor_who_leaves_ends_the_work() -> None:
    async def leave() -> int:
        asking = live().ask(seated(), "what is it?")
        await anext(asking)
        await asking.aclose()
        await asyncio.sleep(0.05)
        return len(asyncio.all_tasks()) - 1

    assert asyncio.run(leave()) == 0


def test_two_visitors_share_one_agent() -> None:
    made: list[int] = []

    def slow() -> Resources:
        made.append(1)
        time.sleep(0.1)
        return Resources()

    shelf = AgentCache(slow, ["watched"])
    found: list[object] = []
    threads = [
        threading.Thread(target=lambda: found.append(shelf.get("watched"))) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 1
    assert len({id(agent) for agent in found}) == 1


@pytest.mark.parametrize(("p", "said"), [(0.0004, "p &lt; 0.001"), (0.0123, "p = 0.012")])
def test_a_tiny_p_is_no_zero(p: float, said: str) -> None:
    one = Difference(
        name="accuracy", first=0.5, second=0.1, estimate=-0.4, low=-0.5, high=-0.3, p=p
    )
    assert said in differences(one)


def differences(
    one: Difference, a: tuple[str, str] = ("x", "clean"), b: tuple[str, str] = ("y", "clean")
) -> str:
    found = RunComparison(
        differences=(one,), pairs=9, sessions=3, only_first=0, only_second=0, p95=(3.4, None)
    )
    page = render("differences.html.j2", gone=[], found=found, sides=(a, b))
    return page.replace("&nbsp;", " ").replace("\N{NO-BREAK SPACE}", " ")


def test_the_headline_of_a_comparison_is_a_sentence_with_names_and_certainty() -> None:
    def headline(*sides: tuple[str, str], sign: float = 1.0, p: float = 0.0346) -> str:
        low, high = sorted((sign * 0.036, sign * 0.445))
        one = Difference(
            name="truthfulness", first=0.1, second=0.3, estimate=sign * 0.222, low=low, high=high,
            p=p, better=True,
        )  # fmt: skip
        return re.findall("<h2>(.*?)</h2>", differences(one, *sides))[0]

    certain = "is better by 22.2 points (95 % 3.6 to 44.5; p = 0.035)"
    assert headline() == f"y {certain}"
    assert headline(sign=-1) == f"x {certain}"
    assert headline(("x", "clean"), ("x", "blur&#64;1"), sign=-1) == f"clean {certain}"
    assert headline(("x", "clean"), ("y", "dark")) == f"y, dark {certain}"
    assert headline(sign=-1, p=0.31) == (
        "No difference beyond chance between x and y: −22.2 points (95 % −44.5 to −3.6; p = 0.31)"
    )


@pytest.mark.parametrize("name", ["truthfulness", "missing", "hallucination"])
@pytest.mark.parametrize("p", [0.04, 0.06])
def test_what_is_beyond_chance_is_coloured_and_nothing_else(name: str, p: float) -> None:
    better = {"missing": None, "hallucination": False}.get(name, True)
    one = Difference(
        name=name, first=0.5, second=0.1, estimate=-0.4, low=-0.5, high=-0.3, p=p, better=better
    )
    coloured = re.search('class="mm-tab (mm-good|mm-bad|mm-o-missing)"', differences(one))
    assert (coloured is not None) is (p <= 0.05)
    assert "[−50.0, −30.0], p = 0.0" in differences(one)
    assert "3.40 s → –" in differences(one)


def test_a_long_list_comes_in_parts(tmp_path: Path) -> None:
    page = Replay(opened(write_run(tmp_path / "run", 42)))

    def listed(**asked: str) -> str:
        return page.list_conversations({"run": "run", **asked})["list"]

    first, rest, around = listed(), listed(offset="40"), listed(session="talk-0041")
    assert (first.count('mm-row"'), rest.count('mm-row"')) == (40, 2)
    assert 'class="mm-more" data-offset="40"' in first
    assert "mm-more" not in rest
    assert around == rest  # where the conversation that is looked at lies
    assert "40 before these" in around
    assert listed(offset="99999") == listed(offset="80")


def test_what_is_looked_for_is_the_turn_that_opens(tmp_path: Path) -> None:
    page = Replay(opened(write_run(tmp_path / "run", 1)))
    asked = {"run": "run", "session": "talk-0000", "condition": "low-light@3"}
    wrong = page.show_conversation({**asked, "outcome": "incorrect"})["view"]
    assert 'data-current="1"' in wrong
    assert 'data-current="0"' in page.show_conversation({**asked, "outcome": "missing"})["view"]
    named = page.show_conversation({**asked, "outcome": "incorrect", "turn": "1"})["view"]
    assert 'data-current="0"' in named


def test_a_conversation_opens_under_the_condition_that_passes_the_filter(tmp_path: Path) -> None:
    page = Replay(opened(write_run(tmp_path / "run", 2)))
    asked = {"run": "run", "session": "talk-0001"}
    assert page.show_conversation(asked)["condition"] == "clean"
    assert page.show_conversation({**asked, "outcome": "incorrect"})["condition"] == "low-light@3"
    named = page.show_conversation({**asked, "outcome": "incorrect", "condition": "clean"})
    assert named["condition"] == "clean"


def test_the_raw_record_has_the_question_the_trace_and_every_verdict(tmp_path: Path) -> None:
    page = Replay(opened(write_run(tmp_path / "run", 1)))
    asked = {"run": "run", "session": "talk-0000", "turn": "2"}
    record = json.loads(page.show_record(asked)["record"])
    assert record["turn"]["query"] == "What about thing 1 of picture 0?"
    assert record["result"]["reply"]["trace"][0]["name"] == "planner"
    assert record["result"]["reply"]["usage"]["input_tokens"] == 200
    assert record["verdicts"]["rules/1"]["outcome"] == "perfect"
    (call,) = calls(page.show_record)
    assert "no turn 10" in call({**asked, "turn": "10"})["error"]
    assert "no session" in call({**asked, "session": "nobody"})["error"]


@pytest.mark.parametrize("sent", [None, [], "x", {"run": ["a"], 3: {}}, {"run": "\x00" * 9000}])
def test_whatever_a_browser_sends_is_answered(tmp_path: Path, sent: Any) -> None:
    page = Replay(opened(write_run(tmp_path / "run", 1)))
    for call in calls(page.list_conversations, page.show_conversation, page.show_record):
        assert list(call(sent)) == ["error"]
    (call,) = calls(page.open_replay)
    assert call(sent)["run"] == "run"


@pytest.mark.parametrize(
    ("focus", "note"),
    [("", False), ("-20,-20,40,40", False), ("900,80,1000,240", True), ("10,-90,60,-5", True)],
)
def test_the_lab_says_that_a_box_lies_outside(tmp_path: Path, focus: str, note: bool) -> None:
    (tmp_path / "a.jpg").write_bytes(picture(1))
    done = degrade_picture(tmp_path / "a.jpg", "rotated@2", 0, focus)
    page = render("lab.html.j2", lab=done, ladder=(), problem="", focus=focus)
    assert ("lies outside the picture of 240 × 320 pixels" in page) is note
    assert ("mm-focusbox" in page) is (bool(focus) and not note)


def test_the_lab_says_what_each_level_is_a_level_of(tmp_path: Path) -> None:
    (tmp_path / "a.jpg").write_bytes(picture(1))
    done = degrade_picture(tmp_path / "a.jpg", "blurred:motion@1+rotated@2+truncated@1+jpeg@40", 0)
    assert {step.name: step.measure for step in done.steps} == {
        "rotated": "angle", "truncated": "visible", "jpeg": "quality",
        "blurred:motion": "SSIM of the thing",
    }  # fmt: skip
    dark = degrade_picture(tmp_path / "a.jpg", "low-light@2", 0)
    for lab, measure in ((done, "SSIM of the thing"), (dark, dark.steps[0].measure)):
        names = [name for name, _ in lab.figures]
        assert names[:3] == [measure, measure.replace("thing", "frame"), "thing still visible"]
    assert dict(dark.figures)[dark.steps[0].measure] == f"{dark.steps[0].reached:.2f}"


def uneven(folder: Path, *, patterns: tuple[str, ...], scored: bool = True) -> Path:
    """A run of clean and dark conversations that differ from each other in how they went."""
    more = {} if scored else {"verdict": None, "status": "judge_error"}
    held = []
    for number, pattern in enumerate(patterns):
        for degradation, letters in (("clean", pattern), ("low-light@3", patterns[number - 1])):
            one = session(number, degradation)
            turns = (result(one, index, letter) for index, letter in enumerate(letters))
            held.append((one, [msgspec.structs.replace(turn, **more) for turn in turns]))
    config = {"data": "test", "agent": "scripted"}
    return write(folder, *held, judge="rules/1", config=config, finished=True)


PATTERNS = ("cccc", "ccic", "icmc", "cmci", "cicm", "ccmc", "mccc")


def test_a_page_and_a_report_give_the_same_intervals(tmp_path: Path) -> None:
    folder = uneven(tmp_path / "run", patterns=PATTERNS)
    analysis = RunFigures(opened(folder))
    with RunReader(folder) as run:
        loaded, stop, errors = load_report_runs([run], ReportOptions())
        reported = build_report(loaded, stop, errors, ReportOptions(failures=0))["runs"][0]
    page = RobustnessFigures(analysis).of("run")
    assert list(page.every_point) == reported["robustness"]["points"]
    assert page.worst is None  # the same conversations in another order: that is chance
    (cell,) = page.kinds[0].cells
    assert cell is not None
    change = reported["robustness"]["points"][0]["change"]
    ends = (cell.points, cell.low, cell.high)
    assert ends == tuple(100 * change[end] for end in ("estimate", "low", "high"))
    clean = {(e["dimension"], e["slice"]): e["truthfulness"] for e in reported["slices"]["main"]}
    assert page.slices
    for row in page.slices:
        told = clean[row.dimension, row.slice]
        assert (row.clean, row.n) == (pytest.approx(100 * told["estimate"]), told["n"])
    domain = [row for row in page.slices if row.dimension == "domain"]
    joined = {(e["dimension"], e["slice"]): e for e in reported["robustness"]["slices"]["table"]}
    for row in domain:  # one degraded condition: the report's joined change is this cell's
        told = joined[row.dimension, row.slice]
        assert row.cells[0].points == pytest.approx(100 * told["estimate"])
        assert row.cells[0].n == told["n"]

    shown = analysis.compare(("run", "clean"), ("run", "low-light@3")).differences
    sides = [ComparedRun(folder=str(folder), condition=name) for name in ("clean", "low-light@3")]
    (found,) = compare_runs(sides)["comparisons"]
    for one, told in (
        (shown[0], found["as_experienced"]["truthfulness_score"]),
        (shown[4], found["multi_turn_score"]),
    ):
        assert [one.estimate, one.low, one.high, one.p] == [
            told[key] for key in ("estimate", "low", "high", "p")
        ]


def test_every_card_says_what_it_shows_and_from_what_to_what(tmp_path: Path) -> None:
    analysis = RunFigures(opened(uneven(tmp_path / "run", patterns=PATTERNS)))
    cards = analysis.compare(("run", "clean"), ("run", "low-light@3")).differences
    names = ["truthfulness", "accuracy", "missing", "hallucination", "multi-turn score"]
    assert [card.name for card in cards] == names
    for card in cards:
        assert card.first is not None
        assert card.second is not None
        assert card.second - card.first == pytest.approx(card.estimate)
    sides = [
        ComparedRun(folder=str(tmp_path / "run"), condition=c) for c in ("clean", "low-light@3")
    ]
    told = comparison_markdown(compare_runs(sides))  # what `mmrag compare` prints
    for card in cards:
        assert f"| {card.name} |" in told
        assert f"**{points(card.estimate)}**" in told  # the same name, the same number, in points
    page = Robustness(analysis).open_robustness({"run": "run"})["view"]
    assert "no condition costs more than chance would explain" in page
    assert "As in the headline, turns after a stop are missing" in page


def test_where_nothing_is_scored_there_is_a_sentence_and_no_p(tmp_path: Path) -> None:
    folder = uneven(tmp_path / "run", patterns=PATTERNS[:1], scored=False)
    analysis = RunFigures(opened(folder))
    found = analysis.compare(("run", "clean"), ("run", "low-light@3"))
    assert {one.p for one in found.differences} == {None}
    shown = Compare(analysis).open_compare({})
    page = shown["figures"]
    assert "No turn is scored in both" in page
    assert "p&nbsp;=" not in page
    assert "What happened in the conversation is shown below" in page
    assert "0 of 1 conversation flipped" in shown["pairs"]
    assert "mm-breaking" in Robustness(analysis).open_robustness({"run": "run"})["view"]


@pytest.mark.parametrize(
    ("config", "words"),
    [
        (
            {"agent": "task3", "limit": 3},
            "run --agent task3 --degrade sweep --limit 3 --out {}-sweep",
        ),
        (
            {"agent": "object:Mine-1", "data": "world"},
            "run --data world --degrade sweep --limit 20 --out {}-sweep",
        ),
    ],
)
def test_robustness_offers_a_command_that_runs(
    config: dict[str, object], words: str, tmp_path: Path
) -> None:
    one = session(0)
    write(tmp_path / "run", (one, [result(one, 0, "c")]), config=config)
    page = Robustness(RunFigures(opened(tmp_path / "run"))).open_robustness({"run": "run"})["view"]
    assert f"<code>mmrag {words.format(tmp_path / 'run')}</code>" in page
