"""Runs that are not as one would wish: a correct report or a clear refusal, never NaN."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable
from pathlib import Path

import pytest
from planted_runs import make_session, plant
from small_runs import done, write

from mmrag.errors import SpecError, StoreError
from mmrag.files.images import LazyImage
from mmrag.records import Capture, Outcome, Reply, Status, Step, Verdict
from simulator.reports.draw.write import make_report
from simulator.reports.figures.report import ReportOptions
from simulator.store.run_store import RunStore

FAST = ReportOptions(resamples=50, failures=3)


def written(folder: Path, tmp_path: Path, options: ReportOptions = FAST) -> tuple[dict, str]:
    """The report of a run, read back by a parser that refuses NaN and infinity."""
    make_report([folder], tmp_path / "out", options)

    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} in report.json")

    text = (tmp_path / "out" / "report.json").read_text()
    page = (tmp_path / "out" / "report.html").read_text()
    assert not re.search(r"\b(nan|inf)\b", page, re.IGNORECASE)
    _no_blank_chart(page)
    return json.loads(text, parse_constant=refuse), page


def _no_blank_chart(page: str) -> None:
    for drawing in page.split('<svg class="chart"')[1:]:
        head, _, body = drawing.partition("</svg>")[0].partition(">")
        if 'role="img"' in head:
            shapes = sum(body.count(f"<{s}") for s in ("rect", "circle", "polyline"))
            told = "no conversation was" in body or "no turn was" in body
            assert shapes > 3 or told, body[:200]


def uniform(folder: Path, outcome: Outcome | None, status: Status, *, sessions: int = 12) -> Path:
    """Every turn of every session alike."""
    said = {"status": status, "seconds": 1.0}
    said |= {"reply": Reply(text="x", abstained=outcome is Outcome.MISSING)}
    if outcome is None:
        said |= {"reply": None, "verdict": None}
    talks = [make_session(number) for number in range(sessions)]
    turns = [[done(talk, t.index, outcome or "m", **said) for t in talk.turns] for talk in talks]
    return write(folder, *zip(talks, turns, strict=True))


def test_an_unfinished_run_says_what_is_missing(tmp_path: Path) -> None:
    folder = plant(tmp_path / "run", sessions=10, finish=False)
    with RunStore(folder) as store:
        store.set_meta("plan", {"sessions": 14, "degradations": ["clean"]})
        store.forget_turns("s00003", "clean", 1)
    report, page = written(folder, tmp_path)
    state = report["runs"][0]["state"]
    assert (state["finished"], state["not_begun"], state["broken_off"]) == (False, 4, 1)
    assert state["missing_turns"] >= 1
    assert "4 of 14 not begun, 1 broken off" in page


def test_a_folder_whose_name_is_no_utf8(tmp_path: Path) -> None:
    folder = uniform(tmp_path / os.fsdecode(b"run\xff"), Outcome.PERFECT, Status.ANSWERED)
    report, page = written(folder, tmp_path)
    assert report["runs"][0]["name"] == "run\\xff"
    assert "run\\xff" in page


def test_a_run_without_turns_is_refused(tmp_path: Path) -> None:
    with RunStore(tmp_path / "run") as store:
        store.set_meta("judge", "j")
    with pytest.raises(StoreError, match="no turn has been committed yet"):
        make_report([tmp_path / "run"], tmp_path / "out")
    with pytest.raises(StoreError, match="is not a run"):
        make_report([tmp_path], tmp_path / "out")


def test_runs_under_different_rules_need_a_choice(tmp_path: Path) -> None:
    a = plant(tmp_path / "a", sessions=6)
    b = plant(tmp_path / "b", sessions=6, stop="strikes(3)")
    with pytest.raises(SpecError, match=r"stop is a: strikes\(2\), b: strikes\(3\).*--stop"):
        make_report([a, b], tmp_path / "out", FAST)
    make_report([a, b], tmp_path / "out", ReportOptions(resamples=20, stop="strikes(2)"))
    assert (tmp_path / "out" / "report.html").exists()


def test_one_session(tmp_path: Path) -> None:
    folder = plant(tmp_path / "run", sessions=1, conditions=("clean", "rotated@2"))
    report, page = written(folder, tmp_path)
    figure = report["runs"][0]["conditions"][0]["strict"]["as_answered"]["truthfulness_score"]
    assert (figure["low"], figure["sessions"]) == (None, 1)
    assert report["runs"][0]["robustness"]["points"][0]["change"]["low"] is None
    assert "a single session" in page


@pytest.mark.parametrize("status", [Status.AGENT_ERROR, Status.TIMEOUT, Status.DATA_ERROR])
def test_all_errors(tmp_path: Path, status: Status) -> None:
    report, page = written(uniform(tmp_path / "run", None, status), tmp_path)
    head = report["runs"][0]["conditions"][0]
    assert head["coverage"] == 0
    assert head["strict"]["as_answered"]["truthfulness_score"]["estimate"] is None
    assert report["runs"][0]["failures"] == []
    assert "No turn could be scored" in page


def test_all_alike(tmp_path: Path) -> None:
    def of(outcome: Outcome | None, status: Status, options: ReportOptions = FAST) -> tuple:
        folder = uniform(tmp_path / status, outcome, status)
        report, page = written(folder, tmp_path / f"{status} report", options)
        run = report["runs"][0]
        return run, run["conditions"][0]["strict"]["as_answered"], page

    late = ReportOptions(resamples=50, agent_errors="incorrect")
    _, answered, _ = of(None, Status.TIMEOUT, late)
    assert answered["truthfulness_score"]["estimate"] == -1.0
    run, answered, _ = of(Outcome.MISSING, Status.ABSTAINED)
    assert answered["missing"]["estimate"] == 1.0
    assert run["costs"]["cost_per_correct_turn"] is None
    run, _, page = of(Outcome.PERFECT, Status.ANSWERED)
    assert run["failures"] == []
    assert "No scored turn failed" in page


def test_a_small_slice_is_greyed_and_kept(tmp_path: Path) -> None:
    report, page = written(plant(tmp_path / "run", sessions=12), tmp_path)
    table = report["runs"][0]["slices"]["main"]
    small = [entry for entry in table if entry["small"]]
    assert small
    assert all(entry["truthfulness"]["n"] < 20 for entry in small)
    assert '<tr class="small">' in page
    per = {"domain": 0, "turn": 0}
    for entry in table:
        if entry["dimension"] in per:
            per[entry["dimension"]] += entry["turns"]
    assert set(per.values()) == {report["runs"][0]["conditions"][0]["turns"]}


def hold(store: RunStore, numbers: Iterable[int], degradation: str, **result: object) -> None:
    """Every turn of these conversations ends in the same way."""
    for number in numbers:
        session = make_session(number, degradation)
        store.begin(number, session)
        store.commit(*(done(session, turn.index, "i", **result) for turn in session.turns))


def test_a_condition_in_which_everything_failed(tmp_path: Path) -> None:
    """Clean went well, the degraded half was never scored: no curve, no test, no crash."""
    folder = plant(tmp_path / "run", sessions=8)
    with RunStore(folder) as store:
        hold(store, range(8), "low-light@2", status=Status.AGENT_ERROR, error="down", reply=None,
             verdict=None)  # fmt: skip
    report, _ = written(folder, tmp_path)
    point = report["runs"][0]["robustness"]["points"][0]
    assert point["truthfulness"]["estimate"] is None
    assert point["change"]["estimate"] is None
    assert report["runs"][0]["robustness"]["curves"] == []


def test_a_mixture_is_one_condition(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    plant(folder, sessions=6)
    with RunStore(folder) as store:
        store.set_meta("plan", None)
        verdict = Verdict(outcome=Outcome.INCORRECT, judge="planted-1")
        hold(store, range(6, 12), "blurred@2", verdict=verdict)
    report, _ = written(folder, tmp_path)
    run = report["runs"][0]
    assert [c["name"] for c in run["conditions"]] == ["mix"]
    assert run["robustness"] is None
    quality = [s["slice"] for s in run["slices"]["main"] if s["dimension"] == "quality"]
    assert quality == ["normal", "blurred"]


def test_hostile_text_is_shown_as_text(tmp_path: Path) -> None:
    folder, bad = tmp_path / "run", "</title><script>alert(1)</script><img src=http://x.example/>"
    session = make_session(0)
    turns = tuple(
        type(turn)(
            index=turn.index, id=turn.id, query=bad, reference=turn.reference,
            domain=bad, query_type=bad,
        )
        for turn in session.turns
    )  # fmt: skip
    session = type(session)(
        id=bad, turns=turns, capture=Capture(image=LazyImage.from_bytes(b"no picture"), quality=bad)
    )
    reply = Reply(text=bad, trace=(Step(name=bad, seconds=0.1),), confidence=0.9)
    verdict = Verdict(outcome=Outcome.INCORRECT, judge=bad, reason=bad)
    said = [done(session, turn.index, "i", reply=reply, verdict=verdict) for turn in turns]
    write(folder, (session, said), judge=bad, provenance={"data": bad})
    _, page = written(folder, tmp_path, ReportOptions(resamples=10, title=bad))
    assert "<script" not in page
    assert "<img src=http" not in page
    assert page.count("&lt;script&gt;alert(1)") >= 5
    for path in (tmp_path / "out" / "figures").glob("*.svg"):
        assert "<script" not in path.read_text()
