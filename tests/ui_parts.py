"""Runs for the browser to look at, a server over them, and a page that reports what goes wrong."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import threading
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from pathlib import Path
from random import Random

import pytest
import uvicorn
from msgspec.structs import replace
from small_runs import OF_LETTER, done, write

from mmrag.files.images import LazyImage
from mmrag.protocols import Resources
from mmrag.records import (
    Capture,
    Evidence,
    Reference,
    Reply,
    Session,
    Status,
    Step,
    Turn,
    TurnResult,
    Usage,
    Verdict,
    Vote,
)


def find_chromium() -> str | None:
    """The browser of the tests: $MMRAG_CHROMIUM, else what distributions call it."""
    named = os.environ.get("MMRAG_CHROMIUM")
    names = [named] if named else ["chromium", "chromium-browser", "google-chrome"]
    return next(filter(None, map(shutil.which, names)), None)


CHROMIUM = find_chromium()
ARGUMENTS = [
    "--no-sandbox", "--disable-gpu", "--disable-background-networking",
    "--disable-component-update", "--no-first-run", "--disable-sync",
]  # fmt: skip

EVIL = '<script>window.hacked=1</script><img src=x onerror="window.hacked=1"> {{#each}} ${1+1} @children ![x](http://evil.example/x.png)'  # noqa: E501


def picture(number: int, *, dark: bool = False) -> bytes:
    import io

    from PIL import Image, ImageDraw

    shade = 3 if dark else 1
    image = Image.new("RGB", (240, 320), tuple(v // shade for v in (200, 190, 170)))
    draw = ImageDraw.Draw(image)
    colour = ((number * 67) % 200 + 30, (number * 31) % 200 + 30, 90)
    draw.ellipse((70, 90, 170, 230), fill=tuple(v // shade for v in colour))
    buffer = io.BytesIO()
    image.save(buffer, "JPEG")
    return buffer.getvalue()


def session(number: int, degradation: str = "clean", turns: int = 4) -> Session:
    return Session(
        id=f"talk-{number:04d}",
        capture=Capture(
            image=LazyImage.from_bytes(picture(number, dark=degradation != "clean")),
            focus=(70, 90, 170, 230),
            degradation=degradation,
            quality="low-light" if number % 4 == 3 else "normal",
            degraded={"kind": "low-light", "ev": 3.5} if degradation != "clean" else None,
        ),
        turns=tuple(
            Turn(
                index=i,
                id=f"{number}-{i}",
                query=f"What about thing {i} of picture {number}?",
                reference=Reference(
                    text=f"truth {i}",
                    accept=(f"the truth {i}",),
                    grounding={f"page-{number}": "answers"},
                ),
                domain=("food", "animal", "book")[number % 3],
                query_type=("comparison", "simple-knowledge")[i % 2],
                text_clue=True,
            )
            for i in range(turns)
        ),
        query_time="2026-05-01T12:30:00",
    )


PATTERNS = {"clean": "cccc", "low-light@3": "cii-"}


def result(one: Session, index: int, letter: str, text: str | None = None) -> TurnResult:
    number = int(one.id[-4:])
    if letter == "-":  # skipped
        return done(one, index, "i", status=Status.SKIPPED_AFTER_STOP, reply=None, verdict=None)
    page = Evidence(
        source="web", id=f"page-{number}", score=0.8, title="A page about it",
        text=f"Something else first. The answer is truth {index} as everybody knows. More words.",
        url="https://wiki.example/a", date="2026-01-02",
    )  # fmt: skip
    hit = Evidence(
        source="image-kg", id="7", score=0.83, text="Velden Kettle", attributes={"maker": "Velden"}
    )
    return done(
        one, index, letter,
        reply=Reply(
            text=text or (f"truth {index}" if letter == "c" else "quite another thing"),
            citations=(page.id,),
            confidence=0.7,
            usage=Usage(input_tokens=200, output_tokens=9),
            trace=(
                Step(name="planner", seconds=0.01, info={"standalone": "what about it"}),
                Step(name="regions", start=0.01, seconds=0.02,
                     info={"regions": [{"box": [10, 10, 100, 100], "label": "region 1"}]}),
                Step(name="ocr", start=0.03, seconds=0.1, evidence=(
                    Evidence(source="ocr", id="ocr-0", score=0.9, text="VELDEN",
                             attributes={"box": [80, 100, 150, 120]}),)),
                Step(name="image-kg", start=0.13, seconds=0.05, evidence=(hit,)),
                Step(name="web", start=0.18, seconds=0.2, evidence=(page,)),
            ),
        ),
        verdict=Verdict(
            outcome=OF_LETTER[letter], judge="rules/1", reason="equal after normalisation",
            votes=(Vote(judge="second", outcome=OF_LETTER[letter], reason="agrees"),),
        ),
        seconds=0.4,
    )  # fmt: skip


def write_run(
    folder: Path,
    sessions: int = 8,
    *,
    finished: bool = True,
    evil: bool = False,
    said: Sequence[str] = (),
    stop: str = "strikes(2)",
) -> Path:
    held = []
    for number in range(sessions):
        for degradation, pattern in PATTERNS.items():
            one = session(number, degradation)
            text = EVIL if evil else None
            if said:  # in the wearer's mouth too
                text = said[number % len(said)]
                turns = (replace(turn, query=text) for turn in one.turns)
                one = replace(one, turns=tuple(turns))
            held.append((one, [result(one, i, letter, text) for i, letter in enumerate(pattern)]))
    config = {"data": "test", "agent": "scripted", "stop": stop}
    more = {"finished": True} if finished else {}
    return write(folder, *held, judge="rules/1", config=config, **more)


def slow(app: Callable[..., Awaitable[None]]) -> Callable[..., Awaitable[None]]:
    """An app whose answers come late, by chance: up to $MMRAG_TEST_LAG seconds each.

    A test that passes only where everything is quick has found a race, most often the app's.
    """
    most, random = float(os.environ.get("MMRAG_TEST_LAG") or 0), Random(0)

    async def late(scope, receive, send) -> None:
        if scope["type"] == "http":
            await asyncio.sleep(random.uniform(0, most))
        await app(scope, receive, send)

    return late if most else app


def hold(page, part: str) -> Callable[[], None]:
    """Questions to the server that say `part` wait until what is returned is called.

    They are sent in the order in which they were asked, one when the one before it is answered: let
    go at once they would travel on connections of their own, and a busy server takes either first.
    """
    page.evaluate(
        """part => {
            const fetched = window.fetch;
            let turn = new Promise((go) => { (window.holding ||= {})[part] = go; });
            window.fetch = (...given) => {
                const asked = String(given[0]?.url || given[0]) + String(given[1]?.body || "");
                if (!asked.includes(part)) return fetched(...given);
                const answer = turn.then(() => fetched(...given));
                turn = answer.catch(() => {});
                return answer;
            };
        }""",
        part,
    )
    return lambda: page.evaluate("part => window.holding[part]()", part)


def press(page, keys: str) -> None:
    """All of them in one instant, as a key that is held down sends them."""
    page.evaluate(
        "keys => { for (const key of keys)"
        " document.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true })) }",
        keys,
    )


class Server:
    """The app on a free port, in a thread."""

    def __init__(self, folders: list[Path], saved: Path) -> None:
        from mmrag.local_server import listen
        from simulator.application.person_run import Playing
        from ui.home.launch import Launcher
        from ui.opened_runs import open_runs
        from ui.pages.app import LiveSetup
        from ui.server import make_server
        from ui.views.live_view import AgentShelf

        at = listen("127.0.0.1", 0)
        self.port = at.getsockname()[1]
        self.catalogues = open_runs(folders)
        names = ["watched", "random", "nobody", "seeing"]
        self.launcher = Launcher(saved, ["random"], ["mini"], "none")
        shelf = AgentShelf(Resources, names)
        self.playing = Playing(
            saved, lambda spec, _: shelf.get(spec), ["mini"], lambda _: None, "none"
        )
        live = LiveSetup(shelf, names, saved, self.launcher, playing=self.playing)
        config = uvicorn.Config(
            slow(make_server(self.catalogues, live, ["wearables.example"])),
            log_level="critical", ws="none",
        )  # fmt: skip
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, args=([at],), daemon=True)
        self._thread.start()
        deadline = time.monotonic() + 30
        while not self._server.started:
            assert time.monotonic() < deadline, "the server did not start"
            time.sleep(0.05)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def stop(self) -> None:
        self._server.should_exit = True
        self._thread.join(10)


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("runs")
    runs = [write_run(folder / "first", 40), write_run(folder / "evil", 2, evil=True)]
    running = Server(runs, folder / "saved")
    yield running
    running.stop()


class Faults:
    """Everything a page did that it should not have done."""

    def __init__(self, page, url: str) -> None:
        self.found: list[str] = []
        self._closing = False
        page.on("console", lambda m: m.type == "error" and self.found.append(f"console: {m.text}"))
        page.on("pageerror", lambda e: self.found.append(f"page error: {e}"))
        page.on("response", lambda r: r.status >= 400 and self.found.append(f"{r.status} {r.url}"))
        page.on("requestfailed", self._failed)
        page.on("request", lambda r: self._outside(r.url, url))
        page.on("framenavigated", self._left)

    def _left(self, frame) -> None:
        """Gradio says of event streams that a left page cut that they were; no other page may."""
        cut = ("AbortError: signal is", "AbortError: BodyStreamBuffer", "Connection errored out")
        if frame.parent_frame is None:
            self.found = [one for one in self.found if not any(word in one for word in cut)]

    def _failed(self, request) -> None:
        # whatever is under way is cut when a page is left; everything else is a fault
        if request.failure != "net::ERR_ABORTED":
            self.found.append(f"failed: {request.url}: {request.failure}")

    def _outside(self, asked: str, url: str) -> None:
        if not asked.startswith((url, "data:", "blob:")):
            self.found.append(f"outside: {asked}")


@pytest.fixture(scope="session")
def bundles(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs, each bundled as a folder and as a file."""
    from ui.bundle import write_bundle

    folder = tmp_path_factory.mktemp("runs")
    write_run(folder / "first", 12)
    write_run(folder / "evil", 2, evil=True)
    for name in ("first", "evil"):
        write_bundle(folder / name, folder / f"{name}-bundle", report=name == "first")
        write_bundle(folder / name, folder / f"{name}.html")
    return folder


def inside(page: str, name: str) -> str:
    """What stands in a page's block of data."""
    found = re.search(rf'<script type="application/json" id="{name}">(.*?)</script>', page, re.S)
    assert found is not None
    return found[1]
