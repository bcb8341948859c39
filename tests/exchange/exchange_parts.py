"""A small run with everything an export has to bear: conditions, failures, markup, no picture."""

from __future__ import annotations

from pathlib import Path

import msgspec
from small_runs import done, make_session, picture, write

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
from simulator.run.config import RunConfig

SCRIPT = '</script><script>alert("x")</script><img src=x onerror=alert(1)>'

PACKAGES = "{0} is not installed here: pip install {0} (docs/doors.md)"


def write_run(folder: Path, *, finished: bool = True) -> Path:
    """Three conversations: clean, degraded, and one of text alone whose name is an attack."""
    clean = make_session(0, turns=4)
    degraded = msgspec.structs.replace(
        clean, capture=Capture(image=LazyImage.from_bytes(picture(9)), degradation="dark@3")
    )
    return write(
        folder, *((session, results(session)) for session in (clean, degraded, hostile())),
        judge="j/1", config=RunConfig(data="mini", agent="grounded:ocr=off"),
        provenance={"revision": "abc", "libraries": {"mmrag": "0.1.0"}},
        **({"finished": True} if finished else {}),
    )  # fmt: skip


def hostile() -> Session:
    reference = Reference(text=SCRIPT, accept=("a & b",))
    turns = tuple(
        Turn(index=i, id=f"x-{i}", query=f"{SCRIPT} {i}?", reference=reference) for i in range(4)
    )
    return Session(id=f"../../{SCRIPT}", turns=turns)


def results(session: Session) -> list[TurnResult]:
    """Right, missing, failed by the agent, and never asked."""
    silence = Reply(text="I don't know", abstained=True)
    nothing = {"reply": None, "verdict": None}
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
        done(session, 0, "c", reply=said, verdict=right, seconds=2.0),
        done(session, 1, "m", status=Status.ABSTAINED, reply=silence, verdict=silent, seconds=1.0),
        done(session, 2, "i", status=Status.AGENT_ERROR, error="boom <b>", seconds=0.5, **nothing),
        done(session, 3, "i", status=Status.SKIPPED_AFTER_STOP, **nothing),
    ]


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
