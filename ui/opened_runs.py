"""The runs that the app has: opened when they are first looked at, and followed in a folder.

A folder may hold hundreds. Only the latest used stay open, and one that cannot be read is told of
on the board instead of hiding the others.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterator, MutableMapping, Sequence
from pathlib import Path

from mmrag.errors import StoreError
from simulator.store.run_reader import RunReader
from ui.replay.conversation_list import ConversationList

MOST_OPEN = 12


class Runs(MutableMapping[str, ConversationList]):
    """Name → run. The name is the folder's, made distinct where folders share one."""

    def __init__(self, folders: Sequence[str | Path] = (), watched: Path | None = None) -> None:
        self.watched = watched
        """Where runs appear by themselves, or None."""
        self._folders: dict[str, Path] = {}
        self._open: OrderedDict[str, ConversationList] = OrderedDict()
        self._lock = threading.RLock()
        for folder in folders:
            self._name(Path(folder).absolute())
        self.refresh()

    def refresh(self) -> None:
        """See what has come to the watched folder, and what has gone from the disk."""
        found = find_runs(self.watched) if self.watched else []
        with self._lock:
            known = set(self._folders.values())
            for path in found:
                if path.absolute() not in known:
                    self._name(path.absolute())
            for name, path in list(self._folders.items()):
                if not (path / "run.sqlite").is_file():
                    self._forget(name)

    def folder(self, name: str) -> Path:
        """Where a run lies. Raises `KeyError` for one that is not here."""
        return self._folders[name]

    def names(self) -> list[str]:
        """Names of all runs, without opening any."""
        return list(self._folders)

    def __getitem__(self, name: str) -> ConversationList:
        with self._lock:
            if name in self._open:
                self._open.move_to_end(name)
                return self._open[name]
            folder = self._folders[name]
        catalogue = ConversationList(RunReader(folder), name)
        with self._lock:
            first = self._open.setdefault(name, catalogue)
            while len(self._open) > MOST_OPEN:
                self._open.popitem(last=False)
            return first

    def __setitem__(self, name: str, catalogue: ConversationList) -> None:
        with self._lock:
            self._folders[name] = catalogue.run.folder
            self._open[name] = catalogue

    def __delitem__(self, name: str) -> None:
        with self._lock:
            if name not in self._folders:
                raise KeyError(name)
            self._forget(name)

    def __contains__(self, name: object) -> bool:
        return name in self._folders

    def __iter__(self) -> Iterator[str]:
        return iter(list(self._folders))

    def __len__(self) -> int:
        return len(self._folders)

    def _name(self, folder: Path) -> None:
        name, number = folder.name, 2
        while name in self._folders:
            name, number = f"{folder.name}-{number}", number + 1
        self._folders[name] = folder

    def _forget(self, name: str) -> None:
        del self._folders[name]
        self._open.pop(name, None)


def open_runs(folders: Sequence[str | Path]) -> Runs:
    """Runs that somebody named: each must be one, or it is an error."""
    for folder in folders:
        RunReader(folder).close()
    return Runs(folders)


def find_runs(folder: Path) -> list[Path]:
    """The runs in a folder, newest first."""
    found: list[tuple[float, Path]] = []
    for path in folder.glob("*/run.sqlite"):
        try:
            found.append((path.stat().st_mtime, path.parent))
        except OSError:  # gone since
            continue
    return [path for _, path in sorted(found, key=lambda one: (-one[0], one[1]))]


def place_of(runs: Runs, name: str) -> Path:
    """Where a run lies, or an error that somebody who follows an old link understands."""
    try:
        return runs.folder(name)
    except KeyError:
        raise StoreError(f"there is no run called {name[:80]!r} here any more.") from None
