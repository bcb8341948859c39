"""From records to what a page shows: plain rows, no Gradio, no HTML.

Everything a page needs of one conversation is here in one value, so that stepping through it needs
no further question to the server.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

import msgspec

from mmrag.errors import MmragError
from mmrag.files.images import size_of
from mmrag.metrics.measure_records import Measurement
from mmrag.records import (
    Gaze,
    Heard,
    Outcome,
    Reference,
    Session,
    Status,
    Turn,
    TurnResult,
    Verdict,
    outcome_of,
    staged_condition,
)
from simulator.ears.recognition_losses import MarkedPiece, mark_heard
from simulator.reports.figures.slices import DEFAULTS
from simulator.run.gaze import gaze_of
from simulator.run.results.run_scoring import is_human_played
from simulator.run.stop_policies import StopPolicy
from simulator.stages.handed_truth import box_in
from simulator.stages.truth_stage_names import BLIND, POINTING, WHOLE, split_stage
from simulator.store.run_reader import RunReader
from ui.replay.conversation_list import stop_policy
from ui.replay.traceview import (
    Bar,
    Overlay,
    ShownHit,
    ShownPassage,
    bars_of,
    boxes_of,
    flat,
    focus_of,
    given_gaze,
    hits_of,
    overlay_of,
    passages_of,
    plan_of,
    walk,
)


class VoteRow(msgspec.Struct, frozen=True):
    """What one judge said."""

    judge: str
    outcome: str
    reason: str


class MeasureRow(msgspec.Struct, frozen=True):
    """What one measure says of a reply."""

    measure: str
    value: str
    judge: str
    approximate: bool
    why: str


class StageRow(msgspec.Struct, frozen=True):
    """One turn with a stage of the truth handed over."""

    stage: str
    condition: str
    query: str
    reply: str
    outcome: str
    """Empty where it was not asked."""
    crop: Overlay | None = None
    """What is cut out of the picture where the thing is pointed at."""
    handed: int = 0
    """How many passages and facts."""


class TurnView(msgspec.Struct, frozen=True, kw_only=True):
    """One turn as it is shown."""

    index: int
    query: str
    labels: tuple[tuple[str, str], ...]
    status: str
    outcome: str
    reply: str
    error: str
    reference: str
    accepted: tuple[str, ...]
    reason: str
    votes: tuple[VoteRow, ...]
    measures: tuple[MeasureRow, ...]
    strike: str
    """What this turn's failure means under the run's stop policy, in words; empty for nothing."""
    stops_here: bool
    skipped: bool
    seconds: float
    tokens: tuple[int, int]
    cost: float
    confidence: float | None
    citations: tuple[str, ...]
    plan: tuple[tuple[str, str], ...]
    hits: tuple[ShownHit, ...]
    passages: tuple[ShownPassage, ...]
    read: tuple[str, ...]
    """Texts that were read in the picture."""
    bars: tuple[Bar, ...]
    overlays: tuple[Overlay, ...]
    picture: str = ""
    """Hash of another picture that a live wearer took just before this turn."""
    move: str = ""
    """What a live wearer did, in words; empty of a scripted one."""
    asks: str = ""
    """What the reply asked back."""
    stages: tuple[StageRow, ...] = ()
    """The same turn at every stage, where the run handed the truth over."""
    heard: Heard | None = None
    """Of a spoken question, with the hashes of its sounds."""
    pieces: tuple[MarkedPiece, ...] = ()
    """The question in pieces that were heard and pieces that were not."""
    got: str = ""
    """What the assistant got in place of the wearer's picture or words."""
    first_heard: float = 0.0
    """Seconds until the first word could be heard, and until the last one could."""
    last_heard: float = 0.0
    unheard: str = ""
    """The rest of the reply, which a live wearer did not wait for."""

    @property
    def correct(self) -> bool | None:
        """Whether the reply was right; None where nobody knows."""
        if self.outcome in ("", Outcome.UNSCORED):
            return None
        return Outcome(self.outcome).is_correct


class ConversationView(msgspec.Struct, frozen=True, kw_only=True):
    """One conversation as it is shown."""

    run: str
    session_id: str
    degradation: str
    has_picture: bool
    labels: tuple[str, ...]
    """What the data says of the picture."""
    query_time: str
    picture: str
    """Hash of the picture that the assistant saw; empty when it could not be read."""
    before: str
    """Hash of the undegraded picture where the run has it and it differs."""
    size: tuple[int, int]
    overlays: tuple[Overlay, ...]
    record: tuple[tuple[str, str], ...]
    """What the optics did."""
    turns: tuple[TurnView, ...]


def conversation(
    run: RunReader,
    name: str,
    session_id: str,
    degradation: str,
    unsaid: Collection[str] = (),
) -> ConversationView:
    """Everything about one conversation of a run, but labels that nobody gave (`unsaid`)."""
    session = run.session(session_id, degradation)
    results = run.turns(session_id, degradation)
    capture = session.capture
    digest = "" if capture is None else capture.image.sha256
    size = _size(run, digest)
    return ConversationView(
        run=name,
        session_id=session.id,
        degradation=degradation,
        has_picture=capture is not None,
        labels=(*_of_picture(session, unsaid), *(["played by a person"] * is_human_played(run))),
        query_time=(session.query_time or "").replace("T", " ")[:16],
        picture=digest,
        before=_before(run, session),
        size=size,
        overlays=focus_of(capture, size) if capture else (),
        record=flat((capture.degraded if capture else None) or {}),
        turns=tuple(_turns(run, session, results, size, unsaid)),
    )


def _of_picture(session: Session, unsaid: Collection[str]) -> Iterator[str]:
    if session.capture is None:
        yield session.quality
        return
    if "quality" not in unsaid:
        yield session.quality
    if "is_ego" not in unsaid:
        yield "egocentric" if session.capture.is_ego else "catalogue"


def _turns(
    run: RunReader,
    session: Session,
    results: Sequence[TurnResult],
    size: tuple[int, int],
    unsaid: Collection[str],
) -> Iterator[TurnView]:
    policy = stop_policy(run)
    settled = [result for result in results if not result.step]  # of a goal the last turn counts
    outcomes = [outcome_of(result) for result in settled]
    end = policy.rule(session.id, outcomes)
    left = len(session.turns) - len(results) + len(settled)
    said = _strikes(policy, outcomes, end, left, settled)
    strikes = {r.turn_index: strike for r, strike in zip(settled, said, strict=True)}
    last = settled[end - 1].turn_index if end is not None else None
    measured = run.measurements(session.id, session.degradation)
    gazes, staged = run_gazes(run, session), _at_stages(run, session, size)
    for turn, result in zip(session.turns, results, strict=False):
        verdicts = run.verdicts(session.id, session.degradation, turn.index)
        if turn.capture is not None:  # boxes are drawn over the first picture, and over no other
            size = (0, 0)
        view = turn_view(
            turn, result, verdicts, size, measured.get(turn.index, ()), unsaid=unsaid,
            strike=strikes.get(turn.index, ""), stops_here=turn.index == last,
        )  # fmt: skip
        given = given_gaze(gazes[turn.index], size)
        box = overlay_of(
            "gaze", box_in(session.capture, turn.box), size, "pointed at for the assistant"
        )
        boxed = () if box is None else (box,)
        yield msgspec.structs.replace(
            view,
            overlays=(*given, *boxed, *view.overlays),
            stages=staged.get(turn.index, ()),
        )
    for turn in session.turns[len(results) :]:
        waiting = TurnResult(session_id=session.id, turn_index=turn.index, status=Status.ANSWERED)
        yield msgspec.structs.replace(
            turn_view(turn, waiting, {}, size, unsaid=unsaid, strike="", stops_here=False),
            status="waiting",
        )


def _at_stages(
    run: RunReader, session: Session, size: tuple[int, int]
) -> dict[int, tuple[StageRow, ...]]:
    """Turn → how it went at every stage, under the degradation that is looked at."""
    there = set(run.degradations_of(session.id))
    whole = split_stage(session.degradation)[0]
    rows: dict[int, tuple[StageRow, ...]] = {}
    if not any(split_stage(name)[1] for name in there):
        return rows
    pointed = (
        staged_condition(whole, f"pointed{way}") for way in ("", *map(":{}".format, POINTING))
    )
    for condition in (whole, *pointed, *BLIND):
        if condition not in there:
            continue
        stage = split_stage(condition)[1] or WHOLE
        seen = run.session(session.id, condition)
        for result in run.turns(session.id, condition):
            turn, crop = seen.turns[result.turn_index], None
            if stage in ("pointed", "pointed:crop") and session.capture is not None:
                box = box_in(seen.capture, turn.box)
                crop = overlay_of("region", box, size, "pointed at for the assistant")
            skipped = result.status is Status.SKIPPED_AFTER_STOP
            said = result.reply.text if result.reply else result.error or ""
            outcome = "" if skipped else str(outcome_of(result))
            row = StageRow(stage, condition, result.query, said, outcome, crop, len(turn.handed))
            rows[result.turn_index] = (*rows.get(result.turn_index, ()), row)
    return rows


def run_gazes(run: RunReader, session: Session) -> list[Gaze | None]:
    """Per turn, the point that the assistant was given; none where the run gave no gaze."""
    given = (run.meta("config") or {}).get("gaze") == "on"
    return [gaze_of(session, turn) if given else None for turn in session.turns]


def _strikes(
    policy: StopPolicy,
    outcomes: Sequence[Outcome],
    end: int | None,
    turns: int,
    results: Sequence[TurnResult],
) -> Iterator[str]:
    """Per turn, what its failure means to the wearer."""
    marks = ""
    for index, outcome in enumerate(outcomes):
        failed = outcome is not Outcome.UNSCORED and not outcome.is_correct
        if failed:
            marks += "○" if outcome is Outcome.MISSING else "✕"
        elif outcome is not Outcome.UNSCORED:
            marks = ""
        over = end is not None and index >= end
        if policy.name == "never" or not failed or over:
            yield ""
        elif policy.name == "patience":
            ends = _ending(index, end, turns, results, "; the wearer stays")
            yield f"{marks[-1]} a failure{ends}"
        elif index + 1 == end:
            row = f"{len(marks)} failures in a row" if len(marks) > 1 else "a failure"
            yield f"{marks[-5:]} {row}" + _ending(index, end, turns, results)
        else:
            yield f"{marks[-1]} failure {len(marks)} of {policy.value:g} in a row"


def _ending(
    index: int, end: int | None, turns: int, results: Sequence[TurnResult], otherwise: str = ""
) -> str:
    if index + 1 == turns:  # nothing is left to be asked
        return ""
    if end is None or index + 1 != end:
        return otherwise
    later = results[end : end + 1]
    if later and later[0].status is not Status.SKIPPED_AFTER_STOP:
        return ": the wearer would give up here; the rest was asked all the same"
    return ": the wearer gives up here"


UNASKED = ("domain", "query_type", "dynamism")
"""Nobody labels what a visitor asks."""


def live_turns(results: Sequence[TurnResult], size: tuple[int, int]) -> list[TurnView]:
    """Turns of a conversation that nobody has judged."""
    views: list[TurnView] = []
    for result in results:
        turn = Turn(
            index=result.turn_index, id="", query=result.query, reference=Reference(text="")
        )
        views.append(turn_view(turn, result, {}, size, unsaid=UNASKED, strike="", stops_here=False))
    return views


def turn_view(
    turn: Turn,
    result: TurnResult,
    verdicts: dict[str, Verdict],
    size: tuple[int, int],
    measured: Sequence[Measurement] = (),
    *,
    unsaid: Collection[str],
    strike: str,
    stops_here: bool,
) -> TurnView:
    """One turn with what came of it."""
    reply, verdict = result.reply, result.verdict
    trace = reply.trace if reply else ()
    steps = list(walk(trace))
    evidence = [item for step, _ in steps for item in step.evidence]
    cited = frozenset(reply.citations) if reply else frozenset[str]()
    text = reply.text if reply else ""
    skipped = result.status is Status.SKIPPED_AFTER_STOP
    return TurnView(
        index=turn.index,
        query=turn.query,
        labels=_labels(turn, unsaid),
        status=str(result.status),
        outcome="" if skipped else str(outcome_of(result)),
        reply=text,
        error=result.error or "",
        reference=turn.reference.text,
        accepted=turn.reference.accept[:8],
        reason=verdict.reason if verdict else "",
        votes=tuple(_votes(verdicts)),
        measures=tuple(_measures(measured)),
        strike=strike,
        stops_here=stops_here,
        skipped=skipped,
        seconds=result.seconds,
        first_heard=result.first_heard,
        last_heard=result.last_heard,
        unheard=result.unheard.strip(),
        tokens=(reply.usage.input_tokens, reply.usage.output_tokens) if reply else (0, 0),
        cost=reply.usage.cost if reply else 0.0,
        confidence=reply.confidence if reply else None,
        citations=reply.citations if reply else (),
        plan=plan_of(steps),
        hits=tuple(hits_of(evidence, cited, size)),
        passages=tuple(passages_of(evidence, cited, text, turn)),
        read=tuple(dict.fromkeys(e.text for e in evidence if e.source == "ocr" and e.text)),
        bars=bars_of(steps, result.seconds),
        overlays=tuple(boxes_of(steps, evidence, size)),
        picture="" if turn.capture is None else turn.capture.image.sha256,
        move=_move(turn),
        asks=(reply.ask or "") if reply else "",
        heard=result.heard,
        pieces=tuple(mark_heard(turn.query, result.heard.text)) if result.heard else (),
        got=result.got if result else "",
    )


def _move(turn: Turn) -> str:
    said = turn.wearer
    if said is None:
        return ""
    look = f" ({said.look})" if said.look else ""
    return f"goal {said.goal + 1}: {said.move}{look}, patience {said.patience}"


def _labels(turn: Turn, unsaid: Collection[str]) -> tuple[tuple[str, str], ...]:
    flags = {
        "needs the picture": turn.needs_image,
        "needs the history": turn.needs_history,
        "name legible": turn.text_clue,
    }
    given = (("domain", turn.domain), ("query_type", turn.query_type), ("dynamism", turn.dynamism))
    labels = [
        (name.replace("query_", ""), value)
        for name, value in given
        if name not in unsaid and (name != "dynamism" or value != DEFAULTS[name])
    ]
    if turn.popularity:
        labels.append(("popularity", turn.popularity))
    if turn.wearer is not None and turn.wearer.stands_for:
        labels.append(("the goal's own words", turn.wearer.stands_for))
    labels += turn.meta.items()
    return (*labels, *((name, "") for name, on in flags.items() if on))


def _votes(verdicts: dict[str, Verdict]) -> Iterator[VoteRow]:
    for judge, verdict in verdicts.items():
        yield VoteRow(judge, str(verdict.outcome), verdict.reason)
        for vote in verdict.votes:
            yield VoteRow(f"↳ {vote.judge}", str(vote.outcome), vote.reason)


def _measures(measured: Sequence[Measurement]) -> Iterator[MeasureRow]:
    """Measures that apply to the turn, and those that failed."""
    for row in measured:
        if row.value is None and not row.failed:
            continue
        said = row.details.get("sentences") or row.details.get("statements") or ()
        labels = row.details.get("labels") or ()
        loose = [f"{label}: {s}" for s, label in zip(said, labels, strict=False) if label in _LOOSE]
        yield MeasureRow(
            measure=row.measure.replace("_", " "),
            value="failed" if row.value is None else f"{row.value:.2f}",
            judge=row.judge,
            approximate=row.approximate,
            why=row.reason or "; ".join(loose[:5]),
        )


_LOOSE = ("unsupported", "contradicted")


def _size(run: RunReader, digest: str) -> tuple[int, int]:
    """Width and height from the file's header; nothing is decoded."""
    if not digest:
        return (0, 0)
    try:
        return size_of(run.images.get(digest).data)
    except MmragError:
        return (0, 0)


def _before(run: RunReader, session: Session) -> str:
    if session.capture is None or session.degradation == "clean":
        return ""
    keys = run.degradations_of(session.id)
    if "clean" not in keys:
        return ""
    clean = run.session(session.id, "clean").capture
    digest = "" if clean is None else clean.image.sha256
    return digest if digest != session.capture.image.sha256 else ""
