"""What a voice must hold, by the catalogue, and what is wrong with one, line by line."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from mmrag.files import bounded_yaml
from simulator.world.facts.catalogue import raw_domains

COMPARED = ("than", "comp", "rank", "over", "under")
_SHAPES = ("number", "year", "day", "clock", "one_of", "some_of", "to")
_SLOT = re.compile(r"\{(\w*)\}")

OPERATIONS: dict[str, tuple[frozenset[str], frozenset[str]]] = {
    name: (frozenset(must.split()), frozenset(may.split()))
    for name, must, may in (
        ("name", "", "x noun"),
        ("label", "x", ""),
        ("sublabel", "x", ""),
        ("which-name", "first second", ""),
        ("is-name", "other", ""),
        ("beside", "noun", ""),
        ("again", "other", ""),
        ("back", "", ""),
        ("premise", "claim ask", ""),
        ("sibling", "plural same rank", ""),
        ("the-one-that", "plural comp n", ""),
        ("which", "comp first second", ""),
        ("which-beside", "plural comp", ""),
        ("beside-than", "than", "noun plural"),
        ("hop-than", "than", ""),
        ("difference", "x other n", ""),
        ("past-than", "X n way when", ""),
        ("extreme", "plural rank", ""),
        ("count-where", "plural phrase", ""),
        ("set-where", "plural phrase", ""),
        ("total", "plural n", ""),
        ("average", "plural n", ""),
        ("list-sharing", "plural same", ""),
        ("count-sharing", "plural same", "x noun"),
        ("total-sharing", "plural same n", "x noun"),
        ("peak", "X n", ""),
        ("trough", "X n", ""),
        ("swing", "X n", ""),
        ("enough", "x n need", ""),
        ("initials", "x", ""),
        ("convert", "ask unit", ""),
        ("percent", "X n when", ""),
        ("years-between", "start end", ""),
        ("days-apart", "X n other", ""),
        ("in-time", "x state hour", ""),
        ("minutes-left", "x", ""),
    )
}
"""Operation → slots it must have and slots it may have; X stands for {x} or {xs}."""

STYLES = ("encyclopaedia", "shop", "review", "forum", "news")


class Wrong(NamedTuple):
    """What is wrong with a line of a voice."""

    file: str
    line: int
    words: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.words}"


def needs(attribute: Mapping[str, Any]) -> dict[str, int]:
    """Which wordings an attribute needs, and how many of each (0: one text or mapping)."""
    shape = next(s for s in _SHAPES if s in attribute)
    pace = attribute.get("pace", "static")
    wanted = {"noun": 0, "ask": 3, "short": 2, "page": 4}
    wanted |= {"claim": 0} if pace == "static" else {"past": 2}
    if shape == "to":
        wanted |= {"who": 0, "same": 0}
    if shape in ("number", "year") and attribute.get("compare", True):
        wanted |= dict.fromkeys(COMPARED, 0)
    if attribute.get("each"):
        wanted["times"] = 0
        if attribute.get("unit") == "$":
            wanted["budget"] = 0
    return wanted


def check_voice(folder: Path) -> list[Wrong]:
    """Everything that is wrong with a voice; empty when it can be used."""
    found: list[Wrong] = []
    for stem, domain in raw_domains().items():
        found += _check_file(folder / f"{stem}.yaml", lambda v, d=domain: _attributes(v, d))
    found += _check_file(folder / "operations.yaml", _operations)
    return found


def _check_file(path: Path, rules: Any) -> list[Wrong]:
    import yaml

    if not path.exists():
        return [Wrong(path.name, 0, "is missing; write it (AUTHORS.md says what it holds).")]
    text = ""
    try:
        text = bounded_yaml.read_text(path)
        node = bounded_yaml.compose(text)
        if lost := [Wrong(path.name, line, words) for line, words in _lost(node, "")]:
            return lost
        value = None if node is None else bounded_yaml.value_of(node)
    except OSError as error:
        return [Wrong(path.name, 0, f"cannot be read: {error.strerror}.")]
    except UnicodeDecodeError as error:
        line = path.read_bytes()[: error.start].count(b"\n") + 1
        return [Wrong(path.name, line, "is not UTF-8.")]
    except yaml.reader.ReaderError as error:  # it says which character, and no line
        line = text[: text.find(chr(error.character))].count("\n") + 1
        return [Wrong(path.name, line, f"is no YAML: {error}".split("\n")[0])]
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = mark.line + 1 if mark else 1
        return [Wrong(path.name, line, f"is no YAML: {error}".split("\n")[0])]
    if not isinstance(value, dict):
        return [Wrong(path.name, 1, "is no mapping.")]
    lines = dict(lines_of(node, ""))
    return [
        Wrong(path.name, lines.get(where, lines.get(where.rsplit(".", 1)[0], 0)), words)
        for where, words in rules(value)
    ]


def _lost(node: Any, path: str) -> Iterator[tuple[int, str]]:
    """What would be dropped unsaid, or stop the reading without a line."""
    import yaml

    if node is None:
        return
    line = node.start_mark.line + 1
    if node.id == "mapping":
        first: dict[tuple[str, str], int] = {}
        for key, value in node.value:
            where, here = f"{path}.{key.value}".lstrip("."), key.start_mark.line + 1
            if (said := (key.tag, str(key.value))) in first:
                yield here, f"{where}: stands on line {first[said]} too; only one would be read."
            first.setdefault(said, here)
            yield from _lost(key, where)
            yield from _lost(value, where)
    elif node.id == "sequence":
        for i, item in enumerate(node.value):
            yield from _lost(item, f"{path}.{i}")
    elif not node.tag.endswith((":str", ":merge")):
        try:
            bounded_yaml.value_of(node)
        except yaml.YAMLError:
            yield line, f"{node.value!r} is no value of YAML, whatever it looks like; quote it."


def lines_of(node: Any, path: str) -> Iterator[tuple[str, int]]:
    """Where each key and item of a YAML node stands: "attributes.price.ask.0" and its line."""
    if node is None:
        return
    yield path, node.start_mark.line + 1
    if node.id == "mapping":
        for key, value in node.value:
            yield from lines_of(value, f"{path}.{key.value}" if path else str(key.value))
            yield (f"{path}.{key.value}" if path else str(key.value)), key.start_mark.line + 1
    elif node.id == "sequence":
        for i, value in enumerate(node.value):
            yield from lines_of(value, f"{path}.{i}")


def _attributes(value: dict[str, Any], domain: dict[str, Any]) -> Iterator[tuple[str, str]]:
    given = value.get("attributes")
    if not isinstance(given, dict):
        yield "attributes", "attributes: is missing or no mapping."
        return
    for key in given.keys() - domain["attributes"].keys():
        yield f"attributes.{key}", f"{key}: no attribute of {domain['name']}."
    for key, attribute in domain["attributes"].items():
        where = f"attributes.{key}"
        if not isinstance(given.get(key), dict):
            yield where, f"{key}: is missing."
            continue
        yield from _one(where, given[key], attribute)
    for kind in ("ask", "claim"):
        users: dict[str, set[str]] = {}
        for key, words in given.items():
            got = words.get(kind) if isinstance(words, dict) else None
            for text in got if isinstance(got, list) else [got]:
                if isinstance(text, str):  # `_one` names what is no text
                    users.setdefault(text, set()).add(str(key))
        for text, keys in users.items():
            for key in sorted(keys) if len(keys) > 1 else ():
                said = f"{text!r} stands for two attributes: {' and '.join(sorted(keys))}."
                yield f"attributes.{key}.{kind}", said


def _one(where: str, words: dict[str, Any], attribute: dict[str, Any]) -> Iterator[tuple[str, str]]:
    wanted = needs(attribute)
    for field in words.keys() - wanted.keys():
        yield f"{where}.{field}", f"{where}.{field}: not needed here; leave it out."
    for field, many in wanted.items():
        here = f"{where}.{field}"
        got = words.get(field)
        if field in ("than", "comp", "rank"):
            ends = ("most", "least") if field == "rank" else ("more", "less")
            if not isinstance(got, dict) or set(got) != set(ends):
                yield here, f"{here}: give {ends[0]} and {ends[1]}."
                continue
            for end in ends:
                yield from _slots(f"{here}.{end}", got[end], *_RULES[field])
        elif many:
            if not isinstance(got, list) or len(got) != many:
                yield here, f"{here}: give exactly {many}."
                continue
            if len({str(t).lower() for t in got}) < many:
                yield here, f"{here}: two are the same."
            changing = field == "page" and attribute.get("pace", "static") != "static"
            must, may = _RULES["page-changing" if changing else field]
            for i, text in enumerate(got):
                yield from _slots(f"{here}.{i}", text, must, may)
        else:
            yield from _slots(here, got, *_RULES[field])


_RULES: dict[str, tuple[str, str]] = {
    "noun": ("", ""),
    "ask": ("X", ""),
    "short": ("", "xs x"),
    "claim": ("X v", ""),
    "past": ("X when", ""),
    "than": ("X other", ""),
    "comp": ("", ""),
    "rank": ("", ""),
    "over": ("bound", ""),
    "under": ("bound", ""),
    "times": ("count", "x plural noun"),
    "budget": ("amount", "x plural noun"),
    "who": ("X", ""),
    "same": ("X", ""),
    "page": ("v", "x xs"),
    "page-changing": ("v d", "x xs"),
}


def _slots(where: str, text: Any, must: str, may: str) -> Iterator[tuple[str, str]]:
    if not isinstance(text, str) or not text.strip():
        yield where, f"{where}: a text is missing (quote it if YAML reads it as something else)."
        return
    found = Counter(_SLOT.findall(text))
    if text.count("{") != sum(found.values()) or text.count("}") != sum(found.values()):
        yield where, f"{where}: a brace is not closed."
    wanted = set(must.split())
    if "X" in wanted:
        wanted.discard("X")
        if found["x"] + found["xs"] != 1:
            yield where, f"{where}: needs {{x}} or {{xs}}, once."
    for slot in sorted(wanted):
        if found[slot] != 1:
            yield where, f"{where}: needs {{{slot}}} once."
    allowed = wanted | set(may.split()) | ({"x", "xs"} if "X" in must.split() else set())
    for slot in sorted(found.keys() - allowed):
        yield where, f"{where}: {{{slot}}} is no slot here."


def _operations(value: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for name, (must, may) in OPERATIONS.items():
        got = value.get(name)
        if not isinstance(got, list) or len(got) != 3:
            yield name, f"{name}: give exactly 3."
            continue
        for i, text in enumerate(got):
            yield from _slots(f"{name}.{i}", text, " ".join(must), " ".join(may))
    for name in value.keys() - OPERATIONS.keys() - {"starts", "ends", "pages"}:
        yield name, f"{name}: no operation."
    years = {
        key
        for domain in raw_domains().values()
        if domain["name"] != "hub"
        for key, a in domain["attributes"].items()
        if "year" in a
    }
    for field, keys in (("starts", {"born", "founded", "chartered"}), ("ends", years)):
        got = value.get(field)
        if not isinstance(got, dict) or set(got) != keys:
            yield field, f"{field}: give {', '.join(sorted(keys))}."
            continue
        for key, text in got.items():
            yield from _slots(f"{field}.{key}", text, "X", "")
    pages = value.get("pages")
    if not isinstance(pages, dict) or set(pages) != set(STYLES):
        yield "pages", f"pages: give {', '.join(STYLES)}."
        return
    for style, parts in pages.items():
        for part, many, must in (
            ("titles", 4, "x"),
            ("leads", 4, "x"),
            ("chatter", 10, ""),
            ("headings", 6, ""),
        ):
            got = parts.get(part) if isinstance(parts, dict) else None
            if not isinstance(got, list) or len(got) != many:
                yield f"pages.{style}", f"pages.{style}.{part}: give exactly {many}."
                continue
            for i, text in enumerate(got):
                yield from _slots(
                    f"pages.{style}.{part}.{i}", text, must, "noun" if part == "leads" else ""
                )
