"""Prove the wearers of a run: `mmrag verify`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from mmrag.errors import ConflictError, UsageError
from mmrag.records import Record
from simulator.counting import problems_told


class RunProof(Record, frozen=True, kw_only=True):
    """What was proved of a run, and what is wrong."""

    folder: str
    conversations: int
    utterances: int
    claims: int
    problems: tuple[str, ...]
    knows_facts: bool
    """Whether there was a world to prove claims and answers by."""
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
        return head + problems_told(self.problems)


def verify_run(folder: Path) -> RunProof:
    """Derive every utterance of a run's live wearers again, and look up what it claims."""
    from simulator.evaluation.parts import Parts
    from simulator.evaluation.wearers import make_wearers
    from simulator.run.config import read_config
    from simulator.run.live import as_heard
    from simulator.run.stopping import StopPolicy
    from simulator.store.run_store import RunReader
    from simulator.wearer.person import PersonTalk
    from simulator.wearer.proof import prove, prove_costs
    from simulator.wearer.sight import sight_of
    from simulator.wearer.talk import KEY

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
        wearers, stop = make_wearers(parts.source), StopPolicy.parse(config.stop, seed=config.seed)
        problems, conversations, utterances, claims = list[str](), 0, 0, 0
        for _, agenda in parts.sessions():
            for condition in run.degradations_of(agenda.id):
                held = run.session(agenda.id, condition)
                if KEY not in held.extra:  # its picture could not be had
                    continue
                results = as_heard(run, held)
                sight = sight_of(agenda, wearers.facts)
                if config.wearer == "person":
                    person = wearers.talk(
                        agenda, condition, stop=stop.rule, seed=config.seed, kind=PersonTalk
                    )
                    proof = prove_costs(person, sight, held, results)
                else:
                    talk = wearers.talk(agenda, condition, stop=stop.rule, seed=config.seed)
                    proof = prove(talk, sight, held, results)
                conversations += 1
                utterances += proof.utterances
                claims += proof.claims
                problems += proof.problems
    return RunProof(
        folder=str(folder),
        conversations=conversations,
        utterances=utterances,
        claims=claims,
        problems=tuple(problems),
        knows_facts=wearers.facts is not None,
        own_words=utterances if config.wearer == "person" else 0,
    )
