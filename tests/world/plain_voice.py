"""A voice without an author: errands and pages made from the catalogue, for tests."""

from __future__ import annotations

import atexit
import json
import re
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from simulator.world.checks.published_figures import DYNAMISM as DYNAMISM_SHARES
from simulator.world.checks.published_figures import TYPE_TOTALS
from simulator.world.facts.domain_schema import (
    DYNAMISM,
    HUBS,
    Attribute,
    Choice,
    Number,
    Ref,
    attributes_of,
    domain_of_kind,
    raw_domains,
)
from simulator.world.language.voices.voice_validation import STYLES, WEB

Entry = dict[str, Any]


@cache
def plain() -> str:
    """A plain voice in a temporary folder, as `--voices` takes it."""
    folder = Path(tempfile.mkdtemp(prefix="voice-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return str(write_plain_voice(folder / "plain"))


def write_plain_voice(folder: Path) -> Path:
    """Fifteen files that `check_voice` has nothing to say about."""
    folder.mkdir(parents=True)
    for name, text in _files().items():
        (folder / name).write_text(text)
    return folder


@cache
def _files() -> dict[str, str]:
    import yaml

    found: dict[str, str] = {}
    for stem, domain in raw_domains().items():
        said: dict[str, Any] = {"attributes": {}}
        if domain["name"] != "hub":
            said["errands"] = [e for kind in domain["kinds"] for e in plain_errands(kind)]
            said["attributes"] = {
                key: _wording(key, a) for key, a in list(domain["attributes"].items())[::2]
            }
        apart = json.loads(json.dumps(said))  # YAML would write what is shared as an alias
        found[f"{stem}.yaml"] = yaml.dump(apart, Dumper=yaml.CSafeDumper, sort_keys=False)
    return {**found, WEB: yaml.safe_dump(_web())}


def plain_errands(kind: str) -> list[Entry]:
    """What a kind has something for: an errand that opens with each type (half of them with one
    fact), goes on in the published shares, and ends at a shop."""
    needs = list(_needs(kind))
    shop = _need("simple-knowledge", "when does {shop} shut", "shop.closes")
    firsts = list(
        {need["type"]: need for need in reversed(needs) if need["type"] != "multi-hop"}.values()
    )
    firsts += [need for need in needs if need["type"] == "simple-knowledge"][1:3]
    speeds = {a.key: a.dynamism for a in attributes_of(kind)}
    left = [need for need in needs if need not in firsts]
    had = Counter[str]()
    errands: list[Entry] = []
    for n, first in enumerate(firsts):
        turns = [first]
        while len(turns) < 9 or (left and first is firsts[-1]):
            had.update(_marks(turns[-1], speeds))
            among = [need for need in left or needs if need not in turns]
            alone = [need for need in among if not _BESIDE & set(_words(need))]
            among = alone if n and alone and len(turns) < 9 else among
            best = max(among, key=lambda need: sum(_lack(m, had) for m in _marks(need, speeds)))
            turns.append(best)
            left = [need for need in left if need != best]
        later = [{**need, "first": need["say"]} for need in turns[1:]]
        errands.append({"kinds": [kind], "turns": [first, *later, shop]})
    return errands


_BESIDE = {"both", "these", "next"}
_SHARES = {
    **{name: n / sum(TYPE_TOTALS.values()) for name, n in TYPE_TOTALS.items()},
    **DYNAMISM_SHARES,
}


def _words(need: Entry) -> list[str]:
    return re.findall(r"\w+", need["answer"])


def _marks(need: Entry, speeds: dict[str, str]) -> tuple[str, str]:
    """Its type, and the speed of the fastest attribute that it reads."""
    read = [speeds[word] for word in _words(need) if word in speeds]
    return need["type"], min(read, key=DYNAMISM.index, default="static")


def _lack(mark: str, had: Counter[str]) -> float:
    share = _SHARES[mark] * had.total() / 2 - had[mark]
    return 2 * share if mark in DYNAMISM else share


def _needs(kind: str) -> Iterator[Entry]:
    own = attributes_of(kind)
    printed = domain_of_kind(kind).sublabel.get(kind)
    yield _need("simple-recognition", "what is this {noun} called", "it")
    yield {
        **_need("simple-recognition", "is this {noun} called {named}", "it == named"),
        "with": {"named": "name"},
    }
    for speed in DYNAMISM:
        of = [a for a in own if a.dynamism == speed and a.key != printed]
        numbers = [a for a in of if isinstance(a.value, Number) and a.is_compared]
        for a in of[:3]:
            yield _need("simple-knowledge", f"tell me its {a.key}", f"it.{a.key}")
        for a in [a for a in of if isinstance(a.value, Ref)][:2]:
            yield _related(a)
            for b in attributes_of(a.value.kinds[0])[:2]:
                far = f"the {b.key} of its {a.key}"
                yield _need("multi-hop", far, f"it.{a.key}.{b.key}")
        for a in [a for a in of if isinstance(a.value, Choice)][:2]:
            said = f"its {a.key} is {{claim}}, right"
            yield {
                **_need("simple-knowledge", said, f"premise(it.{a.key}, claim)"),
                "with": {"claim": f"claim {a.key}"},
            }
        for a in numbers[: 1 + (speed == "static")]:
            yield from _numbered(a.key)
    if isinstance({a.key: a.value for a in own}.get(printed or ""), Number):
        yield _need("reasoning", "three times that figure", f"it.{printed} * 3")


def _numbered(key: str) -> Iterator[Entry]:
    two = f"which of these two has more {key}"
    yield _need("comparison", two, f"most(both, {key})")
    other = f"does {{other}} have more {key}"
    yield _need("comparison", other, f"other.{key} > it.{key}")
    yield _need("aggregation", f"{key} of both together", f"it.{key} + next.{key}")
    yield _need("aggregation", f"most {key} of all here", f"most(these, {key})")
    bound = _need("reasoning", f"is its {key} over {{bound}}", f"it.{key} > bound")
    yield {**bound, "with": {"bound": f"near {key}"}}


def _related(a: Attribute) -> Entry:
    """A person, firm, town or thing, and what may be asked of them; some lead elsewhere."""
    found = _need("simple-knowledge", f"who is the {a.key} here", f"it.{a.key}")
    asked = [b for b in attributes_of(a.value.kinds[0]) if b.key not in ("owner", "partner")]
    leading = [b for b in asked if isinstance(b.value, Ref)]
    leading.sort(key=lambda b: b.value.kinds[0] in HUBS)
    changing = [b for b in asked if b.dynamism != "static"]
    found["then"] = [
        _need("multi-hop", f"and {b.key} of that", f"answer.{b.key}")
        for b in {b.key: b for b in (*leading[:2], *changing[-2:])}.values()
    ]
    return found


def _need(query_type: str, say: str, answer: str) -> Entry:
    says = [say, f"{say}, say"] if query_type == "simple-knowledge" else [say]
    return {"type": query_type, "say": says, "answer": answer}


def _wording(key: str, attribute: dict[str, Any]) -> dict[str, Any]:
    noun = attribute["noun"]
    dated = " on {d}" if attribute.get("pace") else ""
    return {"noun": noun, "page": [f"{i} The {noun} of {{x}} was {{v}}{dated}." for i in "abcd"]}


def _web() -> dict[str, Any]:
    many = {"titles": (4, "{x} "), "leads": (4, "{x} "), "chatter": (10, ""), "headings": (6, "")}
    return {
        style: {part: [f"{x}{style} {part} {i}" for i in range(n)] for part, (n, x) in many.items()}
        for style in STYLES
    }
