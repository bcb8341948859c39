"""A world's questions as rows of CRAG's published files, packed or plain, with their web pages.

Fifty pages stand with a question, as a search engine would have found and stored them. Some state
what the answer rests on, others what was so yesterday, other things of the same names, the same of
others, or nothing to the point. How often the first pages suffice follows the paper: 93 % of web
questions and 74 % of KG questions within fifty (docs/benchmarks/crag.md).
"""

from __future__ import annotations

import bz2
import contextlib
import datetime as dt
import gzip
import html
from collections.abc import Generator, Iterable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import IO, Any, NamedTuple, cast

import msgspec

from mmrag.errors import UsageError
from mmrag.files.atomic import atomic_path
from simulator.world.build.randomness import Draw
from simulator.world.crag.crag_world import CragWorld
from simulator.world.crag.entity_lines import SheetLine, earlier_time, entity_lines
from simulator.world.crag.questions.question_set import CragQuestion, ask_questions
from simulator.world.crag.questions.templates import PageNeed
from simulator.world.facts.fact_wording import say_day


def crag_rows(
    world: CragWorld, count: int, *, pages: int = 5, seed: int = 0
) -> Iterator[dict[str, Any]]:
    """Rows with 5 pages (tasks 1 and 2) or all 50 (task 3); the same questions in both."""
    if pages not in (5, PAGES):
        raise UsageError(
            f"--pages {pages}: CRAG has 5 a question for tasks 1 and 2, {PAGES} for 3."
        )
    for asked in ask_questions(world, count, seed):
        found = pages_of(world, asked)
        shown = five_of(found, asked, world.facts.seed) if pages == 5 else found
        yield _row_of(world, asked, shown)


def write_rows(rows: Iterable[dict[str, Any]], out: Path) -> int:
    """Write rows as JSON lines, packed as the name says, one by one; how many there were."""
    many = 0
    with atomic_path(out) as temporary, _opened(temporary, out.suffix) as file:
        for row in rows:
            file.write(msgspec.json.encode(row) + b"\n")
            many += 1
    return many


@contextlib.contextmanager
def _opened(path: Path, ending: str) -> Generator[IO[bytes]]:
    """A file to write to; the same rows give the same bytes, whenever they are written."""
    with path.open("wb") as plain:
        if ending == ".bz2":
            with bz2.open(plain, "wb") as packed:
                yield packed
        elif ending == ".gz":
            with gzip.GzipFile("", "wb", fileobj=plain, mtime=0) as packed:
                yield cast("IO[bytes]", packed)
        else:
            yield plain


def _row_of(world: CragWorld, asked: CragQuestion, pages: list[CragPage]) -> dict[str, Any]:
    split = Draw(world.facts.seed, "crag split", asked.id).below(2)
    return {
        "interaction_id": asked.id,
        "query_time": f"{dt.datetime.fromisoformat(asked.at):%m/%d/%Y, %H:%M:%S} PT",
        "domain": asked.domain,
        "question_type": asked.form,
        "static_or_dynamic": asked.dynamism,
        "query": asked.query,
        "answer": asked.answer,
        "alt_ans": list(asked.others),
        "split": split,
        "popularity": asked.popularity,
        "pages_answer": answered_by(pages, asked),
        "derivation": msgspec.to_builtins(asked.proof),
        "search_results": [
            {
                "page_name": page.name,
                "page_url": page.url,
                "page_snippet": page.snippet,
                "page_result": page.html,
                "page_last_modified": page.modified,
            }
            for page in pages
        ],
    }


PAGES = 50
RECALL = {"": 0.93, "head": 0.83, "torso": 0.74, "tail": 0.65}
"""Share of questions that the fifty pages answer, by popularity; empty: a web question."""

EARLY = 0.9
"""Of these, the share in which the first ten pages do."""

_LINES = 9
"""Lines of a page at most, the needed ones among them."""


class CragPage(NamedTuple):
    """A page as the search engine stored it."""

    name: str
    url: str
    snippet: str
    html: str
    modified: str
    answers: frozenset[int]
    """Which of the question's needs it states."""


def pages_of(world: CragWorld, asked: CragQuestion) -> list[CragPage]:
    """Fifty pages, best first as the search engine had them."""
    draw = Draw(world.facts.seed, "crag pages", asked.id)
    slots: list[CragPage | None] = [None] * PAGES
    if draw.chance(RECALL[asked.popularity]):
        first = 10 if draw.chance(EARLY) else PAGES
        free = draw.shuffled(range(0 if first == 10 else 10, first))
        for number, need in enumerate(asked.needs):
            for copy in range(draw.pick((2, 3, 3, 4)) if len(asked.needs) < 3 else 1):
                if free:
                    slots[free.pop()] = _answering(world, asked, number, need, draw, copy)
    others = _others(world, asked, draw, slots.count(None))
    return [page or others.pop() for page in slots]


def five_of(pages: Sequence[CragPage], asked: CragQuestion, seed: int) -> list[CragPage]:
    """As for the published tasks 1 and 2: five of the first ten, by chance, in their order."""
    places = Draw(seed, "crag five", asked.id).sample(range(min(10, len(pages))), 5)
    return [pages[place] for place in sorted(places)]


def answered_by(pages: Sequence[CragPage], asked: CragQuestion) -> bool:
    """Whether the pages state all that the answer rests on."""
    stated = frozenset(number for page in pages for number in page.answers)
    return stated >= frozenset(range(len(asked.needs)))


def _answering(
    world: CragWorld, asked: CragQuestion, number: int, need: PageNeed, draw: Draw, copy: int
) -> CragPage:
    lines = entity_lines(world, need.name, asked.at)
    wanted = [line for line in lines if _meets(line, need)]
    rest = [line for line in draw.shuffled(lines) if line not in wanted]
    shown = draw.shuffled([*wanted, *rest[: _LINES - len(wanted)]])
    leads = wanted[0] if draw.chance(0.5) else shown[0]
    own = frozenset(
        i
        for i, other in enumerate(asked.needs)
        if other.name == need.name and any(_meets(line, other) for line in shown)
    )
    return _page(need.name, shown, leads, draw, asked.at, f"{number}-{copy}", own)  # fmt: skip


def _others(world: CragWorld, asked: CragQuestion, draw: Draw, many: int) -> list[CragPage]:
    """Pages that do not state it: outdated, about the same or the like, or about anything."""
    found: list[CragPage] = []
    names = list(dict.fromkeys(need.name for need in asked.needs))
    pool = _names(world)
    for number in range(many):
        about = draw.pick(names) if draw.chance(0.35) else draw.pick(pool)
        old = draw.chance(0.4)
        at = earlier_time(world, asked.at) if old else asked.at
        lines = [line for line in entity_lines(world, about, at)
                 if not any(need.name == about and (_meets(line, need) or (not old and
                            line.noun == need.noun)) for need in asked.needs)]  # fmt: skip
        lines = _still_false(world, asked, about, lines) if old else lines
        shown = draw.sample(lines, draw.between(3, _LINES)) or [SheetLine("entry", "a stub")]
        found.append(_page(about, shown, shown[0], draw, at, f"o{number}", frozenset()))
    return draw.shuffled(found)


def _still_false(
    world: CragWorld, asked: CragQuestion, about: str, lines: list[SheetLine]
) -> list[SheetLine]:
    """Without the lines of an old page that happen to say what is needed all the same."""
    now = {(line.noun, line.text) for line in entity_lines(world, about, asked.at)}
    nouns = {need.noun for need in asked.needs if need.name == about}
    return [line for line in lines if line.noun not in nouns or (line.noun, line.text) not in now]


def _meets(line: SheetLine, need: PageNeed) -> bool:
    return line.noun == need.noun and (not need.day or line.day == need.day)


@lru_cache(maxsize=2)
def _names(world: CragWorld) -> tuple[str, ...]:
    named = [entity.name for entity in world.facts.entities.values()]
    return (*named, *(f.title for f in world.films), *(s.name for s in world.songs))


def _page(
    name: str, lines: Sequence[SheetLine], leads: SheetLine, draw: Draw, at: str, mark: str,
    answers: frozenset[int],
) -> CragPage:  # fmt: skip
    site = draw.pick(_SITES)
    slug = "-".join("".join(c if c.isalnum() else " " for c in name.lower()).split())
    said = [_sentence(name, line, draw) for line in lines]
    body = "\n".join(
        f"<p>{html.escape(text)}</p>" if draw.chance(0.7)
        else f"<ul><li>{html.escape(_row(line))}</li></ul>"
        for text, line in zip(said, lines, strict=True)
    )  # fmt: skip
    title = draw.pick(("{} | {}", "{} - {}", "All about {} – {}")).format(name, site.split(".")[0])
    snippet = _sentence(name, leads, draw).replace(name, f"<strong>{name}</strong>")
    return CragPage(
        name=title,
        url=f"https://www.{site}/{slug}-{mark}",
        snippet=html.escape(snippet, quote=True).replace("&lt;strong&gt;", "<strong>")
        .replace("&lt;/strong&gt;", "</strong>"),
        html=_HTML.format(title=html.escape(title), name=html.escape(name), body=body),
        modified=_modified(at, draw),
        answers=answers,
    )  # fmt: skip


def _sentence(name: str, line: SheetLine, draw: Draw) -> str:
    if line.day:
        day = say_day(line.day)
        return draw.pick((
            f"On {day}, the {line.noun} of {name} was {line.text}.",
            f"As of {day}, the {line.noun} of {name} is {line.text}.",
        ))  # fmt: skip
    return draw.pick((
        f"The {line.noun} of {name} is {line.text}.",
        f"For {name}, the {line.noun} is given as {line.text}.",
    ))  # fmt: skip


def _row(line: SheetLine) -> str:
    return f"{line.noun}: {line.text}" + (f" (as of {say_day(line.day)})" if line.day else "")


def _modified(at: str, draw: Draw) -> str:
    """As servers write it, with a space before it as in the published files; mostly nothing."""
    if draw.chance(0.6):
        return ""
    moment = dt.datetime.fromisoformat(at) - dt.timedelta(hours=draw.below(9))
    return f" {moment:%a, %d %b %Y %H:%M:%S} GMT"


_SITES = (
    "daily-lantern.example", "openfacts.example", "the-ledger.example", "stage-and-score.example",
    "wikiworld.example", "townpost.example",
)  # fmt: skip
_HTML = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title>
<script>window.dataLayer = [];</script><style>body {{ margin: 0 }}</style></head>
<body><nav><a href="/">Home</a> <a href="/news">News</a> <a href="/about">About us</a></nav>
<main><h1>{name}</h1>
{body}
</main><footer>We use cookies. Subscribe to our newsletter.</footer></body></html>"""
