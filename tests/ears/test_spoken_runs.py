"""Conversations whose questions are said aloud: asked, kept, resumed, reported, shown."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from called_command import mmrag as command
from small_runs import ByNumber, make_session
from small_sounds import Writes, hold, tones, turn, wav

from mmrag.errors import Denied, SpecError, UsageError
from mmrag.records import Reply, Status
from simulator.ears.speech_pipeline import SpeechPipeline
from simulator.ears.tones import ToneEar, ToneVoice
from simulator.run.runner import Plan, run_sessions
from simulator.store.run_reader import RunReader
from simulator.store.run_store import RunStore

SPOKEN = ("quiet", "street@5")


class Listens(ByNumber):
    takes_sound = True


def test_conditions_are_crossed_only_when_asked() -> None:
    plan = Plan(degradations=("clean", "low-light@3"), faults=("web-empty@3",), spoken=SPOKEN)
    plain = ["clean", "low-light@3", "web-empty@3", "quiet", "street@5"]
    assert plan.conditions(picture=True) == plain
    crossed = msgspec.structs.replace(plan, crossed=True)
    more = [*plain, "low-light@3+quiet", "low-light@3+street@5"]
    assert crossed.conditions(picture=True) == more
    assert crossed.conditions(picture=False) == ["clean", "web-empty@3", "quiet", "street@5"]


def test_the_agent_gets_what_was_heard_and_the_sound_where_it_says_so(tmp_path: Path) -> None:
    deaf, listens = ByNumber(lambda _s, _t: "c"), Listens(lambda _s, _t: "c")
    for name, agent in (("a", deaf), ("b", listens)):
        hold(tmp_path / name, agent, tones(), sessions=1, spoken=SPOKEN, concurrency=1)
    assert {query.sound for query in deaf.seen} == {None}
    typed, spoken = listens.seen[:4], listens.seen[4:]
    assert all(query.sound is None for query in typed)
    assert all(query.sound[:4] == b"RIFF" for query in spoken)
    with RunReader(tmp_path / "b") as run:
        assert run.conditions() == ["clean", "quiet", "street@5"]
        noisy = run.turns("s000", "street@5")
        asked = [query for query in spoken if query.text == noisy[3].heard.text]
        assert [e.query for e in asked[0].history] == [r.heard.text for r in noisy[:3]]
        assert [r.query for r in noisy] == [f"question {n} of 0?" for n in range(4)]
        assert [r.heard.text for r in run.turns("s000", "quiet")] == [r.query for r in noisy]
        assert all(r.degradation == "street@5" for r in noisy)
        for result in noisy:
            for digest in (result.heard.said, result.heard.arrived):
                assert run.images.path(digest).read_bytes()[8:12] == b"WAVE"


def test_two_runs_keep_the_same_bytes(tmp_path: Path) -> None:
    kept = []
    for name in ("a", "b"):
        hold(tmp_path / name, ByNumber(), tones(), spoken=SPOKEN, concurrency=4)
        files = sorted(p.name for p in (tmp_path / name / "images").glob("*/*"))
        with RunReader(tmp_path / name) as run:
            kept.append((files, [r.heard for r in run.results()]))
    assert kept[0] == kept[1]


def test_a_run_that_broke_off_goes_on(tmp_path: Path) -> None:
    class Falls(Writes):
        def hear(self, sound):
            if self.asked == 3:
                raise Denied("the key is refused")
            return super().hear(sound)

    ear = Falls("question?")
    with pytest.raises(Denied):
        hold(tmp_path / "a", ByNumber(), SpeechPipeline(ToneVoice(), ear), sessions=1,
             spoken=("quiet",), concurrency=1)  # fmt: skip
    hold(tmp_path / "a", ByNumber(), SpeechPipeline(ToneVoice(), Writes("question?")), sessions=1,
         spoken=("quiet",))  # fmt: skip
    with RunReader(tmp_path / "a") as run:
        assert [r.heard.text for r in run.turns("s000", "quiet") if r.reply] == ["question?"] * 4


def test_what_is_not_heard_costs_its_turn_and_nothing_else(tmp_path: Path) -> None:
    class Fails(ToneEar):
        def hear(self, sound):
            heard = super().hear(sound)
            if "question 1" in heard.text:
                return msgspec.structs.replace(heard, text="you " * 2500)
            return heard

    agent = ByNumber(lambda _s, _t: "c")
    hearing = SpeechPipeline(ToneVoice(), Fails())
    hold(tmp_path / "a", agent, hearing, sessions=1, spoken=("quiet",), concurrency=1)
    with RunReader(tmp_path / "a") as run:
        results = run.turns("s000", "quiet")
    assert [r.status for r in results] == [
        Status.ANSWERED, Status.EAR_ERROR, Status.ANSWERED, Status.ANSWERED,
    ]  # fmt: skip
    assert "the ear tones:1 wrote 10,000 characters" in results[1].error
    assert "question 1 of 0?" not in {e.query for q in agent.seen[4:] for e in q.history}


def test_a_broken_ear_is_never_the_agents_failure(tmp_path: Path) -> None:
    from simulator.reports.figures.report import ReportOptions, load_report_runs

    class Breaks(ToneEar):
        def hear(self, sound):
            raise RuntimeError("no device")

    agent = ByNumber(lambda _s, _t: "c")
    hold(
        tmp_path / "a",
        agent,
        SpeechPipeline(ToneVoice(), Breaks()),
        spoken=("quiet",),
        concurrency=1,
    )
    with RunReader(tmp_path / "a") as run:
        assert {r.status for r in run.turns("s000", "quiet")} == {Status.EAR_ERROR}
        (loaded,), _, _ = load_report_runs([run], ReportOptions(agent_errors="incorrect"))
    spoken = loaded.frame.condition("quiet")
    assert not loaded.frame["scored"][spoken].any(), "unscored, whatever an agent's errors count as"
    assert len(agent.seen) == 8, "the agent was asked nothing but the typed questions"


def whole_report(run: RunReader) -> dict[str, Any]:
    from simulator.reports.figures.report import ReportOptions, build_report, load_report_runs

    loaded, stop, errors = load_report_runs([run], ReportOptions())
    return build_report(loaded, stop, errors, ReportOptions())


def test_who_heard_nothing_is_told_before_all_else(tmp_path: Path) -> None:
    from simulator.run.results.run_scoring import score_run

    class Deaf(ToneEar):
        def hear(self, sound):
            heard = super().hear(sound)
            if "question 0" in heard.text:
                return heard
            if "question 1" in heard.text:
                raise RuntimeError("no device")
            return msgspec.structs.replace(heard, text=" ")

    agent = ByNumber(lambda _s, _t: "c")
    hold(tmp_path / "a", agent, SpeechPipeline(ToneVoice(), Deaf()), spoken=("quiet",))
    hold(tmp_path / "b", agent, tones(), spoken=("quiet",))
    with RunReader(tmp_path / "a") as run:
        for warnings in (score_run(run)["warnings"], whole_report(run)["warnings"]):
            assert "quiet: nothing was heard of 6 of 8 spoken questions" in warnings[0]
    with RunReader(tmp_path / "b") as run:
        assert not any("nothing was heard" in words for words in whole_report(run)["warnings"])


def test_all_turns_have_what_was_heard(tmp_path: Path) -> None:
    from simulator.reports.draw.write import make_report

    ear = Writes("what <b> costs")
    hold(
        tmp_path / "a", ByNumber(), SpeechPipeline(ToneVoice(), ear), sessions=1, spoken=("quiet",)
    )
    with RunReader(tmp_path / "a") as run:
        asked = [r.status is not Status.SKIPPED_AFTER_STOP for r in run.turns("s000", "quiet")]
    turns = make_report([tmp_path / "a"], tmp_path / "report")["runs"][0]["turns"]
    assert [t["heard"] for t in turns] == [None] * 4 + [
        "what <b> costs" if a else None for a in asked
    ]
    page = (tmp_path / "report" / "report.html").read_text()
    assert ">Heard</th>" in page.partition("All turns</h2>")[2].partition("</thead>")[0]
    assert page.count('<td class="wrap">what &lt;b&gt; costs</td>') == sum(asked)


def test_the_curve_of_a_noise_begins_with_speech_in_quiet(tmp_path: Path) -> None:
    from simulator.reports.draw.charts import failing_stage_chart, severity_curves
    from simulator.reports.draw.svg import svg

    class Reads(ByNumber):
        async def answer(self, query):
            right = "x" not in query.text
            return Reply(text=f"answer {int(query.session_id[1:])}-{query.turn_index}" if right
                         else "no")  # fmt: skip

    class Half(ToneEar):
        def hear(self, sound):
            heard = super().hear(sound)
            return msgspec.structs.replace(heard, text="x" if "1 of" in heard.text else "what")

    for name, conditions in (("a", ("quiet", "street@3")), ("b", ("street@3",))):
        hold(
            tmp_path / name,
            Reads(),
            SpeechPipeline(ToneVoice(), Half()),
            sessions=6,
            spoken=conditions,
        )
    for name, start in (("a", "quiet"), ("b", "clean")):
        with RunReader(tmp_path / name) as run:
            report = whole_report(run)["runs"][0]
        (curve,) = report["robustness"]["curves"]
        at = {c["name"]: c["strict"]["as_experienced"]["truthfulness_score"]["estimate"]
              for c in report["conditions"]}  # fmt: skip
        assert curve["start"] == start
        assert curve["truthfulness"] == [at[start], at["street@3"]]
        (chart,) = severity_curves(report["robustness"], "p")
        bars = next(c for c in failing_stage_chart(report["stages"], "p") if c.title == "street")
        assert ("(0 is in quiet)" in svg(bars)) == (start == "quiet")
        assert ("0: in quiet" in svg(chart)) == (start == "quiet")


def evaluate(tmp_path: Path, **settings):
    import mmrag

    return mmrag.evaluate(
        lambda query: "I don't know", voice="tones", ear="tones", progress=False,
        out=tmp_path / "run", **settings,
    )  # fmt: skip


def test_peoples_own_recordings(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "a.wav").write_bytes(ToneVoice().say("Whats that").wav)
    (tmp_path / "bad.wav").write_bytes(wav(0))
    data = tmp_path / "own.csv"
    data.write_text("question,answer,audio\nWhat's this?,a jar,a.wav\nWho?,me,bad.wav\n")
    evaluate(tmp_path, data=data, spoken="clean")
    with RunReader(tmp_path / "run") as run:
        first, second = (run.turns(name, "quiet")[0] for name, _ in run.session_keys()[::2])
        assert (first.query, first.heard.text) == ("What's this?", "Whats that")
        assert second.status is Status.DATA_ERROR
        assert "bad.wav: holds no sound" in second.error


def test_a_report_tells_what_was_lost(tmp_path: Path) -> None:
    from simulator.reports.figures.report import HOW, ReportOptions, load_report_runs
    from simulator.reports.losses.hearing_losses import hearing_losses

    class Reads(ByNumber):
        async def answer(self, query):
            number = f"{int(query.session_id[1:])}"
            asked = f"question {query.turn_index} of {number}?"
            said = f"answer {number}-{query.turn_index}" if query.text == asked else "no"
            return Reply(text=said)

    hold(tmp_path / "a", Reads(), tones(), sessions=6, spoken=SPOKEN)
    with RunReader(tmp_path / "a") as run:
        (loaded,), _, _ = load_report_runs([run], ReportOptions())
        quiet, street = hearing_losses(loaded.frame, HOW)
        there = [r for r in run.results() if r.degradation == "street@5"]
    assert (quiet["condition"], street["condition"]) == SPOKEN
    assert (quiet["word_error_rate"]["estimate"], quiet["lost"], quiet["won"]) == (0, 0, 0)
    assert quiet["numbers_lost"]["estimate"] == 0
    assert street["word_error_rate"]["estimate"] > 0.3
    assert street["lost"] > 0
    assert street["change"]["high"] < 0
    for row in (quiet, street):
        assert row["change"]["n"] == row["pairs"] == 24, "those that were never asked are missing"
    assert street["lost"] == 24 - sum(r.verdict.outcome.is_correct for r in there if r.verdict)
    assert sum(kind["heard"] for kind in street["by_type"]) == street["heard"]
    json.dumps([quiet, street], allow_nan=False)


def test_the_replay_marks_what_was_lost_and_plays_both(tmp_path: Path) -> None:
    from ui.render import render
    from ui.replay.conversation_view import conversation

    ear = SpeechPipeline(ToneVoice(), Writes("question <b> of 0?"))
    hold(tmp_path / "a", ByNumber(), ear, sessions=1, spoken=("street@3",))
    with RunReader(tmp_path / "a") as run:
        view = conversation(run, "a", "s000", "street@3")
    heard = view.turns[1].heard
    assert [(p.text, p.is_lost) for p in view.turns[1].pieces][1] == ("1", True)
    page = render("conversation.html.j2", view=view, rows=[], current=0, kinds=[], thumbnails=False)
    assert '<mark class="mm-lost" title="not heard">1</mark>' in page
    for digest in (heard.said, heard.arrived):
        assert f'<audio controls preload="none" src="/picture/a/{digest}"' in page
    assert "question &lt;b&gt; of 0?" in page


def test_many_machines_are_refused() -> None:
    import mmrag

    with pytest.raises(UsageError, match="one machine"):
        mmrag.evaluate(
            "random", spoken="clean", voice="tones", ear="tones", backend="ray", limit=1,
            search="none", progress=False,
        )  # fmt: skip


def test_a_turns_recording_is_part_of_the_record() -> None:
    assert turn(audio="a.wav").audio == "a.wav"
    assert make_session().turns[0].audio == ""


class LosesAWord:
    """Hears all but the longest word of a question."""

    id = "loses:1"

    def hear(self, sound):
        heard = ToneEar().hear(sound)
        longest = max(heard.text.split(), key=len)
        return msgspec.structs.replace(heard, text=heard.text.replace(longest, "mm"))


def test_a_live_wearer_says_what_was_misheard_and_it_is_proved(tmp_path: Path) -> None:
    from small_talks import FakeLooks, Says, agendas, wearers

    from mmrag.judges.simple import ExactJudge
    from simulator.wearer.proof import prove
    from simulator.wearer.talk import KEY
    from simulator.wearer.wearer_view import sight_of

    hearing = SpeechPipeline(ToneVoice(), LosesAWord())
    with RunStore(tmp_path / "run") as store:
        store.set_meta("judge", ExactJudge.id)
        asyncio.run(run_sessions(
            iter(list(enumerate(agendas()[:6]))), Says(lambda query: "I don't know"), ExactJudge(),
            store, Plan(degradations=(), spoken=("quiet",)), wearers=wearers(FakeLooks()),
            hear=hearing.hear,
        ))  # fmt: skip
    moves = []
    with RunReader(tmp_path / "run") as run:
        for agenda in agendas()[:6]:
            held = run.session(agenda.id, "quiet")
            results = [r for r in run.turns(agenda.id, "quiet") if r.reply]
            moves += [turn.wearer.move for turn in held.turns]
            rule = Plan().stop.rule
            fresh = wearers(FakeLooks()).talk(agenda, "quiet", stop=rule, seed=0)
            assert prove(fresh, sight_of(agenda, wearers().facts), held, results).problems == []
            deaf = [msgspec.structs.replace(r, heard=None) for r in results]
            fresh = wearers(FakeLooks()).talk(agenda, "quiet", stop=rule, seed=0)
            told = prove(fresh, sight_of(agenda, wearers().facts), held, deaf).problems
            assert any("claims ('said'" in words for words in told) or "misheard" not in moves
            assert held.extra[KEY]["over"]
    assert "misheard" in moves


def test_programs_and_servers_get_the_sound_where_their_spec_says_so() -> None:
    from mmrag.agents import agents
    from mmrag.agents.external.adapters import query_as_json
    from mmrag.protocols import Resources
    from mmrag.records import Query

    sent = query_as_json(Query(text="heard", sound=b"RIFF"), "1")["sound"]
    assert sent == {"media_type": "audio/wav", "base64": "UklGRg=="}
    assert "sound" not in query_as_json(Query(text="typed"), "1")
    for spec in ("command:run=cat", "http:url=http://localhost:1"):
        made = [agents.create(f"{spec}{more}", resources=Resources()) for more in ("", ",sound=on")]
        assert [agent.takes_sound for agent in made] == [False, True]
        with pytest.raises(SpecError, match="on or off"):
            agents.create(f"{spec},sound=loud", resources=Resources())


def test_exported_turns_have_what_was_heard(tmp_path: Path) -> None:
    from simulator.store.run_table import write_table

    hold(tmp_path / "a", ByNumber(), tones(), sessions=1, spoken=("quiet",))
    with RunReader(tmp_path / "a") as run:
        write_table(run, tmp_path / "turns.jsonl", "jsonl")
    typed, *_, spoken = map(json.loads, (tmp_path / "turns.jsonl").read_text().splitlines()[:5])
    assert (typed["query"], typed["heard"]) == ("question 0 of 0?", None)
    assert spoken["heard"] == "question 0 of 0?"


def test_a_conversation_is_shown_by_its_condition(tmp_path: Path) -> None:
    hold(tmp_path / "a", ByNumber(), tones(), sessions=1, spoken=("quiet",))
    for flag in ("--condition", "--degradation"):  # the second is the old spelling
        shown = command("show", str(tmp_path / "a"), "s000", flag, "quiet").stdout
        assert "heard: question 0 of 0?" in shown
    assert "--degradation" not in command("show", "--help").stdout


def test_data_check_tells_of_a_recording_that_cannot_be_played(tmp_path: Path) -> None:
    from simulator.datasets import open_data

    (tmp_path / "bad.wav").write_bytes(wav(0))
    data = tmp_path / "own.csv"
    data.write_text("question,answer,audio\nWho?,me,bad.wav\nWho?,me,none.wav\nWho?,me,../x.wav\n")
    bad, none, outside = open_data(str(data)).examined_with_pictures()
    assert "holds no sound" in bad.faults[-1].words
    assert not bad.is_lost
    assert none.is_lost
    assert none.faults[-1].field == "column `audio`"
    assert "outside" in outside.faults[-1].words


def test_data_check_does_not_say_all_good_of_a_recording_that_cannot_be_played(
    tmp_path: Path,
) -> None:
    (tmp_path / "bad.wav").write_bytes(wav()[:9_000])
    (tmp_path / "own.csv").write_text("question,answer,audio\nWho?,me,bad.wav\n")
    said = command("data", "check", str(tmp_path / "own.csv")).stdout
    assert "cut short: 0.3 of 1.0 s are there" in said
    assert said.rstrip().endswith("1 recording cannot be played.")
