"""A voice without an author: needs and pages made from the catalogue, for tests."""

from __future__ import annotations

import atexit
import json
import shutil
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

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
_STEPS = ("find", "compare", "decide", "act")


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
            said["needs"] = [need for kind in domain["kinds"] for need in plain_needs(kind)]
            said["attributes"] = {
                key: _wording(key, a) for key, a in list(domain["attributes"].items())[::2]
            }
        apart = json.loads(json.dumps(said))  # YAML would write what is shared as an alias
        found[f"{stem}.yaml"] = yaml.dump(apart, Dumper=yaml.CSafeDumper, sort_keys=False)
    return {**found, WEB: yaml.safe_dump(_web())}


def plain_needs(kind: str) -> list[Entry]:
    """Of every type and speed that a kind has something for."""
    return [{"kinds": [kind], **need} for need in _needs(kind)]


def _needs(kind: str) -> Iterator[Entry]:
    own = attributes_of(kind)
    printed = domain_of_kind(kind).sublabel.get(kind)
    yield _need("find", "simple-recognition", "what is this {noun} called", "it")
    yield {
        **_need("find", "simple-recognition", "is this {noun} called {named}", "it == named"),
        "with": {"named": "name"},
    }
    yield _need("act", "simple-knowledge", "when does {shop} shut", "shop.closes")
    steps = iter(_STEPS * 20)
    for speed in DYNAMISM:
        of = [a for a in own if a.dynamism == speed and a.key != printed]
        numbers = [a for a in of if isinstance(a.value, Number) and a.is_compared]
        for a in of[:3]:
            yield _need(next(steps), "simple-knowledge", f"tell me its {a.key}", f"it.{a.key}")
        for a in [a for a in of if isinstance(a.value, Ref)][:2]:
            yield _related(next(steps), a)
            for b in attributes_of(a.value.kinds[0])[:2]:
                far = f"the {b.key} of its {a.key}"
                yield _need(next(steps), "multi-hop", far, f"it.{a.key}.{b.key}")
        for a in [a for a in of if isinstance(a.value, Choice)][:1]:
            said = f"its {a.key} is {{claim}}, right"
            yield {
                **_need("decide", "simple-knowledge", said, f"premise(it.{a.key}, claim)"),
                "with": {"claim": f"claim {a.key}"},
            }
        for a in numbers[: 1 + (speed == "static")]:
            yield from _numbered(next(steps), a.key)
    if isinstance({a.key: a.value for a in own}.get(printed or ""), Number):
        yield _need("decide", "reasoning", "three times that figure", f"it.{printed} * 3")


def _numbered(step: str, key: str) -> Iterator[Entry]:
    two = f"which of these two has more {key}"
    yield _need(step, "comparison", two, f"most(both, {key})")
    other = f"does {{other}} have more {key}"
    yield _need(step, "comparison", other, f"other.{key} > it.{key}")
    yield _need(step, "aggregation", f"{key} of both together", f"it.{key} + next.{key}")
    yield _need(step, "aggregation", f"most {key} of all here", f"most(these, {key})")
    bound = _need(step, "reasoning", f"is its {key} over {{bound}}", f"it.{key} > bound")
    yield {**bound, "with": {"bound": f"near {key}"}}


def _related(step: str, a: Attribute) -> Entry:
    """A person, firm, town or thing, and what may be asked of them; some lead elsewhere."""
    found = _need(step, "simple-knowledge", f"who is the {a.key} here", f"it.{a.key}")
    asked = [b for b in attributes_of(a.value.kinds[0]) if b.key not in ("owner", "partner")]
    leading = [b for b in asked if isinstance(b.value, Ref)]
    leading.sort(key=lambda b: b.value.kinds[0] in HUBS)
    changing = [b for b in asked if b.dynamism != "static"]
    found["then"] = [
        _need(step, "multi-hop", f"and {b.key} of that", f"answer.{b.key}")
        for b in {b.key: b for b in (*leading[:2], *changing[-2:])}.values()
    ]
    return found


def _need(step: str, query_type: str, say: str, answer: str) -> Entry:
    says = [say, f"{say}, say"] if query_type == "simple-knowledge" else [say]
    return {"step": step, "type": query_type, "say": says, "answer": answer}


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
