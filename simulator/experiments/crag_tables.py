"""The CRAG paper's tables of any runs and files of outcomes: 3 and 4, 5 (11), 6, and 10."""

from __future__ import annotations

import difflib
import json
import statistics
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, cast

from mmrag.errors import DataError, UsageError
from mmrag.metrics.agreement import compare
from mmrag.metrics.crag_scores import Weights, crag_figures, outcomes_by_judge, traffic_figures
from mmrag.metrics.scoring_protocols import TurnScore
from mmrag.records import Outcome
from simulator.message_text import counted

DYNAMISMS = ("real-time", "fast-changing", "slow-changing", "static")
FORMS = (
    "simple", "simple-w-condition", "set", "comparison", "aggregation", "multi-hop",
    "post-processing", "false-premise",
)  # fmt: skip
DOMAINS = ("finance", "sports", "music", "movie", "open")


class System(NamedTuple):
    """What answered, and its turns."""

    name: str
    turns: list[TurnScore]


def read_system(place: Path) -> System:
    """A run, or a file of outcomes as `mmrag score` takes it."""
    if place.is_dir():
        from simulator.run.results.run_scoring import ScoreOptions, turns_of
        from simulator.store.run_reader import RunReader

        with RunReader(place) as run:
            config: dict[str, Any] = run.meta("config") or {}
            turns = list(turns_of(run, ScoreOptions(protocol="crag")))
        name = f"{place.name} ({config.get('agent', 'unknown')})"
    else:
        from simulator.exchange.read_outcomes import read_turns
        from simulator.run.results.kit_scoring import as_in_kit

        turns = [as_in_kit(said, "crag") for said in read_turns(place)]
        name = place.name
    return System(name, [turn for turn in turns if not turn.skipped])


def read_weights(place: Path, turns: Sequence[TurnScore]) -> Weights:
    """Traffic weights: question type → weight for every domain, or domain → these."""
    try:
        given: object = json.loads(place.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise DataError(f"{place}: no JSON of weights ({error}). {_FORM}") from error
    if not isinstance(given, dict) or not given:
        raise DataError(f"{place}: {_FORM}")
    held = cast("dict[str, Any]", given)
    domains = {turn.domain for turn in turns}
    kinds = {*FORMS, *(turn.query_type for turn in turns)}
    if all(_is_weight(value) for value in held.values()):
        _check_names(place, held, kinds, "question type")
        return dict.fromkeys(domains, held)
    for domain, weights in held.items():
        if not isinstance(weights, dict) or not all(map(_is_weight, weights.values())):
            raise DataError(f"{place}, {domain!r}: {_FORM}")
        _check_names(place, [domain], {*DOMAINS, *domains}, "domain")
        _check_names(place, cast("dict[str, Any]", weights), kinds, "question type")
    return held


def _check_names(place: Path, given: Iterable[str], known: set[str], what: str) -> None:
    """A name that is none would leave questions out of the figures, and nobody would be told."""
    for name in given:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            meant = f"Did you mean {near[0]!r}? " if near else ""
            raise DataError(
                f"{place}: no {what} is called {name[:80]!r}. {meant}There are "
                f"{', '.join(sorted(known))}."
            )


_FORM = 'Write {"simple": 0.4, "set": 0.1, …}, or these for each domain: {"movie": {…}, …}.'


def _is_weight(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1e12


def tables(
    systems: Sequence[System], weights: Path | None = None, human: Path | None = None
) -> dict[str, Any]:
    """All tables that the material allows, as data."""
    if not systems or not all(system.turns for system in systems):
        raise UsageError("the tables need runs or files with turns in them.")
    first = systems[0].turns
    found: dict[str, Any] = {
        "table3": counts(first, "dynamism", DYNAMISMS),
        "table4": counts(first, "query_type", FORMS),
        "table5": [{"system": s.name, **crag_figures(s.turns)} for s in systems],
        "table6": {"equal": [_row(s) for s in systems]},
    }
    if weights is not None:
        found["table6"]["traffic"] = [
            {"system": s.name, **traffic_figures(s.turns, read_weights(weights, s.turns))}
            for s in systems
        ]
    if human is not None:
        found["table10"] = agreement(systems[0].turns, read_system(human).turns)
    others = sum(
        t.domain not in DOMAINS or t.query_type not in FORMS or t.dynamism not in DYNAMISMS
        for t in first
    )
    if others:
        found["note"] = (
            f"{others:,} of {counted(len(first), 'turn')} are not CRAG's: their domain, type or "
            "dynamism is none of its own, and stands in a row or column of its own in Tables 3 "
            "and 4. Tables 5 and 6 are then figures of other questions than the paper's; "
            "mmrag report says more of a run."
        )
    return found


def counts(turns: Sequence[TurnScore], of: str, order: Sequence[str]) -> dict[str, dict[str, int]]:
    """Questions by dynamism or type (rows) and domain (columns), with totals."""
    cells = Counter((str(getattr(turn, of)), turn.domain) for turn in turns)
    rows = [*order, *sorted({row for row, _ in cells} - set(order))]
    columns = [*DOMAINS, *sorted({column for _, column in cells} - set(DOMAINS))]
    found: dict[str, dict[str, int]] = {}
    for row in rows:
        held = {column: cells[row, column] for column in columns}
        found[row] = {**held, "total": sum(held.values())}
    total = {column: sum(found[row][column] for row in rows) for column in columns}
    found["all"] = {**total, "total": len(turns)}
    return found


def agreement(judged: Sequence[TurnScore], human: Sequence[TurnScore]) -> list[dict[str, Any]]:
    """Table 10: each judge against people, by class; automatic evaluation knows three."""
    truth = {(_bare(turn), turn.turn_index): _class(turn.outcome) for turn in human}
    rows = [turn for turn in judged if (_bare(turn), turn.turn_index) in truth]
    if not rows:
        raise UsageError("no turn of the labels is in the run: session_id and turn_index differ.")
    found: list[dict[str, Any]] = []
    for number, outcomes in enumerate(outcomes_by_judge(rows)):
        pairs = [(truth[_bare(row), row.turn_index], _class(outcome))
                 for row, outcome in zip(rows, outcomes, strict=True)]  # fmt: skip
        pairs = [pair for pair in pairs if "unscored" not in pair]
        seen = compare([h for h, _ in pairs], [j for _, j in pairs])
        classes = {
            name: {
                "accuracy": sum((h == name) == (j == name) for h, j in pairs) / len(pairs),
                "precision": held.precision, "recall": held.recall, "f1": held.f1,
            }
            for name in ("accurate", "incorrect", "missing")
            if (held := seen.classes.get(name)) is not None
        }  # fmt: skip
        classes["average"] = {
            key: sum(held[key] or 0.0 for held in classes.values()) / len(classes)
            for key in _AGREED
        }
        found.append({"judge": number + 1, "n": len(pairs), "classes": classes})
    return found


def as_markdown(found: dict[str, Any]) -> str:
    """The tables as people read them."""
    parts = [
        *([f"Note: {found['note']}", ""] if "note" in found else []),
        "## Table 3: questions by dynamism and domain",
        *_counted(found["table3"]),
        "## Table 4: questions by type and domain",
        *_counted(found["table4"]),
        "## Tables 5 and 11: automatic evaluation",
        *_shares(_AUTOMATIC, [("", row) for row in found["table5"]]),
        "## Table 6: the four grades",
        *_shares(_GRADED, [(k, row) for k, rows in found["table6"].items() for row in rows]),
    ]
    if "table10" in found:
        lines = [
            {"system": f"judge {one['judge']}, {name}", **held}
            for one in found["table10"]
            for name, held in one["classes"].items()
        ]
        parts += ["## Table 10: judges against people", *_shares(_AGREED, [("", r) for r in lines])]
    return "\n".join(parts)


_AUTOMATIC = {
    "accuracy": "accuracy",
    "hallucination_rate": "hallucination",
    "missing": "missing",
    "automatic": "truthfulness (a)",
    "printed": "with the printed false-premise rule",
}
_GRADED = {
    "perfect": "perfect",
    "acceptable": "acceptable",
    "incorrect": "hallucination",
    "missing": "missing",
    "truthfulness": "truthfulness (h)",
    "latency_ms": "latency (ms)",
}
_AGREED = {"accuracy": "accuracy", "precision": "precision", "recall": "recall", "f1": "F1"}


def _shares(columns: dict[str, str], rows: Sequence[tuple[str, dict[str, Any]]]) -> list[str]:
    """A table in per cent, a row a system."""
    lines = ["| | " + " | ".join(columns.values()) + " |", "|---|" + "---|" * len(columns)]
    for kind, row in rows:
        cells = [
            f"{row[key]:,}" if key == "latency_ms" and row.get(key) else _pc(row.get(key))
            for key in columns
        ]
        name = f"{row['system']}, {kind} weights" if kind else row["system"]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return [*lines, ""]


def _row(system: System) -> dict[str, Any]:
    seconds = [turn.seconds for turn in system.turns if turn.seconds is not None]
    latency = round(1000 * statistics.fmean(seconds)) if seconds else None
    return {"system": system.name, **crag_figures(system.turns), "latency_ms": latency}


def _counted(rows: dict[str, dict[str, int]]) -> list[str]:
    columns = list(rows["all"])
    total = rows["all"]
    lines = ["| | " + " | ".join(columns) + " |", "|---|" + "---|" * len(columns)]
    for name, held in rows.items():
        cells = [
            f"{held[c]:,}" if name == "all" else f"{held[c]:,} ({100 * held[c] / total[c]:.0f})"
            if total[c] else "0" for c in columns
        ]  # fmt: skip
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return [*lines, ""]


def _pc(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.1f}"


def _class(outcome: Outcome) -> str:
    return "accurate" if outcome.is_correct else str(outcome)


def _bare(turn: TurnScore) -> str:
    return turn.cluster or turn.session_id
