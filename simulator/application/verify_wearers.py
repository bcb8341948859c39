"""`mmrag verify`: derive again what the live wearers of a run said and did."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from mmrag.errors import ConflictError, ImageError, UsageError
from mmrag.records import Capture, Record
from simulator.message_text import counted, summarise_problems


class RunProof(Record, frozen=True, kw_only=True):
    """What was proved of a run, and what is wrong."""

    folder: str
    conversations: int
    utterances: int
    claims: int
    problems: tuple[str, ...]
    knows_facts: bool
    """Whether there was a world to prove claims and answers by."""
    unproved_pictures: int = 0
    """Further pictures that would have to be rendered again to be compared."""
    own_words: int = 0
    """Utterances of a person, which nothing can prove."""

    def as_json(self) -> dict[str, Any]:
        """For programs."""
        return msgspec.to_builtins(self)

    def as_text(self) -> str:
        """For people."""
        if self.own_words:
            head = (
                f"{self.folder}: a person played the wearer, and nothing can prove their "
                f"{self.own_words:,} utterances; costs, ends and answers of "
                f"{self.conversations:,} conversations derived again. "
            )
        else:
            head = (
                f"{self.folder}: {self.utterances:,} utterances of {self.conversations:,} live "
                f"conversations derived again, {self.claims:,} claims looked up. "
            )
        if not self.knows_facts:
            head += "The data has no world's facts: answers were not proved. "
        if self.unproved_pictures:
            head += (
                f"Of {counted(self.unproved_pictures, 'further picture')}, which would have to be "
                "rendered again, nothing but the hash was compared. "
            )
        return head + summarise_problems(self.problems)


def verify_run(folder: Path) -> RunProof:
    """Derive again what live wearers said, what it claims, and what the run recorded of it."""
    from simulator.parts.live_wearers import make_wearers
    from simulator.parts.run_parts import Parts
    from simulator.run.capture_optics import CaptureOptics
    from simulator.run.live_conversation import as_heard
    from simulator.run.run_config import read_config
    from simulator.run.runner import planned_conversations as held_under
    from simulator.run.runner import seen_under
    from simulator.store.run_reader import RunReader
    from simulator.wearer.human_wearer import PersonTalk
    from simulator.wearer.proof import prove, prove_costs, prove_record
    from simulator.wearer.talk import KEY, Talk
    from simulator.wearer.wearer_view import sight_of

    with RunReader(folder) as run:
        config = read_config(run)
        if not config.answers_back:
            raise UsageError(
                f"{folder}: its wearers were scripted; `mmrag world verify` proves their questions."
            )
        parts = Parts(config)
        known = (run.meta("provenance") or {}).get("data")
        if known != parts.source.fingerprint:
            raise ConflictError(
                f"{folder} was made from other data (fingerprint {known}, now "
                f"{parts.source.fingerprint}). Restore it to prove the run."
            )
        wearers, plan = make_wearers(parts.source, config.patience), parts.plan(1)
        optics = CaptureOptics(links=plan.links)
        is_person, is_whole = config.wearer == "person", bool(run.meta("finished"))
        problems, conversations, utterances, claims, unproved = list[str](), 0, 0, 0, 0
        begun = set(run.session_keys())
        for _, agenda, condition in held_under(parts.sessions(), plan, optics):
            if (agenda.id, condition) not in begun:
                if is_whole and not is_person:
                    problems.append(f"{agenda.id}: under {condition} it is not in the run")
                continue
            begun.discard((agenda.id, condition))
            held, kept = run.session(agenda.id, condition), run.turns(agenda.id, condition)
            if KEY not in held.extra:
                if any(result.reply for result in kept):
                    problems.append(f"{held.id}: it has replies, and does not say how it stands")
                continue  # its picture could not be had
            results = as_heard(run, held)
            sight = sight_of(agenda, wearers.facts)
            kind = PersonTalk if is_person else Talk
            talk = wearers.talk(agenda, condition, stop=plan.stop.rule, seed=config.seed, kind=kind)
            if isinstance(talk, PersonTalk):
                proof = prove_costs(talk, sight, held, results)
            else:
                proof = prove(talk, sight, held, results)
            conversations += 1
            utterances += proof.utterances
            claims += proof.claims
            problems += proof.problems
            for turn, look in ((turn, turn.wearer.look) for turn in held.turns if turn.wearer):
                if wearers.looks is None or turn.capture is None:
                    continue
                known = wearers.looks.known(agenda, look)
                unproved += known is None
                if known is not None and _shown(known) != _shown(turn.capture):
                    problems.append(f"{turn.id}: its picture is not the one that {look!r} gives")
            try:
                seen = seen_under(agenda, condition, optics, config.seed)
                problems += prove_record(talk, seen, held, kept)
                for capture in (held.capture, *(turn.capture for turn in held.turns)):
                    _ = capture and capture.image.data
            except ImageError as error:
                problems.append(f"{held.id}: a picture cannot be had ({error})")
        problems += [
            f"{name}: under {under} it is not in the data" for name, under in sorted(begun)
        ]
        if strays := sum(run.turn_counts().values()) - sum(1 for _ in run.results()):
            problems.append(f"{counted(strays, 'turn')} of no conversation of the run")
    return RunProof(
        folder=str(folder),
        conversations=conversations,
        utterances=utterances,
        claims=claims,
        problems=tuple(problems),
        knows_facts=wearers.facts is not None,
        unproved_pictures=unproved,
        own_words=utterances if is_person else 0,
    )


def _shown(capture: Capture) -> tuple[object, ...]:
    return capture.image.sha256, capture.focus, capture.polygon
