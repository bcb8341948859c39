"""Small sessions, an agent and a judge of a few lines, and runs of them. No network, no models."""

from __future__ import annotations

import asyncio
import io
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from PIL import Image

from mmrag.files.images import LazyImage
from mmrag.records import (
    Capture,
    JudgeItem,
    Outcome,
    Query,
    Reference,
    Reply,
    Session,
    Status,
    Turn,
    TurnResult,
    Verdict,
)
from simulator.run.runner import Plan, run_sessions
from simulator.store.run_store import RunStore


def picture(seed: int = 0) -> bytes:
    buffer = io.BytesIO()
    Image.new("RGB", (16, 16), (seed * 37 % 256, seed * 91 % 256, 80)).save(buffer, "JPEG")
    return buffer.getvalue()


def make_session(number: int = 0, turns: int = 4, **capture: object) -> Session:
    return Session(
        id=f"s{number:03d}",
        capture=Capture(image=LazyImage.from_bytes(picture(number)), **capture),
        turns=tuple(
            Turn(
                index=i,
                id=f"s{number:03d}-{i}",
                query=f"question {i} of {number}?",
                reference=Reference(text=f"answer {number}-{i}"),
            )
            for i in range(turns)
        ),
    )


OF_LETTER = {"c": Outcome.PERFECT, "i": Outcome.INCORRECT, "m": Outcome.MISSING}


def done(session: Session, index: int, outcome: str, **given: object) -> TurnResult:
    """A turn as it is committed: answered, and judged as one of `OF_LETTER`, unless given else."""
    found = OF_LETTER[outcome] if outcome in OF_LETTER else Outcome(outcome)
    return TurnResult(**{
        "session_id": session.id, "turn_index": index, "degradation": session.degradation,
        "query": session.turns[index].query, "status": Status.ANSWERED, "reply": Reply(text="x"),
        "verdict": Verdict(outcome=found, judge="j"), **given,
    })  # fmt: skip


def write(folder: Path, *held: tuple[Session, Sequence[TurnResult]], **meta: object) -> Path:
    """A run of these conversations, as if they had been held."""
    with RunStore(folder) as store:
        for name, value in {"judge": "j", **meta}.items():
            store.set_meta(name, value)
        places: dict[str, int] = {}
        for session, results in held:
            store.begin(places.setdefault(session.id, len(places)), session)
            if results:
                store.commit(*results)
    return folder


class ByNumber:
    """Right, wrong or silent by a fixed function of session and turn; tells what it was shown."""

    def __init__(self, pattern: Callable[[str, int], str] | None = None, wait: float = 0) -> None:
        self.pattern = pattern or (lambda sid, turn: "ccimc"[(int(sid[1:]) * 3 + turn * 2) % 5])
        self.wait = wait
        self.seen: list[Query] = []

    async def answer(self, query: Query) -> Reply:
        self.seen.append(query)
        await asyncio.sleep(self.wait)
        kind = self.pattern(query.session_id, query.turn_index)
        number = int(query.session_id[1:])
        if kind == "x":
            raise ValueError("boom: secret detail")
        if kind == "t":
            await asyncio.sleep(60)
        texts = {
            "c": f"answer {number}-{query.turn_index}", "i": "something else", "m": "I don't know"
        }  # fmt: skip
        return Reply(text=texts[kind], abstained=kind == "m")


async def interrupted() -> None:
    """Called by an agent: the run is cancelled as Ctrl-C does it, and the turn never ends."""
    for task in asyncio.all_tasks():
        task.cancel()
    await asyncio.sleep(60)


class Equality:
    """Right when equal. A judge in six lines."""

    id = "equality"

    async def judge(self, item: JudgeItem) -> Verdict:
        exact = item.prediction in item.references
        missing = item.prediction == "I don't know"
        outcome = Outcome.PERFECT if exact else Outcome.MISSING if missing else Outcome.INCORRECT
        return Verdict(outcome=outcome, judge=self.id, exact=exact)


def run_all(
    folder: Path, sessions: Iterable[Session], agent: object, judge: object = None,
    optics: object = None, **plan: object,
) -> None:  # fmt: skip
    with RunStore(folder) as store:
        chosen = judge or Equality()
        store.set_meta("judge", chosen.id)
        work = iter(list(enumerate(sessions)))
        asyncio.run(run_sessions(work, agent, chosen, store, Plan(**plan), optics=optics))
