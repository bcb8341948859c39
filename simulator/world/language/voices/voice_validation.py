"""What a voice must hold, by the catalogue, and what is wrong with one, line by line."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple, cast

from mmrag.files import bounded_yaml
from simulator.world.facts.domain_schema import raw_domains
from simulator.world.language.voices.need_reader import Errand, Fault, read_errands

STYLES = ("encyclopaedia", "shop", "review", "forum", "news")
WEB = "web.yaml"
"""How the pages of a voice sound, whatever they are about."""

_PARTS = {"titles": 4, "leads": 4, "chatter": 10, "headings": 6}
_SLOT = re.compile(r"\{(\w*)\}")


class VoiceProblem(NamedTuple):
    """What is wrong with a line of a voice."""

    file: str
    line: int
    words: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.words}"


class VoiceFile(NamedTuple):
    """One file of a voice, read: what it says, the errands in it, and what is wrong."""

    said: dict[str, Any]
    errands: list[Errand]
    wrong: list[VoiceProblem]


def check_voice(folder: Path) -> list[VoiceProblem]:
    """Everything that is wrong with a voice; empty when it can be used."""
    return [wrong for file in read_files(folder).values() for wrong in file.wrong]


def read_files(folder: Path) -> dict[str, VoiceFile]:
    """Every file of a voice by its stem."""
    return {stem: read_file(folder / f"{stem}.yaml") for stem in (*raw_domains(), Path(WEB).stem)}


def read_file(path: Path) -> VoiceFile:
    """One file of a voice."""
    domain = raw_domains().get(path.stem)
    if domain is None and path.name != WEB:
        known = ", ".join((*raw_domains(), Path(WEB).stem))
        return _unread(path, 0, f"is no file of a voice; there are {known}.")
    if not path.exists():
        return _unread(path, 0, "is missing; write it (AUTHORS.md says what it holds).")
    found = _parsed(path)
    if isinstance(found, VoiceFile):
        return found
    said, lines = found
    errands: list[Errand] = []
    faults = list(_web(said) if domain is None else _attributes(said, domain))
    if domain is not None and domain["name"] != "hub":
        kinds = tuple(domain["kinds"])
        errands, more = read_errands(f"{path.parent.name}/{path.stem}", said.get("errands"), kinds)
        faults += more
    wrong = [VoiceProblem(path.name, _line(lines, where), words) for where, words in faults]
    return VoiceFile(said, errands, wrong)


def _unread(path: Path, line: int, words: str) -> VoiceFile:
    return VoiceFile({}, [], [VoiceProblem(path.name, line, words)])


def _parsed(path: Path) -> tuple[dict[str, Any], dict[str, int]] | VoiceFile:
    """What a file says, and on which lines; or what is wrong with all of it."""
    import yaml

    text = ""
    try:
        text = bounded_yaml.read_text(path)
        node = bounded_yaml.compose(text)
        if lost := [VoiceProblem(path.name, line, words) for line, words in _lost(node, "")]:
            return VoiceFile({}, [], lost)
        value = None if node is None else bounded_yaml.value_of(node)
    except OSError as error:
        return _unread(path, 0, f"cannot be read: {error.strerror}.")
    except UnicodeDecodeError as error:
        line = path.read_bytes()[: error.start].count(b"\n") + 1
        return _unread(path, line, "is not UTF-8.")
    except yaml.reader.ReaderError as error:  # it says which character, and no line
        line = text[: text.find(chr(error.character))].count("\n") + 1
        return _unread(path, line, f"is no YAML: {error}".split("\n")[0])
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        return _unread(path, mark.line + 1 if mark else 1, f"is no YAML: {error}".split("\n")[0])
    if not isinstance(value, dict):
        return _unread(path, 1, "is no mapping.")
    return cast("dict[str, Any]", value), dict(lines_of(node, ""))


def _line(lines: dict[str, int], where: str) -> int:
    """The line of a place, or of the nearest thing that it stands in."""
    while where and where not in lines:
        where = where.rpartition(".")[0]
    return lines.get(where, 1)


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
    """Where each key and item of a YAML node stands: "errands.3.turns.0.say" and its line."""
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


def _attributes(value: dict[str, Any], domain: dict[str, Any]) -> Iterator[Fault]:
    for field in map(str, value.keys() - {"attributes", "errands"}):
        yield field, f"{field}: a file holds `errands:` and `attributes:`."
    given = value.get("attributes", {})
    if not isinstance(given, dict):
        yield "attributes", "attributes: is no mapping."
        return
    given = cast("dict[str, Any]", given)
    for key in sorted(map(str, given.keys() - domain["attributes"].keys())):
        yield f"attributes.{key}", f"{key}: no attribute of {domain['name']}."
    for key in given.keys() & domain["attributes"].keys():
        where, words = f"attributes.{key}", given[key]
        if not isinstance(words, dict) or set(cast("dict[str, Any]", words)) != {"noun", "page"}:
            yield where, f"{where}: give noun and page."
            continue
        yield from _slots(f"{where}.noun", words["noun"], "", "")
        changes = domain["attributes"][key].get("pace", "static") != "static"
        if not isinstance(words["page"], list) or len(cast("list[Any]", words["page"])) != 4:
            yield f"{where}.page", f"{where}.page: give exactly 4."
            continue
        for i, text in enumerate(cast("list[Any]", words["page"])):
            yield from _slots(f"{where}.page.{i}", text, "v d" if changes else "v", "x xs")


def _slots(where: str, text: Any, must: str, may: str) -> Iterator[Fault]:
    if not isinstance(text, str) or not text.strip():
        yield where, f"{where}: a text is missing (quote it if YAML reads it as something else)."
        return
    found = Counter(_SLOT.findall(text))
    if text.count("{") != sum(found.values()) or text.count("}") != sum(found.values()):
        yield where, f"{where}: a brace is not closed."
    for slot in sorted(set(must.split())):
        if found[slot] != 1:
            yield where, f"{where}: needs {{{slot}}} once."
    for slot in sorted(found.keys() - set(must.split()) - set(may.split())):
        yield where, f"{where}: {{{slot}}} is no slot here."


def _web(value: dict[str, Any]) -> Iterator[Fault]:
    if set(value) != set(STYLES):
        yield "", f"give {', '.join(STYLES)}."
        return
    for style, parts in value.items():
        for part, many in _PARTS.items():
            got = cast("dict[str, Any]", parts).get(part) if isinstance(parts, dict) else None
            if not isinstance(got, list) or len(cast("list[Any]", got)) != many:
                yield f"{style}.{part}", f"{style}.{part}: give exactly {many}."
                continue
            must = "x" if part in ("titles", "leads") else ""
            for i, text in enumerate(cast("list[Any]", got)):
                may = "noun" if part == "leads" else ""
                yield from _slots(f"{style}.{part}.{i}", text, must, may)
