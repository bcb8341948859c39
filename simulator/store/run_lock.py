"""One writer to a run: a lock on its folder that ends with the process that took it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from mmrag.errors import StoreError
from mmrag.files.atomic import FileLock

LOCK = "lock"
"""Name of the file in a run's folder."""


class RunLock(FileLock):
    """Held from the first write to the last."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.on_fork: Callable[[], None] = _nothing
        """Called in a forked child."""
        super().__init__(
            folder / LOCK, "is writing this run. Wait for it, stop it, or choose another --out."
        )

    def check_place(self) -> None:
        """Raise if the folder was moved away or replaced since the lock was taken."""
        if not self.is_in_place():
            raise RunFolderMoved(
                f"{self.folder}: the run was moved or removed while it was written. What was "
                "committed went with it: put it back, or `mmrag resume` it where it is now."
            )

    def left_in_child(self) -> None:
        """Forget the lock in a forked child, and tell who else must."""
        super().left_in_child()
        self.on_fork()


class RunFolderMoved(StoreError):
    """The folder of a run is no longer where it was when the run began."""


def _nothing() -> None: ...
