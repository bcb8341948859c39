"""The one door for YAML: bounded in size and depth, and without aliases.

A few hundred bytes of aliases of aliases stand for gigabytes, and whoever walks such a tree never
ends; nothing that we read needs them. All that is wrong with a text is a `yaml.YAMLError`.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import yaml

MOST = 1 << 18
"""Bytes of a file: ten times the largest that we ship."""

_TOO_LARGE = f"larger than {MOST >> 10} KiB; split it up"

_DEEPEST = 20

_LOADER: Any = type("Loader", (getattr(yaml, "CSafeLoader", yaml.SafeLoader),), {})
"""In C where libyaml is there: a file is read in a tenth of the time."""

_LOADER.add_implicit_resolver(  # as in YAML 1.2 and JSON; 1.1 takes 1e12 and 1.5e3 for texts
    "tag:yaml.org,2002:float",
    re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)[eE][-+]?[0-9]+\Z"),
    list("-+.0123456789"),
)


def read(path: Path) -> Any:
    """Read the value that a file holds."""
    return parse(read_text(path))


def read_text(path: Path) -> str:
    """Read a file's text, which has to be UTF-8; a `yaml.YAMLError` where it is too large."""
    with path.open("rb") as file:
        found = file.read(MOST + 1)
    if len(found) > MOST:
        raise yaml.YAMLError(_TOO_LARGE)
    return found.decode()


def parse(text: str) -> Any:
    """Read the value that a text holds."""
    node = compose(text)
    return None if node is None else value_of(node)


def value_of(node: yaml.Node) -> Any:
    """Make the value of a tree of nodes."""
    try:
        return yaml.constructor.SafeConstructor().construct_document(node)
    except (ValueError, LookupError, AttributeError, RecursionError) as error:
        raise yaml.YAMLError(f"it holds what is not a YAML value ({error}); quote it") from error


def compose(text: str) -> yaml.Node | None:
    """Read the tree of nodes that a text holds, with the lines they stand on."""
    if len(text) > MOST:
        raise yaml.YAMLError(_TOO_LARGE)
    depth = 0
    for event in yaml.parse(text, Loader=_LOADER):
        if isinstance(event, yaml.AliasEvent):
            raise _refused(event, f"an alias (*{event.anchor}); write out what it stands for")
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
        if depth > _DEEPEST:
            raise _refused(event, f"nested too deeply (over {_DEEPEST} levels)")
    return yaml.compose(text, Loader=_LOADER)


def _refused(event: Any, words: str) -> yaml.YAMLError:
    return yaml.MarkedYAMLError(problem=words, problem_mark=event.start_mark)
