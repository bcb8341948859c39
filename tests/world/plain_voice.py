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

from simulator.world.facts.catalogue import attributes_of, domain_of_kind, raw_domains
from simulator.world.facts.fact_records import HUBS, Attribute, Choice, Clock, Number, Ref
from simulator.world.language.voices.rules import STYLES, WEB

Entry = dict[str, Any]
_STEPS = ("find", "compare", "decide", "act") * 9


@cache
def plain() -> str:
    """A plain voice in a temporary folder, as `--voices` takes it."""
    folder = Path(tempfile.mkdtemp(prefix="voice-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return str(write_plain_voice(folder / "plain"))


def write_plain_voice(folder: Path) -> Path:
    """Fifteen files that `check_voice` has nothing to say about."""
    import yaml

    folder.mkdir(parents=True)
    for stem, domain in raw_domains().items():
        said: dict[str, Any] = {"attributes": {}}
        if domain["name"] != "hub":
            said["needs"] = [need for kind in domain["kinds"] for need in plain_needs(kind)]
            said["attributes"] = {
                key: _wording(key, a) for key, a in list(domain["attributes"].items())[::2]
            }
        apart = json.loads(json.dumps(said))  # YAML would write what is shared as an alias
        (folder / f"{stem}.yaml").write_text(yaml.safe_dump(apart, sort_keys=False))
    (folder / WEB).write_text(yaml.safe_dump(_web()))
    return folder


def plain_needs(kind: str) -> list[Entry]:
    """Of every type and speed that a kind has something for."""
    return [{"kinds": [kind], **need} for need in _needs(kind)]


def _needs(kind: str) -> Iterator[Entry]:
    own = attributes_of(kind)
    printed = domain_of_kind(kind).sublabel.get(kind)
    numbers = [a for a in own if isinstance(a.value, Number) and a.key != printed and a.is_compared]
    static = [a for a in numbers if a.dynamism == "static"]
    yield _need("find", "simple-recognition", "what is this {noun} called", "it")
    yield {
        **_need("find", "simple-recognition", "is this {noun} called {named}", "it == named"),
        "with": {"named": "name"},
    }
    for a in own:
        if a.key != printed:
            yield from _about(a)
    for step, a in zip(_STEPS, numbers, strict=False):
        yield _need(step, "comparison", f"which of these two {{plural}} has more {a.key}",
                    f"most(both, {a.key})")  # fmt: skip
        yield _need(step, "comparison", f"and is the {a.key} of {{other}} higher than here",
                    f"other.{a.key} > it.{a.key}") | {"opens": False}  # fmt: skip
        yield _need(step, "aggregation", f"what do these two {{plural}} come to in {a.key}",
                    f"it.{a.key} + next.{a.key}")  # fmt: skip
        yield {
            **_need(step, "reasoning", f"is the {a.key} of this {{noun}} over {{bound}}",
                    f"it.{a.key} > bound"),
            "with": {"bound": f"near {a.key}"},
        }  # fmt: skip
    for a in static[:2]:
        yield _need("compare", "aggregation", f"which of these {{plural}} has the most {a.key}",
                    f"most(these, {a.key})")  # fmt: skip
    counted = {a.key for a in own if isinstance(a.value, Number)}
    if printed in counted:
        said = "what would three of the figure on it make"
        yield _need("decide", "reasoning", said, f"it.{printed} * 3")
    elif printed:
        said = "who does the print name"
        yield _need("find", "simple-recognition", said, f"it.{printed}")


def _about(a: Attribute) -> Iterator[Entry]:
    found = _need(
        "find", "simple-knowledge", f"tell me the {a.key} of this {{noun}}", f"it.{a.key}"
    )
    found["later"] = [f"what about its {a.key}"]
    if isinstance(a.value, Ref) and a.value.kinds[0] in HUBS:
        hub = attributes_of(a.value.kinds[0])
        found["then"] = [
            _need("find", "multi-hop", f"and {b.key} of that", f"answer.{b.key}") for b in hub
        ]
        for step, b in zip(_STEPS, hub, strict=False):
            far = _need(step, "multi-hop", f"what is the {b.key} of the {a.key} of this {{noun}}",
                        f"it.{a.key}.{b.key}")  # fmt: skip
            if isinstance(b.value, Ref) and "rating" in _shared(b.value.kinds):
                far["then"] = [_need(step, "simple-knowledge", "how is it rated", "answer.rating")]
            yield far
    elif isinstance(a.value, Choice) and a.dynamism == "static":
        yield {
            **_need("decide", "simple-knowledge",
                    f"the {a.key} of this {{noun}} is {{claim}}, right",
                    f"premise(it.{a.key}, claim)"),
            "with": {"claim": f"claim {a.key}"},
        }  # fmt: skip
    elif isinstance(a.value, Clock):
        yield {
            **_need("act", "reasoning", f"will I make the {a.key} of this {{noun}} by {{time}}",
                    f"it.{a.key} > time"),
            "with": {"time": "later"},
        }  # fmt: skip
    yield found


def _shared(kinds: tuple[str, ...]) -> set[str]:
    return set.intersection(*({a.key for a in attributes_of(kind)} for kind in kinds))


def _need(step: str, query_type: str, say: str, answer: str) -> Entry:
    return {"step": step, "type": query_type, "say": [say, f"{say} by the way"], "answer": answer}


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
