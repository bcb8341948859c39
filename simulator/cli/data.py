"""`mmrag data`: bring data of your own; know before a run what is wrong with it."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mmrag.errors import UsageError
from simulator.cli.options.flags import AsJson
from simulator.message_text import counted, printable_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from simulator.datasets.own.line_parser import LineProblem
    from simulator.datasets.own.own_data import CheckedLine
    from simulator.datasets.session_source import SessionSource

Source = Annotated[
    str,
    typer.Argument(metavar="FILE", help="A .jsonl or .csv file, a folder with one, READER:PLACE."),
]
Pictures = Annotated[str, typer.Option(help="Folder of the pictures, else beside the file.")]
Split = Annotated[str, typer.Option(help="Of a Hugging Face folder with several.")]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    data = typer.Typer(help="Data of your own: start, check, schema.", no_args_is_help=True)
    for command in (start, check, schema):
        data.command()(command)
    app.add_typer(data, name="data")


def start(
    folder: Annotated[Path, typer.Argument(help="A folder of pictures.")],
    out: Annotated[
        Path | None, typer.Option(help="The file to write, else questions.csv in the folder.")
    ] = None,
    turns: Annotated[
        int,
        typer.Option(min=1, max=20, help="Questions per conversation; several: JSON lines."),
    ] = 1,
) -> None:
    """Write a table of a folder's pictures, with a question and an answer to fill in for each.

    With --turns, or an --out that ends in .jsonl, JSON lines: a conversation per picture.
    """
    from simulator.datasets import suggest_path
    from simulator.datasets.own.album import Album

    if not folder.is_dir():
        raise UsageError(
            f"{folder}: there is no such folder.{suggest_path(folder)} Give one of pictures."
        )
    album = Album(folder.absolute())
    for reason in album.drop_unreadable():
        typer.secho(f"left out: {printable_text(reason)}", fg="yellow", err=True)
    file = out or folder / ("questions.csv" if turns == 1 else "questions.jsonl")
    album.write_questions(file, turns)
    fill = "question and answer"
    if file.suffix.lower() != ".csv":
        fill = "query and references of each turn, delete turns that you do not need"
    typer.echo(f"{counted(len(album), 'picture')} in {file}: fill in {fill}, then "
               f"mmrag data check {file}")  # fmt: skip


def check(
    file: Source, pictures: Pictures = "", split: Split = "multi-turn", as_json: AsJson = False
) -> None:
    """Say line by line what is wrong and what each turn will be; exits with 1 if a turn is lost.

    Of published data (crag:FILE, crud:FILE, …) it says which rows cannot be used.
    """
    from simulator.datasets.own.own_data import OwnData

    source = _open(file, pictures, split)
    if not isinstance(source, OwnData):
        _check_published(source, as_json=as_json)
        return
    lines = list(source.examined_with_pictures())
    if as_json:
        typer.echo(json.dumps([_as_json(line) for line in lines], indent=2, ensure_ascii=False))
    else:
        for text in _told(lines):
            _say_plainly(text)
    if not lines or any(_is_bad(line) for line in lines):
        raise typer.Exit(1)


def schema() -> None:
    """Print the JSON schema of a line, for editors and other programs."""
    from simulator.datasets.own.line_schema import json_schema

    typer.echo(json.dumps(json_schema(), indent=2))


def _open(file: str, pictures: str, split: str) -> SessionSource:
    from simulator.datasets import open_data
    from simulator.datasets.own.album import Album

    source = open_data(file, pictures=pictures, split=split)
    if isinstance(source, Album):
        raise UsageError(f"{file}: has pictures and no questions; write "
                         f"`mmrag data start {file}` first.")  # fmt: skip
    return source


def _check_published(source: SessionSource, *, as_json: bool) -> None:
    """One session at a time: a row of CRAG may hold fifty pages."""
    from simulator.datasets.unreadable_row import problem_of

    bad: dict[str, str] = {}
    sessions = turns = unscored = 0
    for session in source:
        problem = problem_of(session)
        if problem is not None:
            bad[session.id] = problem
            continue
        sessions += 1
        turns += len(session.turns)
        unscored += sum(not turn.reference.text for turn in session.turns)
    if as_json:
        found = {"sessions": sessions, "turns": turns, "not_scored": unscored, "faults": bad}
        typer.echo(json.dumps(found, indent=2, ensure_ascii=False))
    else:
        for problem in bad.values():
            _say_plainly(problem)
        wrong = [f"{counted(len(bad), 'session')} cannot be used"] * bool(bad)
        wrong += [f"{counted(unscored, 'turn')} cannot be scored"] * bool(unscored)
        typer.echo(f"{counted(sessions, 'session')}, {counted(turns, 'turn')}; "
                   f"{'; '.join(wrong) or 'all good'}.")  # fmt: skip
    if bad or not sessions:
        raise typer.Exit(1)


def _is_bad(line: CheckedLine) -> bool:
    return any(fault.weight != "note" for fault in line.faults)


def _told(lines: Sequence[CheckedLine]) -> Iterator[str]:
    """What the lines become, then notes, then what is wrong, each once."""
    yield from (f"{line.place}: {_in_words(line)}" for line in lines if not line.is_lost)
    faults = [fault for line in lines for fault in line.faults]
    notes = Counter(_note(fault) for fault in faults if fault.weight == "note")
    first = {_note(fault): fault for fault in reversed(faults)}
    yield from ["", "Notes:"] * bool(notes)
    for note, many in notes.items():
        more = f" ({many - 1:,} more like it)" if many > 1 else ""
        yield _at_place(first[note]) + more
    wrong = dict.fromkeys(_at_place(fault) for fault in faults if fault.weight != "note")
    yield from ["", "To correct:"] * bool(wrong)
    yield from wrong
    yield from [""] * bool(notes or wrong)
    yield _summary(lines)


def _note(fault: LineProblem) -> tuple[str, str]:
    """What makes two notes one: the same words about the same field of any line and turn."""
    return re.sub(r"\[\d+\]", "", fault.field), fault.words


def _at_place(fault: LineProblem) -> str:
    field = f" {fault.field}" if fault.field else ""
    return f"{fault.place}:{field} {fault.words}"


def _in_words(line: CheckedLine) -> str:
    """What a line becomes: the session, then each turn."""
    session = line.session
    capture = session.capture
    seen = "no picture" if capture is None else Path(capture.image.name).name
    more = f", {counted(len(session.passages), 'passage')}" if session.passages else ""
    turns = "; ".join(
        f"{turn.index + 1}. {_short(turn.query)} → "
        + (" | ".join(map(_short, turn.reference.all_texts)) if turn.reference.text
           else "not scored")
        for turn in session.turns
    )  # fmt: skip
    return f"session {session.id!r}, {seen}{more}: {turns}"


def _as_json(line: CheckedLine) -> dict[str, Any]:
    session = line.session
    return {
        "place": line.place,
        "session_id": session.id,
        "ok": not _is_bad(line),
        "picture": None if session.capture is None else session.capture.image.name,
        "passages": len(session.passages),
        "turns": [] if line.is_lost else [
            {"query": turn.query, "references": [t for t in turn.reference.all_texts if t],
             "meta": dict(turn.meta), "domain": turn.domain, "query_type": turn.query_type}
            for turn in session.turns
        ],
        "faults": [{"field": f.field, "words": f.words, "weight": f.weight} for f in line.faults],
    }  # fmt: skip


def _summary(lines: Sequence[CheckedLine]) -> str:
    if not lines:
        return "no session: write a line for each, as docs/data.md shows."
    good = [line for line in lines if not line.is_lost]
    turns = [turn for line in good for turn in line.session.turns]
    found = Counter(key for turn in turns for key in turn.meta)
    own = f"; reports are sliced by {', '.join(sorted(found))}" if found else ""
    text = sum(line.session.capture is None for line in good)
    without = f", {text} of them without a picture" if text else ""
    unscored = sum(not turn.reference.text for turn in turns)
    kind = lines[0].place.partition(" ")[0]  # a line, or a row
    bad = [f"{counted(len(lines) - len(good), kind)} cannot be used"] * (len(good) < len(lines))
    bad += [f"{counted(unscored, 'turn')} cannot be scored"] * bool(unscored)
    mute = sum(fault.field == "audio" for line in lines for fault in line.faults)
    bad += [f"{counted(mute, 'recording')} cannot be played"] * bool(mute)
    end = "; ".join(bad) or "all good"
    return f"{counted(len(good), 'session')}{without}, {counted(len(turns), 'turn')}{own}; {end}."


def _short(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= 60 else flat[:59] + "…"


def _say_plainly(text: str) -> None:
    """A line of other people's text, without what would steer a terminal."""
    typer.echo(printable_text(text, "�"))
