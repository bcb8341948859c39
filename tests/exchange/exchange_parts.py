"""A small run with everything an export has to bear: conditions, failures, markup, no picture."""

from __future__ import annotations

from pathlib import Path

import msgspec
from small_runs import make_session, picture

from mmrag.files.images import LazyImage
from mmrag.records import (
    Capture,
    Evidence,
    Outcome,
    Reference,
    Reply,
    Session,
    Status,
    Step,
    Turn,
    TurnResult,
    Usage,
    Verdict,
)
from simulator.run.run_config import RunConfig
from simulator.store.run_store import RunStore

SCRIPT = '</script><script>alert("x")</script><img src=x onerror=alert(1)>'

PACKAGES = "{0} is not installed here: pip install {0} (docs/doors.md)"


def write_run(folder: Path, *, finished: bool = True) -> Path:
    """Three conversations: clean, degraded, and one of text alone whose name is an attack."""
    with RunStore(folder) as store:
        store.set_meta("config", RunConfig(data="mini", agent="grounded:ocr=off"))
        store.set_meta("judge", "j/1")
        store.set_meta("provenance", {"revision": "abc", "libraries": {"mmrag": "0.1.0"}})
        clean = make_session(0, turns=4)
        degraded = msgspec.structs.replace(
            clean, capture=Capture(image=LazyImage.from_bytes(picture(9)), degradation="blur@3")
        )
        for place, session in enumerate((clean, degraded, hostile())):
            store.begin(place, session)
            store.commit(*results(session))
        if finished:
            store.set_meta("finished", True)
    return folder


def hostile() -> Session:
    reference = Reference(text=SCRIPT, accept=("a & b",))
    turns = tuple(
        Turn(index=i, id=f"x-{i}", query=f"{SCRIPT} {i}?", reference=reference) for i in range(4)
    )
    return Session(id=f"../../{SCRIPT}", turns=turns)


def results(session: Session) -> list[TurnResult]:
    """Right, missing, failed by the agent, and never asked."""
    about = {"session_id": session.id, "degradation": session.degradation}
    asked = [turn.query for turn in session.turns]
    right = Verdict(outcome=Outcome.PERFECT, judge="j/1", exact=True, reason="equal & <b>well</b>")
    silent = Verdict(outcome=Outcome.MISSING, judge="j/1")
    said = Reply(
        text=session.turns[0].reference.text,
        citations=("w1",),
        confidence=0.75,
        usage=Usage(input_tokens=10, output_tokens=3, calls=1, cost=0.5),
        trace=trace(),
    )
    return [
        TurnResult(turn_index=0, status=Status.ANSWERED, query=asked[0], reply=said,
                   verdict=right, seconds=2.0, **about),
        TurnResult(turn_index=1, status=Status.ABSTAINED, query=asked[1],
                   reply=Reply(text="I don't know", abstained=True), verdict=silent, seconds=1.0,
                   **about),
        TurnResult(turn_index=2, status=Status.AGENT_ERROR, query=asked[2], error="boom <b>",
                   seconds=0.5, **about),
        TurnResult(turn_index=3, status=Status.SKIPPED_AFTER_STOP, query=asked[3], **about),
    ]  # fmt: skip


def trace() -> tuple[Step, ...]:
    found = Evidence(
        source="web", id="w1", score=0.5, text=f"page {SCRIPT}", url="https://a.example"
    )
    said = {"model": "m", "finish": "stop"}
    return (
        Step(name="web search", start=0.1, seconds=0.4, info={"query": "q"}, evidence=(found,)),
        Step(name="tool kg", start=0.5, seconds=0.1, info={"arguments": "{}", "gave": "[1]"}),
        Step(
            name="plan", start=0.6, seconds=1.0, info={"n": 1, "deep": {"a": [1]}},
            steps=(Step(name="generate", start=0.7, seconds=0.5, info=said),),
        ),
    )  # fmt: skip
