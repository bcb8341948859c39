"""Live wearers by the thousand: false words, endless talks, shortcuts, waits, and durable turns.

    python scripts/bench/wearer.py --world assets/mini --conversations 10000

Four assistants (silent, guessing, knowing, asking) and two that try to earn by the wearer's words
(parrot, always asking) are talked with, a grey square standing for every picture that is taken
again. Every utterance is derived again and every claim looked up (`simulator/wearer/proof.py`).
What luck alone earns is measured beside the two, by assistants that say yes, or no, to everything;
an agenda is the same under every seed, so that more conversations than agendas tell little more.
Waiting: one assistant, its replies declared to come 0, 1, 3 and 9 s later, and wearers with half
and twice the usual patience.
"""

from __future__ import annotations

import argparse
import asyncio
import io
import json
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from msgspec.structs import replace
from PIL import Image

from mmrag.files.images import LazyImage
from mmrag.judges import make_judge
from mmrag.judges.simple import ExactJudge
from mmrag.metrics.scoring_protocols import two_strikes
from mmrag.protocols import Judge
from mmrag.records import (
    ASKS,
    Capture,
    Outcome,
    Query,
    Reply,
    Session,
    Status,
    TurnResult,
    outcome_of,
)
from simulator.faults.turn import DELAYS
from simulator.run.engine import Rules
from simulator.run.live_conversation import Wearers, hold_live
from simulator.run.runner import Plan, labelled, run_sessions
from simulator.store.run_store import RunStore
from simulator.wearer.moves import right_for
from simulator.wearer.proof import prove, prove_record
from simulator.wearer.sight import sight_of
from simulator.wearer.talk import TalkBounds
from simulator.wearer.waiting import Waiting
from simulator.wearer.wordings import other_wordings
from simulator.world.build.randomness import Draw
from simulator.world.checks.verify import read_facts
from simulator.world.sessions import World

CONDITIONS = ("clean", "low-light@3", "blurred@3", "truncated@3", "occluded@3", "rotated@3")
SHORTCUTS = ("parrot", "always asking")

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
    parser.add_argument("--conversations", type=int, default=10_000)
    parser.add_argument("--judged", type=int, default=300, help="of each shortcut, by --judge")
    parser.add_argument("--judge", default="builtin")
    parser.add_argument("--durable", type=int, default=400, help="conversations for the speed")
    parser.add_argument("--waiting", type=int, default=180, help="conversations of each delay")
    given = parser.parse_args()
    world = World(given.world, pictures="clean")
    agendas = tuple(world)
    if not world.manifest["request"]["pictures"]:
        agendas = tuple(replace(agenda, capture=None) for agenda in agendas)
    wearers = Wearers(read_facts(given.world, world.manifest), Squares())
    found = {
        "world": str(given.world),
        "proved": _proved(wearers, agendas, given.conversations),
        "shortcuts": _shortcuts(wearers, agendas, given.judged, make_judge(given.judge)),
        "waiting": _waiting(wearers, agendas, given.waiting),
        "durable": _durable(wearers, agendas, given.durable),
    }
    print(json.dumps(found, indent=2))


def _agents(wearers: Wearers) -> dict[str, Says]:
    truths = {}

    def truth(query: Query, agenda: Session) -> str:
        if agenda.id not in truths:
            truths[agenda.id] = {turn.query: turn.reference.text for turn in agenda.turns}
        asked = [q for q in truths[agenda.id] if query.text.endswith(q)]
        earlier = [q for e in query.history for q in truths[agenda.id] if e.query == q]
        return truths[agenda.id][(asked or earlier)[-1]]

    def silent(query: Query, agenda: Session, draw: Draw) -> Reply:
        return Reply(text="I don't know")

    def guessing(query: Query, agenda: Session, draw: Draw) -> Reply:
        """A neighbour's answer, another thing's name, a word, or the right one."""
        sight, turn = sight_of(agenda, wearers.facts), draw.pick(agenda.turns)
        turn = next((t for t in agenda.turns if query.text.endswith(t.query)), turn)
        assert sight.facts is not None
        pool = [draw.pick(list(sight.facts.entities.values())).name, "blue", "Yes", "No"]
        for other in sight.things[1:]:
            pool += sorted(right_for(turn, sight, sight.things[0].id, other.id))[:3] * 2
        kin = sight.facts.of_kind(sight.things[0].kind)
        pool += [f"That's {draw.pick(kin).name}.", truth(query, agenda)]
        return Reply(text=draw.pick(pool), ask=draw.pick((None, None, None, *ASKS)))

    def knowing(query: Query, agenda: Session, draw: Draw) -> Reply:
        return Reply(text=truth(query, agenda) if draw.chance(0.6) else "I don't know")

    def asking(query: Query, agenda: Session, draw: Draw) -> Reply:
        if draw.chance(0.5):
            return Reply(text="Could you help me with that?", ask=draw.pick(ASKS))
        return Reply(text=truth(query, agenda) if draw.chance(0.8) else "I don't know")

    return {"silent": silent, "guessing": guessing, "knowing": knowing, "asking": asking}


def _parrot(query: Query, agenda: Session, draw: Draw) -> Reply:
    """The wearer's last words, as an answer."""
    return Reply(text=query.text.rstrip("?") + ".")


def _says(text: str) -> Says:
    def says(query: Query, agenda: Session, draw: Draw) -> Reply:
        return Reply(text=text)

    return says


def _always(query: Query, agenda: Session, draw: Draw) -> Reply:
    """A request in every turn, and once nothing is heard any more the words of the wearer."""
    heard = [e.ask for e in query.history if e.query.endswith(query.text)]
    if len(heard) < 2:
        return Reply(text="Could you help me with that?", ask=ASKS[query.turn_index % 3])
    return _parrot(query, agenda, draw)


def _proved(wearers: Wearers, agendas: tuple[Session, ...], count: int) -> dict[str, object]:
    agents, bounds = _agents(wearers), TalkBounds()
    problems, moves, ends, most = list[str](), Counter[str](), Counter[str](), Counter[str]()
    utterances = claims = differing = 0
    began = time.process_time()
    kinds = (*agents.items(), ("parrot", _parrot), ("always asking", _always))
    for number in range(count):
        name, says = kinds[number % len(kinds)]
        seed, place = divmod(number // len(kinds), len(agendas))
        agenda = agendas[place]
        seen = _degraded(agenda, CONDITIONS[(number // 7) % len(CONDITIONS)])
        held, results = asyncio.run(_held(wearers, agenda, seen, says, ExactJudge(), seed))
        talk = wearers.talk(agenda, seen.degradation, stop=two_strikes, seed=seed)
        proof = prove(talk, sight_of(agenda, wearers.facts), held, results)
        utterances += proof.utterances
        claims += proof.claims
        problems += [f"{name}, seed {seed}: {problem}" for problem in proof.problems]
        if number % 50 == 0:
            again = asyncio.run(_held(wearers, agenda, seen, says, ExactJudge(), seed))[0]
            differing += [t.query for t in again.turns] != [t.query for t in held.turns]
        asked = sum(turn.wearer is not None for turn in held.turns)
        most["turns"] = max(most["turns"], asked)
        most["pictures"] = max(most["pictures"], sum(t.capture is not None for t in held.turns))
        most["seconds"] = max(most["seconds"], round(held.extra["wearer"]["seconds"]))
        moves.update(turn.wearer.move for turn in held.turns if turn.wearer)
        ends[held.extra["wearer"]["over"] or "endless"] += 1
        if asked > bounds.turns_per_goal * len(agenda.turns):
            ends["endless"] += 1
    return {
        "conversations": count, "utterances": utterances, "claims": claims,
        "false or unprovable": len(problems), "first of them": problems[:5],
        "same replies, other words": differing, "endless": ends["endless"],
        "ends": dict(ends), "moves": dict(moves), "most": dict(most),
        "processor seconds": round(time.process_time() - began, 1),
    }  # fmt: skip


def _shortcuts(
    wearers: Wearers, agendas: tuple[Session, ...], count: int, judge: Judge
) -> dict[str, object]:
    """Truthfulness over all goals of those who try to earn by the wearer's own words."""
    found: dict[str, object] = {"conversations": count, "agendas": min(count, len(agendas))}
    luck = (("yes to all", _says("Yes")), ("no to all", _says("No")))
    for name, says in (("parrot", _parrot), ("always asking", _always), *luck):
        scores, after = list[int](), Counter[str]()
        for number in range(count):
            seed, agenda = number // len(agendas), agendas[number % len(agendas)]
            held, results = asyncio.run(_held(wearers, agenda, agenda, says, judge, seed))
            moves = [turn.wearer.move for turn in held.turns if turn.wearer]
            last = [outcome_of(r) for r in results if not r.step]
            right = [r for r in results if not r.step and outcome_of(r).is_correct]
            after.update(moves[r.turn_index] for r in right)
            scores += [1 if o.is_correct else -1 if o is Outcome.INCORRECT else 0 for o in last]
            scores += [0] * (len(agenda.turns) - len(last))
        found[name] = {
            "right, in points": round(100 * sum(score > 0 for score in scores) / len(scores), 2),
            "right, by the wearer's move": dict(after),
            "truthfulness, in points": round(100 * sum(scores) / len(scores), 2),
        }
    return found


def _waiting(wearers: Wearers, agendas: tuple[Session, ...], count: int) -> dict[str, object]:
    """What a delay costs, by patience; the replies are the same, and every turn is proved."""
    rows, said, problems, differing = [], dict[tuple[str, int, int], str](), 0, 0
    for patience, delay in ((p, d) for p in (2.5, 5.0, 10.0) for d in ("", *DELAYS)):
        waiting = Waiting.of(patience)
        patient = wearers._replace(bounds=TalkBounds(waiting=waiting))
        sums = Counter[str]()
        for number in range(count):
            seed, agenda = number // len(agendas), agendas[number % len(agendas)]
            seen = labelled(agenda, f"{delay}@5") if delay else agenda
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


def _durable(wearers: Wearers, agendas: tuple[Session, ...], count: int) -> dict[str, object]:
    """Turns a second, each on disk before the wearer goes on, with an instant assistant."""
    says = _agents(wearers)["asking"]
    by_id = {agenda.id: agenda for agenda in agendas}

    class Instant:
        async def answer(self, query: Query) -> Reply:
            return says(query, by_id[query.session_id.partition("#")[0]], _of(query))

    def _of(query: Query) -> Draw:
        return Draw(0, query.session_id, query.turn_index)

    chosen = [
        replace(agendas[n % len(agendas)], id=f"{agendas[n % len(agendas)].id}#{n}", capture=None)
        for n in range(count)
    ]
    with tempfile.TemporaryDirectory() as folder, RunStore(folder) as store:
        store.set_meta("judge", ExactJudge.id)
        began, cpu = time.perf_counter(), time.process_time()
        work = run_sessions(
            iter(list(enumerate(chosen))), Instant(), ExactJudge(), store, Plan(concurrency=64),
            wearers=wearers,
        )  # fmt: skip
        asyncio.run(work)
        wall, cpu = time.perf_counter() - began, time.process_time() - cpu
        turns = sum(n for s, n in store.turn_counts().items() if s != "skipped_after_stop")
    return {
        "conversations": count, "turns": turns, "turns a second": round(turns / wall),
        "turns a processor second": round(turns / cpu),
    }  # fmt: skip


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


def _degraded(agenda: Session, condition: str) -> Session:
    """A session under a condition, its picture as it is: no assistant here looks at it."""
    return labelled(agenda, condition)


if __name__ == "__main__":
    main()
