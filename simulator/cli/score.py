"""`mmrag score`: from a run, from outcomes, or from replies to the figures of a protocol."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
import typer

from mmrag.errors import DataError, SpecError, UsageError
from simulator.cli.options.flags import AsJson, OldCondition

if TYPE_CHECKING:
    from mmrag.metrics.scoring_protocols import TurnScore
    from mmrag.records import Verdict
    from simulator.application.scores import Scores
    from simulator.run.results.kit_scoring import TurnToScore
    from simulator.run.results.run_scoring import ScoreOptions

_IN_FLIGHT = 8
_BY_LINES = "as the lines say"


def score(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="RUN|FILE", help="A run, or lines of outcomes or replies (JSON lines, CSV)."
        ),
    ],
    protocol: Annotated[str, typer.Option(help="strict, crag, crag-mm or kddcup25.")] = "strict",
    judge: Annotated[
        str | None,
        typer.Option(
            help="Judges what the protocol's rules leave open; none: incorrect. "
            "Else the verdicts that are there, else none (strict: builtin)."
        ),
    ] = None,
    stop: Annotated[
        str | None, typer.Option(help="Another stop rule than the run's own, or strikes(2).")
    ] = None,
    condition: Annotated[
        str | None, typer.Option(help="Only this condition of a run, e.g. clean.")
    ] = None,
    degradation: OldCondition = None,
    agent_errors: Annotated[
        str | None, typer.Option(help="Count a run's failures as unscored, missing or incorrect.")
    ] = None,
    traffic: Annotated[
        Path | None,
        typer.Option(help="Under crag: JSON of question type → weight (or domain → these)."),
    ] = None,
    resamples: Annotated[
        int, typer.Option(min=0, help="Resamples behind intervals; 0: none.")
    ] = 1000,
    seed: Annotated[int | None, typer.Option(help="Seed of the intervals and of patience.")] = None,
    as_json: AsJson = False,
) -> None:
    """Score a run, or any system's turns: lines of {session_id, turn_index, outcome} or of
    {session_id, turn_index, question, references, prediction}, or a kit's result rows.
    """
    from mmrag.metrics.scoring_protocols import check_protocol
    from simulator.application.scores import Scores
    from simulator.cli.tables.run_tables import print_scores
    from simulator.run.results.run_scoring import ScoreOptions

    check_protocol(protocol)
    condition = condition or degradation
    if traffic is not None and protocol != "crag":
        raise UsageError(f"--traffic is CRAG's: add --protocol crag (not {protocol}).")
    asked = _Asked(judge, protocol, traffic)
    if not file.exists():
        raise DataError(
            f"{file}: there is no such run or file. Give the folder that `mmrag run --out` wrote, "
            "or a file with a line per turn."
        )
    if file.is_dir():
        given = {
            "protocol": protocol, "stop": stop, "agent_errors": agent_errors,
            "degradation": condition, "resamples": resamples, "seed": seed,
        }  # fmt: skip
        scores = _run(file, given, asked, by_condition=not as_json)
    else:
        if agent_errors is not None or condition is not None:
            raise UsageError(
                f"{file}: a file of outcomes tells neither failures from other turns nor "
                "conditions; --agent-errors and --condition are for runs."
            )
        options = ScoreOptions(
            protocol=protocol, stop=stop or "strikes(2)", resamples=resamples, seed=seed or 0
        )
        scores = Scores(_file(file, options, asked), options)
    print_scores(scores, as_json=as_json)


def _run(folder: Path, given: dict[str, Any], asked: _Asked, *, by_condition: bool) -> Scores:
    from simulator.application.scores import scores_of
    from simulator.run.results.run_scoring import options_for, turns_of
    from simulator.store.run_reader import RunReader

    with RunReader(folder) as reader:
        options = options_for(reader, **given)
        anew = asked.spec is not None
        judging = asked.verdicts if anew else None
        read = anew or asked.traffic is not None
        turns = list(turns_of(reader, options, judging)) if read else None
        scores = scores_of(reader, options, turns, by_condition=by_condition)
        _weighted(scores.as_dict(), turns or [], asked.traffic)
    return scores.with_figures(judge=asked.id) if anew else scores


def _weighted(figures: dict[str, Any], turns: list[TurnScore], traffic: Path | None) -> None:
    """Put the traffic-weighted figures beside the others."""
    if traffic is None:
        return
    from mmrag.metrics.crag_scores import traffic_figures
    from simulator.experiments.crag_tables import read_weights

    asked = [turn for turn in turns if not turn.skipped]
    figures["all"]["traffic"] = traffic_figures(asked, read_weights(traffic, asked))


def _file(file: Path, options: ScoreOptions, asked: _Asked) -> dict[str, Any]:
    from mmrag.metrics.scoring_protocols import score as score_turns
    from simulator.exchange.read_outcomes import read_turns
    from simulator.run.results.error_texts import error_texts_in
    from simulator.run.results.kit_scoring import as_in_kit
    from simulator.run.results.run_scoring import missing_verdicts
    from simulator.run.stop_policies import StopPolicy

    said = read_turns(file)
    if asked.spec is not None and all(one.item is None for one in said):
        raise UsageError(f"{file}: --judge {asked.spec} has no replies to judge, only outcomes.")
    turns = [as_in_kit(one, options.protocol) for one in asked.verdicts(said)]
    figures: dict[str, Any] = score_turns(
        turns,
        options.protocol,
        stop=StopPolicy.parse(options.stop, seed=options.seed).rule,
        resamples=options.resamples,
        seed=options.seed,
    )
    _weighted(figures, turns, asked.traffic)
    errors = error_texts_in(one.item.prediction for one in said if one.item is not None)
    lacking = missing_verdicts(figures["all"], "Have them judged: --judge SPEC.")
    return {
        "warnings": [] if lacking is None else [lacking],
        **figures,
        "options": msgspec.structs.asdict(options),
        "judge": asked.id,
        "error_texts": None if errors is None else msgspec.structs.asdict(errors),
    }


class _Asked:
    """The judge that was asked for, and what it makes of the replies that are left to it."""

    def __init__(self, spec: str | None, protocol: str, traffic: Path | None = None) -> None:
        from simulator.application.scores import NO_JUDGE
        from simulator.run.results.kit_scoring import OFFICIAL

        official = protocol in OFFICIAL
        if spec == NO_JUDGE and not official:
            raise SpecError(
                f"--judge {NO_JUDGE} is for {' and '.join(OFFICIAL)}, whose kits have rules of "
                f"their own; {protocol} needs a judge."
            )
        self.spec = spec
        self.traffic = traffic
        self.id = _BY_LINES
        self._protocol = protocol
        self._usual = spec or (NO_JUDGE if official else "builtin")
        self._none = NO_JUDGE

    def verdicts(self, said: list[TurnToScore]) -> list[TurnToScore]:
        """The turns, with a verdict on each reply that is left to the judge.

        Verdicts that are there stand, unless a judge was named.
        """
        from simulator.run.results.kit_scoring import needs_judge

        if self.spec is None and all(one.is_judged for one in said):
            return said
        left = [
            place
            for place, one in enumerate(said)
            if (self.spec is not None or not one.is_judged) and needs_judge(one, self._protocol)
        ]
        found = list(said)
        for place, verdict in zip(left, self._judged([said[n] for n in left]), strict=True):
            found[place] = _with(said[place], verdict)
        return found

    def _judged(self, said: list[TurnToScore]) -> Sequence[Verdict]:
        from mmrag.records import Outcome, Verdict
        from simulator.cli.judge import verdicts_of
        from simulator.parts.preflight import ready_judge

        if self._usual == self._none:
            self.id = self._none
            return [Verdict(outcome=Outcome.INCORRECT, judge=self._none)] * len(said)
        judge = ready_judge(self._usual)
        self.id = str(getattr(judge, "id", self._usual))
        lines = [(one, one.item) for one in said if one.item is not None]
        return [v for part in verdicts_of(lines, judge, _IN_FLIGHT) for _, v in part]


def _with(said: TurnToScore, verdict: Verdict) -> TurnToScore:
    turn = msgspec.structs.replace(
        said.turn,
        outcome=verdict.outcome,
        exact=verdict.exact,
        votes=tuple(vote.outcome for vote in verdict.votes),
    )
    return msgspec.structs.replace(said, turn=turn, is_judged=True)
