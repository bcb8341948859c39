"""A voice without an author: every wording made from the catalogue's nouns, for tests."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

from simulator.world.facts.catalogue import raw_domains
from simulator.world.language.voices.rules import OPERATIONS, STYLES, needs


@cache
def plain() -> str:
    """A plain voice in a temporary folder, as `--voices` takes it."""
    folder = Path(tempfile.mkdtemp(prefix="voice-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return str(write_plain_voice(folder / "plain"))


def write_plain_voice(folder: Path) -> Path:
    """Fourteen files that `check_voice` has nothing to say about."""
    import yaml

    folder.mkdir(parents=True)
    for stem, domain in raw_domains().items():
        words = {key: _wording(key, a) for key, a in domain["attributes"].items()}
        (folder / f"{stem}.yaml").write_text(yaml.safe_dump({"attributes": words}))
    (folder / "operations.yaml").write_text(yaml.safe_dump(_operations()))
    return folder


def _wording(key: str, attribute: dict[str, Any]) -> dict[str, Any]:
    n = attribute["noun"]
    dated = " on {d}" if attribute.get("pace") else ""
    every: dict[str, Any] = {
        "noun": n,
        "ask": [f"what's {{xs}} {n} ({key})", f"{{xs}} {n} ({key})", f"tell me {{xs}} {n} ({key})"],
        "short": [f"and the {n}", f"what about the {n}"],
        "page": [f"{i} The {n} of {{x}} was {{v}}{dated}." for i in "abcd"],
        "claim": f"{{xs}} {n} ({key}) is {{v}}",
        "past": [f"what was {{xs}} {n} {{when}}", f"{{xs}} {n} {{when}}"],
        "than": {
            "more": f"is {{xs}} {n} above {{other}}'s",
            "less": f"is {{xs}} {n} below {{other}}'s",
        },
        "comp": {"more": f"has more {n}", "less": f"has less {n}"},
        "rank": {"most": f"has the most {n}", "least": f"has the least {n}"},
        "over": f"have a {n} above {{bound}}",
        "under": f"have a {n} below {{bound}}",
        "times": f"what is the {n} of {{count}} of these",
        "budget": f"how many times does {{amount}} cover the {n}",
        "who": f"the {n} of {{x}}",
        "same": f"share {{xs}} {n}",
    }
    return {field: every[field] for field in needs(attribute)}


def _operations() -> dict[str, Any]:
    made: dict[str, Any] = {}
    for name, (must, _) in OPERATIONS.items():
        slots = " ".join(f"{{{'xs' if s == 'X' else s}}}" for s in sorted(must))
        made[name] = [f"{name} {i} {slots}" for i in "abc"]
    made["back"] = ["back a,", "back b,", "back c,"]
    years = {
        k
        for d in raw_domains().values()
        if d["name"] != "hub"
        for k, a in d["attributes"].items()
        if "year" in a
    }
    made["starts"] = {key: f"the {key} of {{x}}" for key in ("born", "founded", "chartered")}
    made["ends"] = {key: f"the {key} of {{x}}" for key in sorted(years)}
    many = {"titles": (4, "{x} "), "leads": (4, "{x} "), "chatter": (10, ""), "headings": (6, "")}
    made["pages"] = {
        style: {part: [f"{x}{style} {part} {i}" for i in range(n)] for part, (n, x) in many.items()}
        for style in STYLES
    }
    return made
