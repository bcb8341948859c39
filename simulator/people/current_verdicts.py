"""What stands of all that people said: the latest word of each, on replies that are still there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping

from mmrag.records import TurnResult
from simulator.people.human_verdicts import HumanOutcome, HumanVerdict, Key, fingerprint, read_log
from simulator.store.run_reader import RunReader

Standing = dict[Key, dict[str, HumanVerdict]]
"""Turn → person → latest word."""


def current_verdicts(run: RunReader, sessions: Collection[str] | None = None) -> Standing:
    """What stands in a run, or in some of its sessions. Words on a reply that is no longer the
    turn's are left out."""
    found: Standing = {}
    replies: dict[tuple[str, str], dict[int, str]] = {}
    for key, people in latest_verdicts(read_log(run.folder).verdicts).items():
        if sessions is not None and key[0] not in sessions:
            continue
        if key[:2] not in replies:
            replies[key[:2]] = {
                turn.turn_index: fingerprint(turn.reply.text)
                for turn in run.turns(*key[:2])
                if turn.reply is not None
            }
        reply = replies[key[:2]].get(key[2])
        if now := {who: verdict for who, verdict in people.items() if verdict.reply == reply}:
            found[key] = now
    return found


def latest_verdicts(verdicts: Iterable[HumanVerdict]) -> Standing:
    """Each person's latest word on each turn; what was withdrawn is gone."""
    found: Standing = {}
    for verdict in verdicts:
        people = found.setdefault(verdict.key, {})
        people.pop(verdict.person, None)
        if verdict.said is not HumanOutcome.WITHDRAWN:
            people[verdict.person] = verdict
    return {key: people for key, people in found.items() if people}


def leading_outcome(people: Mapping[str, HumanVerdict]) -> str:
    """The outcome most people give who decided; empty where nobody did, or two outcomes tie."""
    counts = Counter(verdict.said.outcome for verdict in people.values() if verdict.said.outcome)
    ranked = counts.most_common(2)
    if not ranked or (len(ranked) == 2 and ranked[0][1] == ranked[1][1]):
        return ""
    return ranked[0][0]


def turn_of(run: RunReader, key: Key) -> TurnResult | None:
    """One turn of a run, if it was written."""
    return next((turn for turn in run.turns(*key[:2]) if turn.turn_index == key[2]), None)
