"""Runs that never happened, with effects of a known size planted in them.

They are written through the real store, so that everything downstream sees a real run folder.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageDraw

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
    outcome_of,
)
from simulator.run.run_config import RunConfig
from simulator.run.stop_policies import StopPolicy
from simulator.store.run_store import RunStore

DOMAINS = ("food", "plants and gardening", "vehicle", "book", "local", "animal", "shopping")
TYPES = ("simple-recognition", "simple-knowledge", "multi-hop", "comparison", "aggregation")
DYNAMISM = ("static", "slow-changing", "fast-changing", "real-time")
POPULARITY = ("head", "torso", "tail")
NAMES = ("Velden", "Marrow", "Quill", "Tamsin", "Orrery", "Bracken", "Sable", "Linnet", "Cobalt")
THINGS = ("kettle", "fern", "tram", "almanac", "bakery", "heron", "lamp", "roadster", "tea")

Chance = Callable[[Turn, Session, str], float]
"""What is taken from the chance of being right, for a turn under a condition."""


def no_effect(turn: Turn, session: Session, condition: str) -> float:
    return 0.0


def by_severity(turn: Turn, session: Session, condition: str) -> float:
    """Darkness and blur hurt, rotation hardly does: something for the curves to show."""
    kind, _, level = condition.partition("@")
    weight = {
        "low-light": 0.11, "blurred": 0.08, "occluded": 0.07, "truncated": 0.05, "rotated": 0.02,
    }  # fmt: skip
    hidden = 0.5 if turn.text_clue else 1.0
    return weight.get(kind, 0.0) * int(level or 0) * hidden


def rng_for(*parts: object) -> np.random.Generator:
    digest = hashlib.sha256("\x00".join(map(str, parts)).encode()).digest()
    return np.random.Generator(np.random.Philox(key=int.from_bytes(digest[:16], "big")))


def picture(number: int, condition: str = "clean", size: int = 200) -> bytes:
    """A small drawn thing, darker or smoother as its condition says."""
    rng = rng_for("picture", number)
    back, front = (tuple(int(v) for v in rng.integers(60, 230, 3)) for _ in range(2))
    image = Image.new("RGB", (size, size * 4 // 3), back)
    draw = ImageDraw.Draw(image)
    x, y = (int(v) for v in rng.integers(size // 5, size // 2, 2))
    draw.ellipse((x, y, x + size // 3, y + size // 2), fill=front)
    draw.rectangle((0, size, size, size * 4 // 3), fill=(90, 70, 50))
    level = int(condition.partition("@")[2] or 0)
    if condition.startswith("low-light"):
        image = image.point(lambda v: int(v * (1 - 0.17 * level)))
    elif level:
        image = image.resize((size // (1 + 2 * level),) * 2).resize(image.size)
    buffer = io.BytesIO()
    image.save(buffer, "JPEG", quality=80)
    return buffer.getvalue()


def make_session(
    number: int, condition: str = "clean", *, seed: int = 0, shared: bytes | None = None
) -> Session:
    """A session whose questions depend on its number alone, whatever is done to its picture."""
    rng = rng_for("session", seed, number)
    domain = str(rng.choice(DOMAINS))
    popularity = str(rng.choice(POPULARITY))
    clue = bool(rng.random() < 0.45)
    name = f"{rng.choice(NAMES)} {rng.choice(THINGS)}".title()
    turns = []
    for index in range(int(rng.integers(2, 7))):
        kind = "simple-recognition" if index == 0 else str(rng.choice(TYPES[1:]))
        url = f"https://wiki.example/{number}/{index}"
        turns.append(
            Turn(
                index=index,
                id=f"s{number:05d}-{index}",
                query=f"What is this {domain} thing?" if index == 0 else f"And fact {index} of it?",
                reference=Reference(
                    text=f"{name}" if index == 0 else f"{name} has fact {index}: {number + index}.",
                    evidence=(url,),
                    grounding={url: "answers", f"{url}/old": "outdated", f"{url}/b": "related"},
                ),
                domain=domain,
                query_type=kind,
                dynamism=str(rng.choice(DYNAMISM, p=(0.6, 0.2, 0.15, 0.05))),
                popularity=popularity,
                text_clue=clue,
                needs_image=index == 0 or bool(rng.random() < 0.4),
                needs_history=index > 0 and bool(rng.random() < 0.5),
                extra={"entity_id": f"E{number}", "entity_name": name, "program": {"op": "get"}},
            )
        )
    data = shared if shared is not None else picture(number, condition)
    return Session(
        id=f"s{number:05d}",
        capture=Capture(
            image=LazyImage.from_bytes(data, name=f"picture {number}"), quality="normal",
            is_ego=bool(rng.random() < 0.8), degradation=condition, focus=(40, 40, 150, 200)
        ),
        turns=tuple(turns), query_time="2026-03-01T10:00:00"
    )  # fmt: skip


def plant(
    folder: Path,
    *,
    sessions: int = 40,
    conditions: Sequence[str] = ("clean",),
    effect: Chance = no_effect,
    base: float = 0.62,
    seed: int = 0,
    run_seed: int = 0,
    after_stop: str = "skip",
    failures: float = 0.01,
    passages: int = 6,
    words: int = 12,
    spread: float = 0.12,
    finish: bool = True,
    shared_picture: bool = False,
    **config: object,
) -> Path:
    """Write a run. `seed` makes the sessions, `run_seed` what the assistant does with them."""
    plain = len(conditions) == 1 and conditions[0] == "clean"
    severities = sorted({int(c[-1]) for c in conditions if "@" in c}) or [1]
    settings = RunConfig(
        data="planted", agent=str(config.pop("agent", "grounded")), after_stop=after_stop,
        degrade="none" if plain else "sweep", severities=tuple(severities), limit=sessions,
        seed=run_seed, **config,
    )  # fmt: skip
    rule = StopPolicy.parse(settings.stop).rule
    filler = " ".join(["lorem"] * words)
    data = picture(0) if shared_picture else None
    with RunStore(folder) as store:
        store.set_meta("config", settings)
        store.set_meta("judge", "planted-1")
        store.set_meta("provenance", {"data": f"planted-{seed}-{sessions}", "revision": "0" * 40})
        store.set_meta("plan", {"sessions": sessions, "degradations": list(conditions)})
        for number in range(sessions):
            ability = float(rng_for("ability", seed, number).normal(0, spread))
            for condition in conditions:
                session = make_session(number, condition, seed=seed, shared=data)
                store.begin(number, session)
                results: list[TurnResult] = []
                for turn in session.turns:
                    if after_stop == "skip" and results:
                        cut = rule(session.id, [outcome_of(r) for r in results])
                        if cut is not None and cut <= len(results):
                            results.append(_skipped(session, turn))
                            continue
                    chance = base + ability - effect(turn, session, condition)
                    rng = rng_for("turn", run_seed, number, condition, turn.index)
                    results.append(_turn(session, turn, chance, rng, failures, passages, filler))
                store.commit(*results)
        if finish:
            store.set_meta("finished", True)
    return folder


def _skipped(session: Session, turn: Turn) -> TurnResult:
    return TurnResult(
        session_id=session.id, turn_index=turn.index, status=Status.SKIPPED_AFTER_STOP,
        degradation=session.capture.degradation, query=turn.query,
    )  # fmt: skip


def _turn(
    session: Session, turn: Turn, chance: float, rng: np.random.Generator,
    failures: float, passages: int, filler: str,
) -> TurnResult:  # fmt: skip
    shared = {
        "session_id": session.id, "turn_index": turn.index, "query": turn.query,
        "degradation": session.capture.degradation, "seconds": float(rng.gamma(4, 0.3)),
    }  # fmt: skip
    if rng.random() < failures:
        return TurnResult(status=Status.TIMEOUT, error="no reply within 10 s", **shared)
    chance = float(np.clip(chance, 0.02, 0.98))
    right = bool(rng.random() < chance)
    # what went wrong, in the order in which an assistant works
    wrong = str(rng.choice(("entity", "passage", "unused", "misread"), p=(0.5, 0.25, 0.1, 0.15)))
    entity = right or wrong != "entity"
    passage = right or wrong in ("unused", "misread")
    used = right or wrong == "misread"
    abstained = not right and bool(rng.random() < 0.45)
    confidence = float(np.clip(chance + (0.15 if right else -0.15) + rng.normal(0, 0.12), 0.01, 1))
    url = turn.reference.evidence[0]
    name = str(turn.extra["entity_name"])
    kg = [
        Evidence(source="image-kg", id=f"kg-{session.id}-{i}", score=0.9 - i * 0.03,
                 text=name if entity and i == 0 else f"Other Thing {i}",
                 attributes={"entity_id": "E-1", "maker": "Nobody & Sons <script>"})
        for i in range(4)
    ]  # fmt: skip
    web = [
        Evidence(source="web", id=f"{url}/p{i}", url=url if passage and i == 1 else f"{url}/x{i}",
                 score=0.8 - i * 0.05, title="A page", text=f"{filler} {i}")
        for i in range(passages)
    ]  # fmt: skip
    spans, start = [], 0.0
    for step, share in (("picture", 0.05), ("planner", 0.1), ("image-kg", 0.15), ("web", 0.2),
                        ("rerank", 0.1), ("read", 0.35), ("verify", 0.05)):  # fmt: skip
        seconds = share * shared["seconds"]
        found = {"image-kg": tuple(kg), "web": tuple(web)}.get(step, ())
        spans.append(Step(name=step, start=start, seconds=seconds, evidence=found))
        start += seconds
    text = turn.reference.text if right else "I don't know" if abstained else f"Surely {filler}."
    reply = Reply(
        text=text,
        citations=(f"{url}/p1",) if used and not abstained else (),
        abstained=abstained,
        confidence=confidence,
        trace=tuple(spans),
        usage=Usage(input_tokens=int(rng.integers(400, 1600)), calls=2, cost=0.0004,
                    output_tokens=int(rng.integers(5, 70))),
    )  # fmt: skip
    outcome = Outcome.MISSING if abstained else Outcome.INCORRECT
    if right:
        outcome = Outcome.PERFECT if rng.random() < 0.8 else Outcome.ACCEPTABLE
    verdict = Verdict(outcome=outcome, judge="planted-1", exact=right and rng.random() < 0.3)
    status = Status.ABSTAINED if abstained else Status.ANSWERED
    return TurnResult(status=status, reply=reply, verdict=verdict, **shared)


__all__ = ["by_severity", "make_session", "no_effect", "picture", "plant"]


@pytest.fixture(scope="session")
def sweep(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A sweep over five conditions with failures, abstentions and stops in it."""
    return plant(
        tmp_path_factory.mktemp("runs") / "sweep", sessions=40,
        conditions=("clean", "low-light@1", "low-light@3", "low-light@5", "rotated@3"),
        effect=by_severity, failures=0.04
    )  # fmt: skip


@pytest.fixture(scope="session")
def sweep_report(sweep: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of the sweep, as written."""
    from simulator.reports.draw.write import make_report
    from simulator.reports.figures.report import ReportOptions

    out = tmp_path_factory.mktemp("report")
    make_report([sweep], out, ReportOptions(resamples=200, failures=6))
    return out
