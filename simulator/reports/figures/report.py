"""A report as data: everything that the page shows, and nothing that it does not."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np

from mmrag.errors import SpecError
from mmrag.metrics.headline import HEADLINE, IntervalOptions, bounds_note
from mmrag.records import Record
from simulator.reports.figures.costs import costs, latency_by_condition
from simulator.reports.figures.diagnosis import diagnosis
from simulator.reports.figures.failures import choose_failures, describe
from simulator.reports.figures.headline import headline
from simulator.reports.figures.measure_tables import measured
from simulator.reports.figures.noticed_faults import noticing
from simulator.reports.figures.robustness import failing_stages, robustness
from simulator.reports.figures.searches import retrieval
from simulator.reports.figures.slices import dimensions, slice_table, standouts
from simulator.reports.figures.survival import conversation_survival, history_errors
from simulator.reports.figures.turns import all_turns
from simulator.reports.figures.wearers import wearers
from simulator.reports.losses.hearing_losses import hearing_losses
from simulator.reports.losses.link_losses import link_losses
from simulator.reports.read.turn_frame import TurnFrame, kind_and_severity, load_turn_frame
from simulator.run.results.run_scoring import (
    completed_by,
    deaf_notes,
    language_note,
    main_of,
    nothing_scored,
    run_state,
    verdict_cure,
)
from simulator.run.run_config import GLASSES, RunConfig, command_of
from simulator.run.stop_policies import StopPolicy
from simulator.stages.truth_stage_names import split_stage
from simulator.store.run_reader import RunReader

SCHEMA_VERSION = 1
"""Version of report.json."""

PUBLISHED_DATA = ("crag-mm-", "world-")
"""How fingerprints of data begin that CRAG-MM's published figures say something of."""


class ReportOptions(Record, frozen=True, kw_only=True):
    """How runs are reported; printed in the report."""

    stop: str | None = None
    """Score under this stop rule; None takes the runs' own, which must then agree."""
    agent_errors: str | None = None
    """Count infrastructure failures as unscored, missing or incorrect; None: as the runs say."""
    resamples: int = 1000
    seed: int = 0
    min_n: int = 20
    """Slices of fewer scored turns are greyed."""
    failures: int = 20
    title: str | None = None

    @property
    def uncertainty(self) -> IntervalOptions:
        """How intervals are made."""
        return IntervalOptions(resamples=self.resamples, seed=self.seed)


HOW = ReportOptions().uncertainty
"""How intervals are made where nothing else is said."""


@dataclass(frozen=True)
class LoadedRun:
    """A run that has been read for a report."""

    name: str
    run: RunReader
    config: RunConfig | None
    frame: TurnFrame
    """Of the whole questions: what was handed over at a stage stands in `staged` alone."""
    staged: TurnFrame | None = None
    """Everything, where the run handed stages of the truth over."""


def load_report_runs(
    readers: Sequence[RunReader],
    options: ReportOptions,
) -> tuple[list[LoadedRun], StopPolicy, str]:
    """Read runs under one stop rule and one treatment of failures; refuse runs that disagree."""
    configs = [_config(run) for run in readers]
    stop = options.stop or _common("stop", configs, readers, "strikes(2)", "--stop")
    errors = options.agent_errors or _common(
        "agent_errors", configs, readers, "unscored", "--agent-errors"
    )
    policy = StopPolicy.parse(stop, seed=configs[0].seed if configs[0] else options.seed)
    frames = [load_turn_frame(run, stop=policy, agent_errors=errors) for run in readers]
    names = _names(readers)
    loaded = [
        LoadedRun(name, run, config, *_apart(frame))
        for name, run, config, frame in zip(names, readers, configs, frames, strict=True)
    ]
    return loaded, policy, errors


def _apart(frame: TurnFrame) -> tuple[TurnFrame, TurnFrame | None]:
    whole = [name for name in frame.conditions if not split_stage(name)[1]]
    return (frame, None) if whole == frame.conditions else (frame.only(whole), frame)


def build_report(
    loaded: Sequence[LoadedRun],
    stop: StopPolicy,
    agent_errors: str,
    options: ReportOptions,
    *,
    on_part: Callable[[str], None] = lambda _: None,
) -> dict[str, Any]:
    """The whole report of one or several runs."""
    how = options.uncertainty
    shown = [item for item in loaded if not _is_counterpart(item, loaded)]
    runs = [_run(item, _counterpart(item, loaded), stop, how, options, on_part) for item in shown]
    lacking = (
        lacking_verdicts(item.run, run["name"], condition)
        for item, run in zip(shown, runs, strict=True)
        for condition in run["conditions"]
        if condition["name"] == run["main"]
    )
    return {
        "schema_version": SCHEMA_VERSION,
        "kind": "report",
        "title": options.title or "mmrag report: " + ", ".join(item.name for item in shown),
        "options": {
            **msgspec.structs.asdict(options),
            "stop": str(stop),
            "agent_errors": agent_errors,
            "level": how.level,
        },
        "warnings": [
            *(f"{item.name}: {note}" for item in loaded for note in deaf_notes(item.run)),
            *filter(None, lacking),
            *_warnings(loaded),
        ],
        "runs": runs,
    }


def main_condition(frame: TurnFrame) -> str:
    """The condition that stands for a run: clean where there is one."""
    return main_of(frame.conditions)


def opening_figures(
    item: LoadedRun,
    how: IntervalOptions,
    *,
    min_n: int = 20,
    on_part: Callable[[str], None] = lambda _: None,
) -> dict[str, Any]:
    """What a report begins with, and Home, and the Markdown of a comparison."""
    frame, main = item.frame, main_condition(item.frame)
    kinds = dimensions(frame)
    on_part("headline")
    headlines = {name: headline(frame, frame.condition(name), how) for name in frame.conditions}
    on_part("robustness")
    return {
        "name": item.name,
        "main": main,
        "conditions": [
            {
                "name": name,
                "kind": kind_and_severity(name)[0],
                "severity": kind_and_severity(name)[1],
                **figures,
            }
            for name, figures in headlines.items()
        ],
        "robustness": robustness(frame, headlines, kinds, how, min_n=min_n),
        "stages": failing_stages(frame),
        **(
            {}
            if item.staged is None
            else {"diagnosis": diagnosis(item.staged, item.run, how, min_n=min_n)}
        ),
        "slices": {"standouts": standouts(frame, frame.condition(main), kinds=kinds)},
    }


def _run(
    item: LoadedRun,
    counterpart: LoadedRun | None,
    stop: StopPolicy,
    how: IntervalOptions,
    options: ReportOptions,
    on_part: Callable[[str], None],
) -> dict[str, Any]:
    frame, main = item.frame, main_condition(item.frame)
    rows = frame.condition(main)
    degraded = ~rows if len(frame.conditions) > 1 else None
    kinds = dimensions(frame)
    first = opening_figures(item, how, min_n=options.min_n, on_part=on_part)
    on_part("slices")
    tables = {
        "main": slice_table(frame, rows, how, min_n=options.min_n, kinds=kinds),
        "degraded": None
        if degraded is None
        else slice_table(frame, degraded, how, min_n=options.min_n, kinds=kinds),
        **first["slices"],
    }
    headlines = {one["name"]: one for one in first["conditions"]}
    live, heard = wearers(item.run), hearing_losses(frame, how)
    on_part("failures")
    chosen = choose_failures(frame, options.failures)
    return {
        **first,
        "about": _about(item),
        "state": _state(item),
        "turns": all_turns(item.run, frame),
        **({} if (link := link_losses(frame, headlines, how)) is None else {"link": link}),
        "slices": tables,
        "conversation": {
            "main": conversation_survival(frame, rows, stop=stop),
            "degraded": None
            if degraded is None
            else conversation_survival(frame, degraded, stop=stop, other_rules=False),
        },
        "history": None if counterpart is None else history_errors(frame, counterpart.frame, main),
        "retrieval": {
            "main": retrieval(frame, rows),
            "degraded": None if degraded is None else retrieval(frame, degraded),
        },
        "measured": measured(item.run, main, how),
        **({} if live is None else {"wearers": live}),
        **({} if heard is None else {"hearing": heard}),
        **({} if (wrong := noticing(frame, kinds, how)) is None else {"noticing": wrong}),
        "costs": costs(frame, np.ones(len(frame), bool)),
        "latency": latency_by_condition(frame),
        "failures": [describe(item.run, frame, row, reasons, kinds) for row, reasons in chosen],
    }


def _about(item: LoadedRun) -> dict[str, Any]:
    run = item.run
    provenance: dict[str, Any] = run.meta("provenance") or {}
    command = None  # a person's run cannot be made again
    if item.config is not None and item.config.wearer != "person":
        # the command of an app's run takes a folder, as going on with this one would ask nothing
        more = ("--out", "NEW") if item.config.agent == GLASSES else ()
        command = command_of(item.config, *more)
    return {
        "config": None if item.config is None else msgspec.structs.asdict(item.config),
        "judge": run.meta("judge"),
        "language": language_note(run),
        "provenance": provenance,
        "beside_published": str(provenance.get("data") or "crag-mm-").startswith(PUBLISHED_DATA),
        "command": command,
    }


def _state(item: LoadedRun) -> dict[str, Any]:
    """Whether the run is whole, and what is missing where it is not."""
    state = msgspec.structs.asdict(run_state(item.run))
    return {**state, "statuses": item.run.turn_counts()}


def lacking_verdicts(run: RunReader, name: str, condition: dict[str, Any]) -> str | None:
    """That the headline of a condition is bounds or nothing, if it is, and what helps."""
    truth = condition["strict"][HEADLINE]["truthfulness_score"]
    if "bounds" not in truth:
        nothing = nothing_scored(run, {"total": truth["n"]})
        return nothing and f"{name}: {nothing}"
    note = bounds_note(truth["bounds"], truth["unjudged"], truth["n"])
    return f"{name}: {note} {verdict_cure(run)}"


def _warnings(loaded: Sequence[LoadedRun]) -> list[str]:
    found: list[str] = []
    judges = {str(item.run.meta("judge")) for item in loaded}
    if len(judges) > 1:
        found.append(
            f"The runs were judged by different judges ({', '.join(sorted(judges))}): their "
            "figures are not comparable. `mmrag judge run` gives them the same one."
        )
    for item in loaded:
        warning = run_state(item.run).warning(item.name, completed_by(item.run))
        if warning is not None:
            found.append(warning)
        if item.frame.error_texts is not None:
            found.append(f"{item.name}: {item.frame.error_texts}")
        if len(item.frame.sessions) == 1:
            found.append(f"{item.name}: a single session; there are no intervals and no tests.")
    return found


def _config(run: RunReader) -> RunConfig | None:
    found = run.meta("config")
    return None if found is None else msgspec.convert(found, RunConfig)


def _common(
    name: str,
    configs: Sequence[RunConfig | None],
    readers: Sequence[RunReader],
    default: str,
    flag: str,
) -> str:
    values = [default if config is None else str(getattr(config, name)) for config in configs]
    if len(set(values)) > 1:
        each = ", ".join(
            f"{run.folder.name}: {value}" for run, value in zip(readers, values, strict=True)
        )
        raise SpecError(
            f"the runs were made under different rules ({name} is {each}). "
            f"Choose one for all with {flag}."
        )
    return values[0]


def _names(readers: Sequence[RunReader]) -> list[str]:
    """Folder names, told apart where two are the same, and fit to be written in any encoding."""
    names = [run.folder.resolve().name for run in readers]
    apart = [
        name if names.count(name) == 1 else f"{run.folder.resolve().parent.name}/{name}"
        for name, run in zip(names, readers, strict=True)
    ]
    return [os.fsencode(name).decode("utf-8", "backslashreplace") for name in apart]


def _counterpart(item: LoadedRun, loaded: Sequence[LoadedRun]) -> LoadedRun | None:
    """The same run, but with the references as history."""
    if item.config is None or item.config.reference_history or item.config.answers_back:
        return None
    wanted = msgspec.structs.replace(item.config, reference_history=True, after_stop="skip")
    for other in loaded:
        if other.config is not None and wanted == msgspec.structs.replace(
            other.config, after_stop="skip"
        ):
            return other
    return None


def _is_counterpart(item: LoadedRun, loaded: Sequence[LoadedRun]) -> bool:
    return any(_counterpart(other, loaded) is item for other in loaded)
