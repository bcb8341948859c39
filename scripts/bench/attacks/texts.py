"""Texts of data, replies and judges that are more than texts (16, 20, 21): slices above all.

A run full of a payload is scored, reported, exported, bundled and opened, and once more with a
plain word in each place. No page has another element or attribute for it, no terminal gets a
control character, no cell is a formula, and no file lies elsewhere.
"""

from __future__ import annotations

import contextlib
import csv
import io
import random
import runpy
import shutil
import sys
from collections import Counter
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import msgspec

from mmrag.errors import MmragError
from mmrag.records import Outcome, Reference, Reply, Status, Step, TurnResult, Verdict
from scripts.bench.attacks import Case, _runs
from simulator.store.run_store import RunStore

TRIES = 60
PAYLOADS = (
    "<script>attack()</script>", "<img src=x onerror=attack()>", '"><svg onload=attack()>',
    "' autofocus onfocus='attack()", "</script><attack>", "</style><attack>", "<!--attack",
    "]]><attack/>", "{{ attack }}{% attack %}", "${attack}", "[attack](javascript:attack())",
    "![attack](http://evil.example/x.png)", "attack | attack |\n| --- | --- |", "# attack\n\n- a",
    "=1+attack", "+attack", "-attack|cmd", "@SUM(attack)", "\t=attack", "\r=attack",
    "\x1b[31mattack\x1b]0;attack\x07", "\x9b31mattack", "\u202eattack\u2066", "\x00attack",
    "../../attack", "/attack", "attack/../..", "C:\\attack", "attack\nattack: attack",
    "%s%n{attack}", "[red]attack[/red]", "[link=http://evil.example]attack", "attack" * 50,
    "\u2028attack",
)  # fmt: skip
PLACES = ("meta name", "meta value", "session", "query", "reply", "reference", "reason", "domain",
          "query_type", "judge", "agent", "step", "error", "citation")  # fmt: skip


def cases(seed: int, work: Path) -> Iterator[Case]:
    """Every payload in some of the places, first in all of them."""
    chance, plain = random.Random(seed), work / "plain"
    plain.mkdir()
    _write(plain / "run", dict.fromkeys(PLACES, "plain"))
    _shown(plain)
    for number in range(TRIES):
        payload = PAYLOADS[number % len(PAYLOADS)]
        places = set(PLACES if number < len(PAYLOADS) else chance.sample(PLACES, 3))
        folder = work / f"texts-{number}"
        try:
            fault = _fault(folder, plain, payload, places)
        except BaseException as error:
            fault = f"{type(error).__name__}: {error}"
        shutil.rmtree(folder)
        short = f"{payload[:40]!r}" if number < len(PAYLOADS) else "some places"
        yield Case(short, fault and f"{fault[:300]} ({payload[:40]!r}, {sorted(places)})")


def _fault(folder: Path, plain: Path, payload: str, places: set[str]) -> str | None:
    evil = folder / "evil"
    evil.mkdir(parents=True)
    try:
        _write(evil / "run", {p: payload if p in places else "plain" for p in PLACES})
    except MmragError:
        return None  # such a run cannot be
    for what, text in _shown(evil).items():
        if wrong := _odd_text(text):
            return f"{what}: {wrong}"
    for path in sorted(folder.rglob("*")):
        if path != evil and not path.is_relative_to(evil):
            return f"a file elsewhere: {path.relative_to(folder)}"
        if path.suffix == ".html":
            twin = plain / path.relative_to(evil)
            page, same = (_Elements.of(one.read_text()) for one in (path, twin))
            if wrong := page.odd or sorted((page.found - same.found).elements())[:2]:
                return f"{path.name}: {wrong}"
        if path.suffix == ".csv" and (wrong := _formula(path)):
            return f"{path.name}: {wrong}"
    return None


def _write(folder: Path, words: dict[str, str]) -> None:
    """Eight conversations with the words in their places."""
    with RunStore(folder) as store:
        store.set_meta("judge", words["judge"])
        store.set_meta("config", {"data": "small", "agent": words["agent"], "stop": "never"})
        store.set_meta("finished", True)
        for place, session in enumerate(_runs.sessions()):
            turns = tuple(
                msgspec.structs.replace(
                    turn, query=f"{words['query']} {turn.index}?", domain=words["domain"],
                    query_type=words["query_type"], reference=Reference(text=words["reference"]),
                    meta={words["meta name"]: words["meta value"] if place % 2 else "other"},
                )
                for turn in session.turns
            )  # fmt: skip
            session = msgspec.structs.replace(session, id=f"{words['session']}{place}", turns=turns)
            store.begin(place, session)
            for turn in turns:
                right = (place + turn.index) % 2 == 0
                outcome = Outcome.PERFECT if right else Outcome.INCORRECT
                failed = place == 7
                reply = Reply(
                    text=words["reply"], citations=(words["citation"],),
                    trace=(Step(name=words["step"], info={words["step"]: words["step"]}),),
                )  # fmt: skip
                verdict = Verdict(outcome=outcome, judge=words["judge"], reason=words["reason"])
                store.commit(
                    TurnResult(
                        session_id=session.id, turn_index=turn.index, query=turn.query,
                        status=Status.AGENT_ERROR if failed else Status.ANSWERED,
                        reply=None if failed else reply, verdict=None if failed else verdict,
                        error=words["error"] if failed else None,
                    )
                )  # fmt: skip


def _shown(place: Path) -> dict[str, str]:
    """What commands print of a run, into which they write files beside it; and the app's pages."""
    run, told = str(place / "run"), dict[str, str]()
    for words in (
        ("score", run), ("show", run), ("compare", run, run, "--resamples", "50"),
        ("report", run, "--out", f"{place}/r", "--resamples", "50"),
        ("export", run, f"{place}/out.jsonl"), ("bundle", run, f"{place}/b.html"),
    ):  # fmt: skip
        out, err = io.StringIO(), io.StringIO()
        before, sys.argv = sys.argv, ["mmrag", *words]
        try:
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                runpy.run_module("simulator.cli", run_name="__main__")
        except SystemExit as end:
            if end.code not in (0, None) and "error: " not in err.getvalue():
                raise
        finally:
            sys.argv = before
        told[words[0]] = out.getvalue() + err.getvalue()
    return told


def _odd_text(text: str) -> str | None:
    odd = {c for c in text if not c.isprintable()} - {"\n", "\t"}
    return f"control characters {sorted(odd)}" if odd else None


def _formula(path: Path) -> str | None:
    with path.open(newline="") as file:
        for cell in (cell for row in csv.reader(file) for cell in row):
            with contextlib.suppress(ValueError):
                float(cell)
                continue
            if cell.startswith(("=", "+", "-", "@", "\t", "\r")):
                return f"a formula: {cell[:60]!r}"
    return None


class _Elements(HTMLParser):
    """The elements of a page with their attributes, and what no page of ours has."""

    @classmethod
    def of(cls, page: str) -> _Elements:
        made = cls()
        made.found, made.odd = Counter[str](), ""
        made.feed(page)
        return made

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found[f"{tag} {sorted({name for name, _ in attrs})}"] += 1
        for name, value in attrs:
            if name.startswith("on") or (value or "").strip().lower().startswith("javascript:"):
                self.odd = f"<{tag} {name}={value!r}>"
            if name in ("src", "href") and (value or "").startswith("http://evil"):
                self.odd = f"<{tag} {name}={value!r}>"

    handle_startendtag = handle_starttag
