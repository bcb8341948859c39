"""A voice is what one author wrote: read, and named by who may have read it."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from itertools import product
from pathlib import Path

import msgspec

from mmrag.errors import DataError, SpecError
from mmrag.files import bounded_yaml
from mmrag.records import Record
from simulator.world.facts.catalogue import raw_domains
from simulator.world.language.voices.rules import OPERATIONS, check_voice, lines_of

VOICES = Path(__file__).parent

OPEN = ("alder", "birch", "cedar", "dogwood", "elm")
"""Voices that whoever builds a reader may read."""

HELD = ("juniper", "larch", "maple")
"""Voices that nobody reads who builds a reader: reports are on these."""


class Wording(Record, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How one author asks for an attribute and states it; AUTHORS.md says what each is."""

    noun: str
    ask: tuple[str, ...]
    short: tuple[str, ...]
    page: tuple[str, ...]
    claim: str = ""
    past: tuple[str, ...] = ()
    than: Mapping[str, str] = {}
    comp: Mapping[str, str] = {}
    rank: Mapping[str, str] = {}
    over: str = ""
    under: str = ""
    times: str = ""
    budget: str = ""
    who: str = ""
    same: str = ""


class Voice:
    """One author's wordings."""

    def __init__(self, folder: Path) -> None:
        if wrong := check_voice(folder):
            raise DataError(f"the voice {folder.name} cannot be used: {wrong[0]}"
                            + (f" (and {len(wrong) - 1} more)" if wrong[1:] else ""))  # fmt: skip
        self.name = folder.name
        self._of: dict[tuple[str, str], Wording] = {}
        for stem, domain in raw_domains().items():
            for key, said in bounded_yaml.read(folder / f"{stem}.yaml")["attributes"].items():
                self._of[domain["name"], key] = msgspec.convert(said, Wording)
        said = bounded_yaml.read(folder / "operations.yaml")
        self.operations: dict[str, tuple[str, ...]] = {
            name: tuple(said[name]) for name in OPERATIONS
        }
        self.starts: dict[str, str] = said["starts"]
        self.ends: dict[str, str] = said["ends"]
        self.pages: dict[str, dict[str, tuple[str, ...]]] = {
            style: {part: tuple(texts) for part, texts in parts.items()}
            for style, parts in said["pages"].items()
        }

    def wording(self, domain: str, key: str) -> Wording:
        """How this author words an attribute of a domain (`hub` for people, companies, towns)."""
        return self._of[domain, key]


def folder_of(name: str) -> Path:
    """Where a voice's files are: of one of your own its name is the folder, with a / in it."""
    return Path(name) if "/" in name else VOICES / name


def content_of(name: str) -> str:
    """A voice as a world's card names it: one's own with a hash of its files."""
    if "/" not in name:
        return name
    return f"{voice(name).name}@{_digest(folder_of(name))[:16]}"


def _digest(folder: Path) -> str:
    """A hash of a voice's files; one that cannot be read is for the check to name."""
    digest = hashlib.sha256()
    for path in sorted(folder.glob("*.yaml")):
        with suppress(OSError):
            digest.update(path.name.encode() + b"\x00" + path.read_bytes())
    return digest.hexdigest()


def voice(name: str) -> Voice:
    """A voice by its name, or by the folder of one of your own: read again after an edit, so that
    its words are those that `content_of` names."""
    return _read(name, _digest(folder_of(name)) if "/" in name else "")


@cache
def _read(name: str, _content: str) -> Voice:
    folder = folder_of(name)
    if folder.parent != VOICES and folder.name in (*OPEN, *HELD):
        raise SpecError(f"{name}: a voice of that name is shipped; give your folder another name.")
    if not (folder / "operations.yaml").is_file():
        known = ", ".join(sorted(p.parent.name for p in VOICES.glob("*/operations.yaml")))
        raise SpecError(
            f"there is no voice {name!r}. Known: {known}; or say open, held, or give the folder of "
            "one of your own, with a / in it."
        )
    return Voice(folder)


def named(spec: str) -> tuple[str, ...]:
    """`open`, `held`, or names with commas, as names: read, checked, and no two at odds."""
    groups = {"open": OPEN, "held": HELD}
    names = groups.get(spec) or tuple(n.strip() for n in spec.split(",") if n.strip())
    if not names:
        raise SpecError(f"--voices {spec!r} names none; say open, held, or names with commas.")
    found = [voice(name) for name in names]
    if len({v.name for v in found}) < len(found):
        raise SpecError(
            f"--voices {spec!r} names a voice twice; a report could not tell them apart."
        )
    if clash := next(_clashes(names), None):
        raise DataError(f"these voices cannot stand in one world: {clash}")
    return names


def whose(names: Iterable[str]) -> str:
    """Which voices these are and who may have read them, for the head of every report.

    >>> whose(["elm", "alder"])
    'open voices alder and elm'
    >>> whose(["larch", "alder"])
    'open voice alder, held-out voice larch (mixed: the slices by voice tell them apart)'
    """
    kinds: dict[str, list[str]] = {}
    for name in sorted(names):
        kind = "open" if name in OPEN else "held-out" if name in HELD else "own"
        kinds.setdefault(kind, []).append(name)
    parts = [
        f"{kind} voice{'s' * (len(of) > 1)} {_listed(of)}"
        for kind in ("open", "held-out", "own")
        if (of := kinds.get(kind))
    ]
    mixed = " (mixed: the slices by voice tell them apart)" if len(parts) > 1 else ""
    return ", ".join(parts) + mixed


def _listed(names: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def _clashes(names: Sequence[str]) -> Iterator[str]:
    """Questions that one author asks for one attribute and another for another of that thing."""
    voices = {name: voice(name) for name in names}
    for stem, domain in raw_domains().items():
        kinds = {k: set(a.get("kinds", domain["kinds"])) for k, a in domain["attributes"].items()}
        asked: dict[str, list[tuple[str, str]]] = {}
        for name, key in product(names, kinds):
            for text in voices[name].wording(domain["name"], key).ask:
                words = re.sub(r"[^\w{}\s]", "", text.casefold()).split()
                said = asked.setdefault(" ".join(words), [])
                for other, theirs in said:
                    if kinds[theirs] & kinds[key] and theirs != key:
                        here, there = _line(name, stem, key), _line(other, stem, theirs)
                        yield f"{here} and {there} both ask {text!r}."
                said.append((name, key))


def _line(name: str, stem: str, key: str) -> str:
    """Where a voice words an attribute, as file:line: attribute."""
    path = folder_of(name) / f"{stem}.yaml"
    lines = dict(lines_of(bounded_yaml.compose(bounded_yaml.read_text(path)), ""))
    return f"{path.parent.name}/{path.name}:{lines[f'attributes.{key}.ask']} ({key})"
