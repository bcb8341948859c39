"""What a device and its radio do, as data: profiles that ship, and one's own in YAML."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, cast

import msgspec
import yaml

from mmrag.errors import SpecError
from mmrag.files import bounded_yaml
from mmrag.files.images import check_can_write
from mmrag.records import Record
from mmrag.registry import unknown_name_message
from mmrag.text import comma_list

POLICIES = {
    "whole": "the file as the camera wrote it",
    "downscaled": "all of it, made smaller",
    "thing": "what is asked about and a margin, where the data says which that is",
    "text": "the part in which a detector sees print",
    "burst": "the sharpest of several frames, made smaller",
}
"""What an app sends of a picture."""

MARK = "link:"
"""Before a profile and a policy in a condition: `low-light@3+link:radio:text`."""

_MOST = 1 << 40


class DeviceProfile(Record, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A device, its radio and its app. Times are declared; bytes are a real encoder's."""

    about: str = ""
    capture: tuple[int, int] = (1080, 1440)
    """Shorter and longer side of what the camera gives; smaller pictures stay as they are."""
    capture_quality: int = 90
    shake: float = 0.0
    """Usual length of a frame's smear, in parts of the width."""
    format: str = "jpeg"
    """jpeg, webp or avif."""
    longest: int = 1024
    """Longer side of what an app makes smaller."""
    longest_part: int = 1216
    """Longer side of a part that is cut out."""
    quality: int = 60
    bytes_per_second: float
    start_seconds: float = 0.0
    """Before the first byte: shutter, connection, what a stream lags behind."""
    loss: float = 0.0
    """Share of the bytes that are sent again."""
    stall_seconds: float = 0.0
    """What a transfer stands still on average."""
    stage_seconds: float = 0.0
    """Of finding the part to send."""
    frames: int = 5
    """Of a burst."""
    frame_seconds: float = 0.1
    give_up_seconds: float = 0.0
    """After this the app is said to have lost the picture; 0: it waits."""
    sources: Mapping[str, str] = {}
    """Field → where its value is from."""

    def __post_init__(self) -> None:
        short, long = self.capture
        for name, value, low, high in (
            ("capture", short, 16, 20_000), ("capture", long, 16, 20_000),
            ("capture_quality", self.capture_quality, 1, 100), ("shake", self.shake, 0, 0.25),
            ("longest", self.longest, 16, 20_000),
            ("longest_part", self.longest_part, 16, 20_000), ("quality", self.quality, 1, 100),
            ("bytes_per_second", self.bytes_per_second, 1, _MOST),
            ("start_seconds", self.start_seconds, 0, 3600), ("loss", self.loss, 0, 0.99),
            ("stall_seconds", self.stall_seconds, 0, 3600),
            ("stage_seconds", self.stage_seconds, 0, 3600), ("frames", self.frames, 1, 30),
            ("frame_seconds", self.frame_seconds, 0, 60),
            ("give_up_seconds", self.give_up_seconds, 0, 3600),
        ):  # fmt: skip
            if not (math.isfinite(value) and low <= value <= high):
                raise SpecError(f"a link's {name} lies between {low} and {high}, not {value}.")
        if self.format not in ("jpeg", "webp", "avif"):
            raise SpecError(f"a link's format is jpeg, webp or avif, not {self.format[:40]!r}.")

    def seconds(self, size: int, policy: str) -> float:
        """From the wearer's word to the last byte of `size`: the sum of what the profile declares.

        >>> DeviceProfile(bytes_per_second=1000, start_seconds=0.5, loss=0.5).seconds(2000, "whole")
        4.5
        """
        stage = self.stage_seconds if policy in ("thing", "text") else 0.0
        burst = self.frame_seconds * (self.frames - 1) if policy == "burst" else 0.0
        sent = size / (self.bytes_per_second * (1.0 - self.loss))
        return self.start_seconds + stage + burst + sent + self.stall_seconds


class Links(Record, frozen=True, kw_only=True):
    """What `--link` means."""

    names: tuple[str, ...] = ()
    """Of conditions: `radio:text`."""
    profiles: Mapping[str, DeviceProfile] = {}


def read_links(text: str) -> Links:
    """Read `--link`: none, or profiles or YAML files, each with a policy or with all of them.

    A file's conditions carry a hash of what it says: changed, it is another condition.

    >>> read_links("radio:text,photo:whole").names
    ('radio:text', 'photo:whole')
    """
    if text == "none":
        return Links()
    parts = comma_list(text)
    if not parts:
        raise SpecError(f"--link {text!r} names no profile; for none, leave it out.")
    names: list[str] = []
    profiles: dict[str, DeviceProfile] = {}
    for part in parts:
        source, _, policy = part.rpartition(":") if part.endswith(_ENDS) else (part, "", "")
        name, profile = _profile(source)
        if profile.format != "jpeg":
            check_can_write(profile.format)
        profiles[name] = profile
        names += [f"{name}:{one}" for one in ([policy] if policy else POLICIES)]
    return Links(names=tuple(dict.fromkeys(names)), profiles=profiles)


def split_link(condition: str) -> tuple[str, str]:
    """What is done to the picture, and the link it then takes (or an empty string).

    >>> split_link("low-light@3+link:radio:text"), split_link("link:radio:text")
    (('low-light@3', 'radio:text'), ('clean', 'radio:text'))
    """
    before, mark, link = condition.rpartition(MARK)
    return (before.rstrip("+") or "clean", link) if mark else (condition, "")


def over_links(conditions: tuple[str, ...], links: Links) -> tuple[str, ...]:
    """Every condition as it is, and then over each link."""
    sent = (join_condition(one, name) for name in links.names for one in conditions)
    return (*conditions, *sent)


def join_condition(condition: str, link: str) -> str:
    """The name of a condition over a link."""
    if not link:
        return condition
    return f"{MARK}{link}" if condition == "clean" else f"{condition}+{MARK}{link}"


_FILES = (".yaml", ".yml")
_ENDS = tuple(f":{policy}" for policy in POLICIES)


def _profile(source: str) -> tuple[str, DeviceProfile]:
    if source.endswith(_FILES):
        path = Path(source)
        profile = _made(_loaded(path), source)
        digest = hashlib.sha256(msgspec.json.encode(profile, order="sorted")).hexdigest()[:6]
        name = re.sub("[^a-z0-9]+", "-", path.stem.lower()).strip("-")[:31]
        return f"{name or 'own'}-{digest}", profile
    known = shipped()
    if source in known:
        return source, known[source]
    name, colon, policy = source.partition(":")
    if colon and (name in known or name.endswith(_FILES)):
        raise SpecError(f"--link {source[:80]}: {unknown_name_message('policy', policy, POLICIES)}")
    raise SpecError(
        f"--link {source[:80]}: {unknown_name_message('profile', name, [*known, 'FILE.yaml'])}"
    )


@cache
def shipped() -> dict[str, DeviceProfile]:
    """The profiles that come with mmrag."""
    rows = cast("dict[str, Any]", _loaded(Path(__file__).with_name("profiles.yaml")))
    return {name: _made(row, name) for name, row in rows.items()}


def _loaded(path: Path) -> Any:
    try:
        return bounded_yaml.read(path)
    except OSError as error:
        raise SpecError(f"--link {path}: cannot be read ({error.strerror}).") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise SpecError(f"--link {path}: not YAML ({' '.join(str(error).split())}).") from error


def _made(row: Any, where: str) -> DeviceProfile:
    try:
        return msgspec.convert(row, DeviceProfile)
    except (SpecError, msgspec.ValidationError) as error:
        known = ", ".join(DeviceProfile.__struct_fields__)
        raise SpecError(f"--link {where}: {str(error).rstrip('.')}. Known: {known}.") from error
