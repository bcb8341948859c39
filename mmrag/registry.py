"""Names for parts. `name:key=value,...` makes a part; other packages add theirs by entry point.

A registry holds factories, never instances, and names modules by string, so that listing what
exists imports nothing heavy.
"""

from __future__ import annotations

import difflib
import importlib
import re
from collections.abc import Callable, Iterable, Mapping
from importlib.metadata import entry_points
from typing import Any, Generic, TypeVar, cast

from mmrag.errors import ConflictError, SpecError
from mmrag.records import Record

T = TypeVar("T")

_NAME = re.compile(r"[a-z0-9][a-z0-9_.-]*")


class Spec(Record, frozen=True, kw_only=True):
    """A part by name with options. `Spec.parse(str(spec)) == spec`.

    An option may be a spec with options of its own, in brackets.

    >>> str(Spec.parse("grounded:rerank=off, ocr=off"))
    'grounded:ocr=off,rerank=off'
    >>> Spec.parse("task3:model=(openai:name=m,retries=1)").options["model"]
    'openai:name=m,retries=1'
    """

    name: str
    options: Mapping[str, str] = {}

    def __post_init__(self) -> None:
        """Refuse what could not be written down, or named to a program or a disk."""
        for key, value in self.options.items():
            if "\0" in value:
                raise SpecError(f"{key}={value!r} holds a NUL; take it out.")
            if (value.startswith("(") or "," in value) and closing(f"({value})") != len(value) + 1:
                raise SpecError(f"the brackets in {key}={value} do not match.")

    @classmethod
    def parse(cls, text: str) -> Spec:
        """Read `name` or `name:key=value,key=(value, with commas)`."""
        name, _, rest = text.strip().partition(":")
        if not _NAME.fullmatch(name):
            raise SpecError(f"{text!r} is not a spec; write name or name:key=value,key=value.")
        options: dict[str, str] = {}
        for part in filter(None, map(str.strip, split_options(rest))):
            key, equals, value = part.partition("=")
            key = key.strip()
            if not equals or not key:
                raise SpecError(f"{part!r} in {text!r} is not an option; write key=value.")
            if key in options:
                raise SpecError(f"option {key!r} stands twice in {text!r}.")
            value = value.strip()
            options[key] = value[1:-1].strip() if value.startswith("(") else value
        return cls(name=name, options=dict(sorted(options.items())))

    def __str__(self) -> str:
        if not self.options:
            return self.name
        return f"{self.name}:" + ",".join(
            f"{k}=({v})" if "," in v or v.startswith("(") else f"{k}={v}"
            for k, v in sorted(self.options.items())
        )


def unknown_name_message(kind: str, name: str, known: Iterable[str]) -> str:
    """What to say of a name that nobody has: what may have been meant, and all that there is.

    >>> unknown_name_message("stage", "pionted", ["pointed", "named"])
    "no stage is called 'pionted'. Did you mean pointed? Known: pointed, named."
    """
    known = list(known)
    near = difflib.get_close_matches(name.lower(), known, n=3)
    hint = f" Did you mean {' or '.join(near)}?" if near else ""
    return f"no {kind} is called {name[:80]!r}.{hint} Known: {', '.join(known)}."


def parse_whole_number(
    owner: str, name: str, value: str | int, *, least: int = 1, most: int = 999_999_999
) -> int:
    """An option of a spec that is a whole number; anything else is told by name, before it costs
    anything."""
    text = str(value)
    if len(text) > 9 or not text.isdecimal() or not least <= int(text) <= most:
        end = f" to {most}" if most < 999_999_999 else ""
        raise SpecError(f"{owner}: {name}={text[:20]}: write a whole number from {least}{end}.")
    return int(text)


def split_options(text: str) -> list[str]:
    """What stands between commas; a value in brackets goes on to its closing one.

    >>> split_options("a=1,b=(c:d=1,e=(f:g=2,h=3))"), split_options("(a:b=1,c=2),d")
    (['a=1', 'b=(c:d=1,e=(f:g=2,h=3))'], ['(a:b=1,c=2)', 'd'])
    """
    found, start = [""], 0
    for bracket in re.finditer(r"(?:^|[=,])\s*\(", text):
        if bracket.start() < start:
            continue
        end = closing(text, bracket.end() - 1)
        if end < 0 or text[end + 1 :].lstrip()[:1] not in ("", ","):
            raise SpecError(f"the brackets in {text!r} do not match.")
        before, *rest = text[start : bracket.end() - 1].split(",")
        found = [*found[:-1], found[-1] + before, *rest]
        found[-1] += text[bracket.end() - 1 : end + 1]
        start = end + 1
    last, *rest = text[start:].split(",")
    return [*found[:-1], found[-1] + last, *rest]


def closing(text: str, start: int = 0) -> int:
    """Where the bracket that opens at `start` closes, or -1."""
    depth = 0
    for i in range(start, len(text)):
        depth += {"(": 1, ")": -1}.get(text[i], 0)
        if depth == 0:
            return i
    return -1


class Registry(Generic[T]):
    """Name → factory for one kind of part.

    `builtin` maps a name to `module:attribute`, imported when it is first asked for. Installed
    packages add more through the entry-point group `group`.
    """

    def __init__(
        self,
        kind: str,
        *,
        group: str,
        builtin: Mapping[str, str],
        unknown: Callable[[str], str] = lambda _: "",
    ) -> None:
        """`unknown` is what else to say of a name that nobody has, or of a spec that is none."""
        self.kind = kind
        self._unknown = unknown
        self.group = group
        self._targets: dict[str, str | Callable[..., T]] = dict(builtin)
        self._scanned = False

    def register(self, name: str, factory: Callable[..., T] | str) -> None:
        """Add a factory (or `module:attribute`). A name that is taken is an error."""
        if not _NAME.fullmatch(name):
            raise SpecError(f"{name!r} is not a name; use lower-case letters, digits, - and _.")
        if name in self._targets:
            raise ConflictError(f"{self.kind} {name!r} is registered already; choose another name.")
        self._targets[name] = factory

    def names(self) -> list[str]:
        """Every known name, sorted."""
        self._scan()
        return sorted(self._targets)

    def factory(self, name: str) -> Callable[..., T]:
        """The factory behind a name, or `SpecError` with the nearest names."""
        target = self._target(name, name)
        if isinstance(target, str):
            module, _, attribute = target.partition(":")
            loaded = cast("Callable[..., T]", getattr(importlib.import_module(module), attribute))
            self._targets[name] = loaded
            return loaded
        return target

    def create(self, spec: str | Spec, **context: Any) -> T:
        """Make the part that a spec names. Options arrive as strings in keyword arguments."""
        parsed = self.parse(spec) if isinstance(spec, str) else spec
        factory = self.factory(parsed.name)
        try:
            return factory(**context, **parsed.options)
        except TypeError as error:
            if "unexpected keyword" in str(error) or "missing" in str(error):
                raise SpecError(f"{self.kind} {parsed!s}: {error}.") from error
            raise

    def parse(self, text: str) -> Spec:
        """The spec of a part that is known; `SpecError` says what else may have been meant."""
        try:
            spec = Spec.parse(text)
        except SpecError as error:
            raise SpecError(f"{error}{self._unknown(text)}") from error
        self._target(spec.name, text)
        return spec

    def _target(self, name: str, asked: str) -> str | Callable[..., T]:
        if name not in self._targets:
            self._scan()
        if name in self._targets:
            return self._targets[name]
        raise SpecError(
            f"{unknown_name_message(self.kind, name, self.names())}{self._unknown(asked)}"
        )

    def _scan(self) -> None:
        if self._scanned:
            return
        self._scanned = True
        for point in entry_points(group=self.group):
            self._targets.setdefault(point.name, point.value)
