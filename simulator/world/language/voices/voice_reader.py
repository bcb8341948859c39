"""A voice is what one author wrote: read, and named by who may have read it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path

import msgspec

from mmrag.errors import DataError, SpecError
from mmrag.records import Record
from mmrag.registry import unknown_name_message
from mmrag.text import comma_list
from simulator.world.facts.domain_schema import DOMAINS, Attribute, raw_domains
from simulator.world.facts.fact_wording import say_list
from simulator.world.language.voices.need_reader import Errand, Need, folded
from simulator.world.language.voices.voice_validation import WEB, read_files

VOICES = Path(__file__).parent

OPEN = ("alder", "birch", "cedar", "dogwood", "elm")
"""Voices that whoever builds a reader may read."""

HELD = ("hazel", "rowan", "willow")
"""Voices that nobody reads who builds a reader: reports are on these."""


class Wording(Record, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How one author's pages state an attribute."""

    noun: str
    page: tuple[str, ...]
    """Four sentences, from an encyclopaedia's to a forum's."""


class Voice:
    """What one author wrote."""

    def __init__(self, folder: Path) -> None:
        files = read_files(folder)
        if wrong := [fault for file in files.values() for fault in file.wrong]:
            raise DataError(f"the voice {folder.name} cannot be used: {wrong[0]}"
                            + (f" (and {len(wrong) - 1} more)" if wrong[1:] else ""))  # fmt: skip
        self.name = folder.name
        self.pages = msgspec.convert(
            files.pop(Path(WEB).stem).said, dict[str, dict[str, tuple[str, ...]]]
        )
        self._of: dict[tuple[str, str], Wording] = {}
        self._errands: dict[str, list[Errand]] = {}
        for stem, file in files.items():
            for key, words in file.said.get("attributes", {}).items():
                self._of[raw_domains()[stem]["name"], key] = msgspec.convert(words, Wording)
            for errand in file.errands:
                for kind in errand.turns[0].kinds:
                    self._errands.setdefault(kind, []).append(errand)

    def wording(self, domain: str, attribute: Attribute) -> Wording:
        """How this author's pages state an attribute of a domain (`hub` for people, companies,
        towns); in plain words where the author has none."""
        found = self._of.get((domain, attribute.key))
        return found or _plain(attribute)

    def errands(self, kind: str) -> tuple[Errand, ...]:
        """What this author would ask about a kind of thing, occasion by occasion."""
        return tuple(self._errands.get(kind, ()))

    def wants(self, kind: str) -> tuple[Need, ...]:
        """The same turn by turn; what leans on one is in its `then`."""
        return tuple(need for errand in self.errands(kind) for need in errand.about(kind))


def _plain(attribute: Attribute) -> Wording:
    noun = attribute.noun
    when = "" if attribute.dynamism == "static" else " ({d})"
    return Wording(
        noun=noun,
        page=(
            f"On record for {{x}}, {noun}: {{v}}{when}.",
            f"{noun[0].upper()}{noun[1:]}{when}: {{v}}",
            f"As for {noun}, {{x}} has this to show: {{v}}{when}.",
            f"{noun}, since somebody asked: {{v}}{when}",
        ),
    )


def voice_folder(name: str) -> Path:
    """Where a voice's files are: of one of your own its name is the folder, with a / in it."""
    return Path(name) if "/" in name else VOICES / name


def voice_identity(name: str) -> str:
    """A voice as a world's card names it: one's own with a hash of its files."""
    if "/" not in name:
        return name
    return f"{voice(name).name}@{_digest(voice_folder(name))[:16]}"


def _digest(folder: Path) -> str:
    """A hash of a voice's files; one that cannot be read is for the check to name."""
    digest = hashlib.sha256()
    for path in sorted(folder.glob("*.yaml")):
        with suppress(OSError):
            digest.update(path.name.encode() + b"\x00" + path.read_bytes())
    return digest.hexdigest()


def voice(name: str) -> Voice:
    """A voice by its name, or by the folder of one of your own: read again after an edit, so that
    its words are those that `voice_identity` names."""
    return _read(name, _digest(voice_folder(name)) if "/" in name else "")


@cache
def _read(name: str, _content: str) -> Voice:
    folder = voice_folder(name)
    if folder.parent != VOICES and folder.name in (*OPEN, *HELD):
        raise SpecError(f"{name}: a voice of that name is shipped; give your folder another name.")
    if not (folder / "web.yaml").is_file():
        known = sorted(p.parent.name for p in VOICES.glob("*/web.yaml"))
        raise SpecError(
            f"{unknown_name_message('voice', name, known)} Or say open, held, or give the "
            "folder of a voice of your own, with a / in it."
        )
    return Voice(folder)


def parse_voices(spec: str) -> tuple[str, ...]:
    """`open`, `held`, or names with commas, as names: read, checked, and no two at odds."""
    groups = {"open": OPEN, "held": HELD}
    names = groups.get(spec) or tuple(comma_list(spec))
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


def describe_voices(names: Iterable[str]) -> str:
    """Which voices these are and who may have read them, for the head of every report.

    >>> describe_voices(["elm", "alder"])
    'open voices alder and elm'
    >>> describe_voices(["hazel", "alder"])
    'open voice alder, held-out voice hazel (mixed: the slices by voice tell them apart)'
    """
    kinds: dict[str, list[str]] = {}
    for name in sorted(names):
        kind = "open" if name in OPEN else "held-out" if name in HELD else "own"
        kinds.setdefault(kind, []).append(name)
    parts = [
        f"{kind} voice{'s' * (len(of) > 1)} {say_list(of)}"
        for kind in ("open", "held-out", "own")
        if (of := kinds.get(kind))
    ]
    mixed = " (mixed: the slices by voice tell them apart)" if len(parts) > 1 else ""
    return ", ".join(parts) + mixed


def _clashes(names: Sequence[str]) -> Iterator[str]:
    """Openings of two authors that are the same words about the same kind, and ask two things."""
    asked: dict[tuple[str, str], Need] = {}
    for name in names:
        for kind in (kind for domain in DOMAINS.values() for kind in domain.nouns):
            for need in voice(name).wants(kind):
                for text in need.first:
                    first = asked.setdefault((kind, folded(text)), need)
                    if first.answer != need.answer:
                        yield f"{first.id} and {need.id} both say {text!r} of a {kind}."
