"""A run as a folder, or one file, that any browser opens from disk: the replay without a server.

What is shown of a conversation is what the app shows (`replay/conversation_view.py`), as JSON; its
own page draws it. The page may run its own script and nothing else, asks nobody for anything, and
makes text of whatever the data says.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import os
import shutil
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

import msgspec

from mmrag.errors import ConflictError, MmragError, StoreError, UsageError
from mmrag.files.images import data_uri
from simulator.exchange.browser_pictures import SUFFIXES, for_browsers
from simulator.exchange.run_facts import RunFacts, facts_of
from simulator.message_text import counted
from simulator.store.run_reader import RunReader
from ui.render import points
from ui.replay.conversation_list import ConversationList, ListedRow
from ui.replay.conversation_view import ConversationView, conversation
from ui.server import Thumbnails

BLOCK = 400_000
"""Bytes of conversations in one file of a folder: read at once when one of them is opened."""

MAX_FILE = 150 << 20
"""Bytes of a bundle in one file: browsers open larger ones slowly or not at all."""

_STATIC = Path(__file__).parent / "static"


def write_bundle(folder: Path, out: Path, *, report: bool = True) -> int:
    """Bundle a run into a folder, or into one file where `out` ends in .html. Returns the number of
    conversations. Whole or not at all, and never over anything."""
    if out.exists():
        raise ConflictError(f"{out} exists already; choose another name or remove it.")
    with RunReader(folder) as run:
        try:
            out.parent.mkdir(parents=True, exist_ok=True)
            if out.suffix.lower() in (".html", ".htm"):
                return _file(run, out)
            with _appearing(out) as temporary:
                count = _folder(run, temporary, report=report)
                if report:
                    _report(folder, temporary / "report")
                return count
        except OSError as error:
            raise StoreError(
                f"{out}: cannot be written ({error.strerror or error}). "
                "Choose a place you may write to, or make room."
            ) from error


def _folder(run: RunReader, out: Path, *, report: bool) -> int:
    (out / "talks").mkdir()
    (out / "pictures").mkdir()
    catalogue, blocks = ConversationList(run), _Blocks()
    pictures = _Pictures(run, catalogue)

    def keep() -> None:
        name, text = blocks.close()
        quoted = msgspec.json.encode(text.decode()).decode()
        script = f"mmragTalks({msgspec.json.encode(name).decode()},{quoted})\n"
        (out / "talks" / f"{name}.js").write_text(script, encoding="utf-8")

    for row in catalogue.find_all():
        view, new = pictures.named(_shown(run, row))
        for name, (data, _) in new.items():
            (out / "pictures" / name).write_bytes(data)
        blocks.add(row, view)
        if blocks.size > BLOCK:
            keep()
    if blocks.size:
        keep()
    facts = facts_of(run)
    page = _page(facts, blocks.board(), [], report="report/report.html" if report else "")
    (out / "index.html").write_text(page, encoding="utf-8")
    return len(catalogue)


def _file(run: RunReader, out: Path) -> int:
    from mmrag.files.atomic import write_text

    catalogue, blocks, size = ConversationList(run), _Blocks(), 0
    pictures, inside = _Pictures(run, catalogue), dict[str, str]()
    texts: list[tuple[str, bytes]] = []
    for row in catalogue.find_all():
        view, new = pictures.named(_shown(run, row))
        inside |= {name: data_uri(*found) for name, found in new.items()}
        before = blocks.size
        blocks.add(row, view)
        size += blocks.size - before + sum(len(inside[name]) for name in new)
        if size > MAX_FILE:
            raise UsageError(
                f"{out}: this run is too large for one file ({MAX_FILE >> 20} MB); give a folder: "
                f"mmrag bundle RUN {out.with_suffix('')}"
            )
        if blocks.size > BLOCK:
            texts.append(blocks.close())
    if blocks.size:
        texts.append(blocks.close())
    parts = [(f"talks-{name}", text) for name, text in texts]
    parts.append(("pictures", msgspec.json.encode(inside)))
    write_text(out, _page(facts_of(run), {**blocks.board(), "inline": True}, parts))
    return len(catalogue)


def _shown(run: RunReader, row: ListedRow) -> dict[str, Any]:
    view: ConversationView = conversation(run, "", row.session_id, row.degradation)
    return msgspec.to_builtins(view)


class _Blocks:
    """Conversations gathered into blocks, and where each of them is."""

    def __init__(self) -> None:
        self._rows: dict[str, dict[str, Any]] = {}
        self._block: list[bytes] = []
        self._closed = 0
        self.size = 0
        """Bytes of the open block."""

    def add(self, row: ListedRow, view: dict[str, Any]) -> None:
        """Put a conversation into the open block."""
        entry = self._rows.setdefault(
            row.session_id,
            {"session": row.session_id, "text": row.text, "quality": row.quality, "held": []},
        )
        entry["held"].append(
            {"condition": row.degradation, "outcomes": row.outcomes, "block": self._name(),
             "place": len(self._block)}
        )  # fmt: skip
        self._block.append(msgspec.json.encode(view))
        self.size += len(self._block[-1])

    def close(self) -> tuple[str, bytes]:
        """Name and JSON of the open block; the next is opened."""
        closed = self._name(), b"[" + b",".join(self._block) + b"]"
        self._block, self.size, self._closed = [], 0, self._closed + 1
        return closed

    def board(self) -> dict[str, Any]:
        """What the list of the page is made of."""
        return {"rows": list(self._rows.values())}

    def _name(self) -> str:
        return f"{self._closed:04d}"


class _Pictures:
    """Pictures of the run and of its searches' hits, by the names that a bundle gives them."""

    def __init__(self, run: RunReader, catalogue: ConversationList) -> None:
        self._run, self._catalogue = run, catalogue
        self._small = Thumbnails()
        self._names: dict[str, str] = {}
        """Hash or URL → file name; empty for what cannot be had."""

    def named(self, view: dict[str, Any]) -> tuple[dict[str, Any], dict[str, tuple[bytes, str]]]:
        """A conversation with names in place of hashes, and the pictures that are new with it."""
        new: dict[str, tuple[bytes, str]] = {}
        for which in ("picture", "before"):
            view[which] = self._name(view[which], self._of_run, new)
        for turn in view["turns"]:
            turn["picture"] = self._name(turn["picture"], self._of_run, new)
            for hit in turn["hits"]:
                hit["picture"] = self._name(hit["url"], self._of_hit, new)
        return view, new

    def _name(
        self,
        key: str,
        load: Callable[[str], tuple[bytes, str] | None],
        new: dict[str, tuple[bytes, str]],
    ) -> str:
        if key and key not in self._names:
            found = load(key)
            self._names[key] = ""
            if found is not None:
                digest = hashlib.sha256(found[0]).hexdigest()
                self._names[key] = f"{digest[:20]}{SUFFIXES[found[1]]}"
                new[self._names[key]] = found
        return self._names.get(key, "")

    def _of_run(self, digest: str) -> tuple[bytes, str] | None:
        return for_browsers(self._run.images.get(digest))

    def _of_hit(self, url: str) -> tuple[bytes, str] | None:
        if not self._catalogue.has_thumbnails:
            return None
        try:
            return self._small.of(self._catalogue.thumbnail(url)), "image/jpeg"
        except (KeyError, MmragError, OSError):
            return None


def _page(
    facts: RunFacts, board: dict[str, Any], parts: list[tuple[str, bytes]], *, report: str = ""
) -> str:
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    style = "".join((_STATIC / f"{name}.css").read_text("utf-8") for name in ("tokens", "bundle"))
    script = (_STATIC / "bundle.js").read_text(encoding="utf-8")
    policy = (
        f"default-src 'none'; script-src 'self' file: '{_hash(script)}'; "
        f"style-src '{_hash(style)}'; img-src 'self' file: data:; base-uri 'none'; "
        "form-action 'none'"
    )
    figures = facts.figures
    low, high = figures.get("truthfulness.low"), figures.get("truthfulness.high")
    under = f" under {facts.condition}" if facts.conditions else ""
    conversations = counted(round(figures.get("conversations", 0)), "conversation")
    turns = counted(round(figures.get("turns", 0)), "turn")
    blocks = [("board", msgspec.json.encode(board)), *parts]
    environment = Environment(
        loader=PackageLoader("ui"), autoescape=True, undefined=StrictUndefined
    )
    return environment.get_template("bundle.html.j2").render(
        name=facts.name,
        agent=facts.agent,
        data=facts.data,
        judge=facts.judge,
        policy=policy,
        style=Markup(style),  # noqa: S704 - our own
        script=Markup(script),  # noqa: S704 - our own
        headline=_headline(figures),
        interval="" if low is None or high is None else f"[{points(low)}, {points(high)}]",
        basis=f"{conversations}{under}, {turns}",
        report=report,
        blocks=[(name, Markup(_inside(text))) for name, text in blocks],  # noqa: S704 - no `<` in it
    )


def _headline(figures: dict[str, float]) -> str:
    if "truthfulness" in figures:
        return points(figures["truthfulness"])
    return "between" if "truthfulness.low" in figures else ""


def _inside(data: bytes) -> str:
    """JSON that may stand in a page: nothing in it can end the element or begin another."""
    text = data.decode()
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _report(folder: Path, out: Path) -> None:
    from simulator.reports.draw.write import make_report
    from simulator.reports.figures.report import ReportOptions

    make_report([folder], out, ReportOptions(), replay="../index.html")


@contextlib.contextmanager
def _appearing(out: Path) -> Generator[Path]:
    """A folder that takes its name when all is in it."""
    temporary = out.with_name(f".{out.name}.{os.getpid()}.tmp")
    temporary.mkdir()
    try:
        yield temporary
        temporary.rename(out)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
