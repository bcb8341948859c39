"""What waiting costs live wearers, by their patience.

    python scripts/bench/wearer.py --waiting 180

One assistant, its replies declared to come 0, 1, 3 and 9 s later, and wearers with half and twice
the usual patience; a grey square stands for every picture that is taken again. Every utterance is
derived again and every claim looked up (`simulator/wearer/proof.py`).
"""

from __future__ import annotations

import argparse
import asyncio
import io
import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from msgspec.structs import replace
from PIL import Image

from mmrag.files.images import LazyImage
from mmrag.judges.simple import ExactJudge
from mmrag.metrics.scoring_protocols import two_strikes
from mmrag.protocols import Judge
from mmrag.records import Capture, Query, Reply, Session, Status, TurnResult, outcome_of
from simulator.faults.current_fault import DELAYS
from simulator.run.engine import Rules
from simulator.run.live_conversation import Wearers, hold_live
from simulator.run.runner import under_condition
from simulator.wearer.proof import prove, prove_record
from simulator.wearer.talk import TalkBounds
from simulator.wearer.waiting import Waiting
from simulator.wearer.wearer_view import sight_of
from simulator.wearer.wordings import other_wordings
from simulator.world.build.randomness import Draw
from simulator.world.checks.verify import read_facts
from simulator.world.sessions import World

Says = Callable[[Query, Session, Draw], Reply]


class Fake:
    """An assistant of a few lines, told whom it talks with and which goal is at hand."""

    def __init__(self, says: Says, agenda: Session, seed: int) -> None:
        self._says, self._agenda, self._seed = says, agenda, seed

    async def answer(self, query: Query) -> Reply:
        """What the function says, with chance of its own."""
        draw = Draw(self._seed, query.session_id, query.turn_index)
        return self._says(query, self._agenda, draw)


class Squares:
    """A grey square for every picture that is asked for."""

    def can(self, session: Session) -> bool:
        """All can."""
        return True

    def take(self, session: Session, how: str) -> Capture:
        """Another shade for every way."""
        shade = sum(map(ord, how)) % 200
        buffer = io.BytesIO()
        Image.new("L", (8, 8), shade).save(buffer, "JPEG")
        return Capture(image=LazyImage.from_bytes(buffer.getvalue(), name=how))


def main() -> None:
    """Talk, prove, count; print one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--world", type=Path, default=Path("assets/mini"))
    parser.add_argument("--waiting", type=int, default=180, help="conversations of each delay")
    given = parser.parse_args()
    world = World(given.world, pictures="clean")
    agendas = tuple(world)
    if not world.manifest["request"]["pictures"]:
        agendas = tuple(replace(agenda, capture=None) for agenda in agendas)
    wearers = Wearers(read_facts(given.world, world.manifest), Squares())
    print(json.dumps(_waiting(wearers, agendas, given.waiting), indent=2))


def _waiting(wearers: Wearers, agendas: tuple[Session, ...], count: int) -> dict[str, object]:
    """What a delay costs, by patience; the replies are the same, and every turn is proved."""
    rows, said, problems, differing = [], dict[tuple[str, int, int], str](), 0, 0
    for patience, delay in ((p, d) for p in (2.5, 5.0, 10.0) for d in ("", *DELAYS)):
        waiting = Waiting.of(patience)
        patient = wearers._replace(bounds=TalkBounds(waiting=waiting))
        sums = Counter[str]()
        for number in range(count):
            seed, agenda = number // len(agendas), agendas[number % len(agendas)]
            seen = under_condition(agenda, f"{delay}@5") if delay else agenda
            held, all_turns = asyncio.run(_held(patient, agenda, seen, _steady, ExactJudge(), seed))
            talk = patient.talk(agenda, seen.degradation, stop=two_strikes, seed=seed)
            kept = [r for r in all_turns if r.status is not Status.SKIPPED_AFTER_STOP]
            problems += len(prove(talk, sight_of(agenda, wearers.facts), held, kept).problems)
            problems += len(prove_record(talk, seen, held, all_turns))
            sums += Counter(turn.wearer.move for turn in held.turns[: len(kept)] if turn.wearer)
            sums[f"over {held.extra['wearer']['over']}"] += 1
            sums["solved"] += sum(not r.step and outcome_of(r).is_correct for r in kept)
            sums["tenths"] += round(10 * held.extra["wearer"]["seconds"])
            for turn, result in zip(held.turns, kept, strict=False):
                if turn.wearer and turn.wearer.move in ("ask", "hello") and result.reply:
                    key, whole = (agenda.id, turn.wearer.goal, seed), result.reply.text
                    whole += result.unheard
                    differing += said.setdefault(key, whole) != whole
        rows.append({
            "patience": patience, "delay": DELAYS.get(delay, 0.0),
            "goals solved": round(sums["solved"] / count, 2),
            "a minute": round(600 * sums["solved"] / sums["tenths"], 2),
            "seconds": round(sums["tenths"] / count / 10, 1),
            "hellos": round(sums["hello"] / count, 2),
            "interrupts": round(sums["interrupt"] / count, 2),
            "left": round(sums["over waiting"] / count, 3),
        })  # fmt: skip
    return {
        "conversations of each": count, "replies that differ": differing, "problems": problems,
        "rows": rows,
    }  # fmt: skip


def _steady(query: Query, agenda: Session, draw: Draw) -> Reply:
    """The same reply to a goal however it is asked: right, nothing, or right after much else."""
    turn = next(t for t in agenda.turns if query.text.endswith((t.query, *other_wordings(t))))
    chance = Draw(0, agenda.id, turn.index)
    if chance.chance(0.25):
        return Reply(text="I don't know")
    talks = chance.chance(0.25) and "in a word" not in query.text and "only" not in query.text
    return Reply(text="well " * (60 * talks) + turn.reference.text)


async def _held(
    wearers: Wearers, agenda: Session, seen: Session, says: Says, judge: Judge, seed: int
) -> tuple[Session, list[TurnResult]]:
    held = [seen]

    async def commit(*results: TurnResult, session: Session) -> None:
        held[0] = session

    results = await hold_live(
        wearers, agenda, seen, Fake(says, agenda, seed), judge, commit,
        stop=two_strikes, rules=Rules(seed=seed),
    )  # fmt: skip
    return held[0], results


if __name__ == "__main__":
    main()
