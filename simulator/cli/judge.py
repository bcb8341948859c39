"""`mmrag judge`: judge replies in a file, and measure a judge against people."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer
import typer.core

from mmrag.errors import DataError, UsageError
from simulator.cli.options.flags import AsJson, Concurrency, RunFolder
from simulator.message_text import counted

if TYPE_CHECKING:
    from mmrag.metrics.agreement import Agreement
    from mmrag.protocols import Judge
    from mmrag.records import JudgeItem, Usage, Verdict

BATCH = 256

T = TypeVar("T")

JudgeName = Annotated[str, typer.Option("--judge", help="Which judge: builtin, exact, model:…")]


class _FileFirst(typer.core.TyperGroup):
    """`mmrag judge FILE` is short for `mmrag judge file FILE`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if args and args[0] not in self.commands and args[0] not in ("--help", "-h"):
            args = ["file", *args]
        return super().parse_args(ctx, args)


def register(app: typer.Typer) -> None:
    """Add the commands."""
    group = typer.Typer(cls=_FileFirst, no_args_is_help=True, rich_markup_mode=None)
    group.command("file")(judge_file)
    group.command("calibrate")(calibrate)
    group.command("stress")(stress)
    group.command("run")(rejudge)
    app.add_typer(group, name="judge", help="Judges: file, run, calibrate, stress.")


def rejudge(
    folder: RunFolder,
    judge: Annotated[str, typer.Option(help="Judge spec.")] = "builtin",
    concurrency: Concurrency = 16,
    as_json: AsJson = False,
) -> None:
    """Judge a run's replies again without asking the agent. Earlier verdicts are kept."""
    from simulator.application.execution import rejudge as judge_again
    from simulator.application.scores import scores_of
    from simulator.cli.tables.run_tables import print_scores
    from simulator.run.results.run_scoring import options_for
    from simulator.store.run_reader import RunReader

    count = judge_again(folder, judge, concurrency=concurrency)
    with RunReader(folder) as reader:
        left = reader.turn_counts().get("judge_error", 0)
        unscored = f", {left} left unscored" if left else ""
        typer.secho(f"{counted(count, 'reply', 'replies')} judged{unscored}.", err=True)
        print_scores(
            scores_of(reader, options_for(reader), by_condition=not as_json), as_json=as_json
        )


def judge_file(
    file: Annotated[
        Path,
        typer.Argument(
            help="Lines {id?, question, references, prediction}, or a kit's result CSV."
        ),
    ],
    judge: JudgeName = "builtin",
    as_json: Annotated[
        bool, typer.Option("--json", help="Print each line with its verdict added.")
    ] = False,
    concurrency: Annotated[int, typer.Option(min=1, help="Questions in flight.")] = 8,
) -> None:
    """Judge every line of FILE. The names in the public kits' result rows are understood too."""
    from collections import Counter

    from mmrag.records import Usage
    from simulator.parts.preflight import ready_judge
    from simulator.run.results.error_texts import error_texts_in

    chosen, counts, usage = ready_judge(judge), Counter[str](), Usage()
    lines = read_lines(file)
    for part in verdicts_of(lines, chosen, concurrency):
        for row, verdict in part:
            counts[verdict.outcome.value] += 1
            usage += verdict.usage
            if as_json:
                typer.echo(_json_line(row | _fields(verdict)))
    if errors := error_texts_in(item.prediction for _, item in lines):
        typer.secho(f"warning: {errors}", fg="yellow", err=True)
    if as_json:
        return
    scored = sum(counts.values()) - counts["unscored"]
    typer.echo(f"judge     {getattr(chosen, 'id', judge)}")
    typer.echo(f"replies   {sum(counts.values())} ({scored} scored)")
    for name in ("perfect", "acceptable", "missing", "incorrect", "unscored"):
        share = f"{counts[name] / scored:8.1%}" if scored and name != "unscored" else ""
        typer.echo(f"{name:<10}{counts[name]:>6}{share}")
    _show_cost(usage)


def calibrate(
    human: Annotated[Path, typer.Argument(help="Lines with human_correct or human_outcome.")],
    judge: JudgeName = "builtin",
    as_json: AsJson = False,
    concurrency: Annotated[int, typer.Option(min=1, help="Questions in flight.")] = 8,
) -> None:
    """Measure a judge against people: accuracy, kappa and the confusion matrix."""
    import hashlib

    import msgspec

    from mmrag.metrics.agreement import compare
    from mmrag.records import Outcome
    from simulator.parts.preflight import ready_judge

    chosen = ready_judge(judge)
    lines = read_lines(human)
    labels = [_human(row, human) for row, _ in lines]  # before a judge is paid
    binary = all("human_outcome" not in row for row, _ in lines)
    truth: list[str] = []
    judged: list[str] = []
    unscored = 0
    rows = (one for part in verdicts_of(lines, chosen, concurrency) for one in part)
    for label, (_, verdict) in zip(labels, rows, strict=True):
        if verdict.outcome is Outcome.UNSCORED:
            unscored += 1
        else:
            truth.append(label)
            judged.append(_merged(verdict.outcome, binary=binary))
    fingerprint = hashlib.sha256(human.read_bytes()).hexdigest()
    found = compare(truth, judged)
    name = str(getattr(chosen, "id", judge))
    seen = getattr(chosen, "made_from", None) == fingerprint
    if as_json:
        shown = msgspec.to_builtins(found) | {
            "judge": name,
            "unscored": unscored,
            "made_from_this_file": seen,
        }
        typer.echo(json.dumps(shown, ensure_ascii=False))
        return
    typer.echo(f"judge     {name}")
    _show(found)
    typer.echo(f"unscored  {unscored}")
    if seen:
        typer.echo(
            "These figures flatter: this judge was made from this very file (docs/judges.md)."
        )


def stress(
    judge: JudgeName = "builtin",
    half: Annotated[
        str, typer.Option(help="Which half of the suite: open, held or both.")
    ] = "both",
    limit: Annotated[
        int | None, typer.Option(min=1, help="At most so many pairs of each angle.")
    ] = None,
    as_json: AsJson = False,
    concurrency: Annotated[int, typer.Option(min=1, help="Questions in flight.")] = 8,
) -> None:
    """Measure how far a judge can be gamed: adversarial pairs by angle."""
    import msgspec

    from mmrag.judges.stress import read_pairs, sum_angles, tally
    from mmrag.records import Outcome, Usage
    from simulator.parts.preflight import ready_judge

    chosen, usage = ready_judge(judge), Usage()
    pairs = read_pairs(half, limit=limit)
    outcomes: list[Outcome] = []
    for part in verdicts_of([(pair, pair.item()) for pair in pairs], chosen, concurrency):
        for _, verdict in part:
            outcomes.append(verdict.outcome)
            usage += verdict.usage
    angles = tally(pairs, outcomes)
    rows = {angle.name: msgspec.to_builtins(angle) for angle in (*angles, sum_angles(angles))}
    for row in rows.values():
        del row["name"]
    if as_json:
        shown = {
            "judge": str(getattr(chosen, "id", judge)),
            "half": half,
            "all": rows.pop("all"),
            "angles": rows,
            "usage": msgspec.to_builtins(usage),
        }
        typer.echo(json.dumps(shown, ensure_ascii=False))
        return
    typer.echo(f"judge     {getattr(chosen, 'id', judge)}")
    typer.echo(f"\n{'angle':<16}   n  right   share  95 % interval  wrong accepted  right rejected")
    for name, row in rows.items():
        low, high = (100 * end for end in row["interval"])
        typer.echo(
            f"{name:<16}{row['n']:>4}{row['right']:>7}{row['right'] / row['n']:>8.1%}"
            f"{low:>8.0f}–{high:<6.0f}{row['accepted']:>15}{row['rejected']:>16}"
        )
    _show_cost(usage)


def read_lines(path: Path) -> list[tuple[dict[str, Any], JudgeItem]]:
    """The rows of a JSONL or CSV file as they stand, each with what a judge is given of it."""
    from simulator.datasets.result_lines import read_rows

    if (path / "run.sqlite").is_file():
        raise UsageError(f"{path} is a run: mmrag judge run {shlex.quote(str(path))}")
    if not path.is_file():
        raise UsageError(f"cannot read {path}: there is no such file. Give JSON lines or a CSV.")
    found = [(row.given, row.item()) for row in read_rows(path)]
    if not found:
        raise DataError(f"{path} holds no line. Write one JSON object per line.")
    return found


def _json_line(row: dict[str, Any]) -> str:
    """JSON as people read it; a lone surrogate, which no output takes, keeps it all in escapes."""
    text = json.dumps(row, ensure_ascii=False)
    return json.dumps(row) if any("\ud800" <= c <= "\udfff" for c in text) else text


def verdicts_of(
    lines: list[tuple[T, JudgeItem]], judge: Judge, concurrency: int
) -> Iterator[list[tuple[T, Verdict]]]:
    """Batches of lines with their verdicts, in order, with progress on stderr."""
    import asyncio

    from mmrag.judges.fallback import FallbackJudge
    from simulator.run.engine import verdict_on
    from simulator.terminal.progress import progress_bars

    many = getattr(judge, "judge_many", None)
    asked = FallbackJudge(judge)

    async def gather(items: list[JudgeItem]) -> list[Verdict]:
        gate = asyncio.Semaphore(concurrency)

        async def one(item: JudgeItem) -> Verdict:
            async with gate:
                return await verdict_on(asked, item)

        return list(await asyncio.gather(*map(one, items)))

    with progress_bars() as advance:
        for start in range(0, len(lines), BATCH):
            part = lines[start : start + BATCH]
            items = [item for _, item in part]
            verdicts: list[Verdict] = many(items) if many else asyncio.run(gather(items))
            advance("judging", start + len(part), len(lines))
            yield [(row, verdict) for (row, _), verdict in zip(part, verdicts, strict=True)]
    asked.check()


def _show_cost(usage: Usage) -> None:
    if usage.calls:
        typer.echo(
            f"cost      ${usage.cost:.4f} ({usage.calls:,} calls, {usage.input_tokens:,} input and "
            f"{usage.output_tokens:,} output tokens)"
        )


def _fields(verdict: Verdict) -> dict[str, Any]:
    import msgspec

    fields: dict[str, Any] = {
        "outcome": verdict.outcome.value,
        "score": verdict.score,
        "exact": verdict.exact,
        "reason": verdict.reason,
        "judge": verdict.judge,
    }
    if verdict.votes:
        fields["votes"] = msgspec.to_builtins(verdict.votes)
    if verdict.usage.calls:
        fields["usage"] = msgspec.to_builtins(verdict.usage)
    return fields


def _human(row: dict[str, Any], path: Path) -> str:
    from mmrag.records import Outcome

    if "human_outcome" in row:
        try:
            return _merged(Outcome(row["human_outcome"]), binary=False)
        except ValueError:
            pass
    elif isinstance(row.get("human_correct"), bool):
        return "correct" if row["human_correct"] else "incorrect"
    raise DataError(
        f"{path}: a line (id {row.get('id', '?')}) needs human_correct (true or false) or "
        "human_outcome (perfect, acceptable, missing or incorrect)."
    )


def _merged(outcome: Any, *, binary: bool) -> str:
    if outcome.is_correct:
        return "correct"
    return "incorrect" if binary else str(outcome.value)


def _show(found: Agreement) -> None:
    def figure(value: float | None) -> str:
        return "     –" if value is None else f"{value:6.3f}"

    typer.echo(f"replies   {found.n}")
    typer.echo(f"accuracy  {figure(found.accuracy)}")
    typer.echo(f"kappa     {figure(found.kappa)}")
    typer.echo(f"\n{'outcome':<12}{'people':>8}{'judge':>8}  precision  recall      F1")
    for name, own in found.classes.items():
        typer.echo(
            f"{name:<12}{own.true:>8}{own.said:>8}     {figure(own.precision)}  "
            f"{figure(own.recall)}  {figure(own.f1)}"
        )
    names = list(found.classes)
    typer.echo("\npeople ↓ judge →" + "".join(f"{name:>12}" for name in names))
    for name in names:
        cells = "".join(f"{found.confusion[name][other]:>12}" for other in names)
        typer.echo(f"{name:<16}{cells}")
    typer.echo("")
