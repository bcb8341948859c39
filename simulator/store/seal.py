"""A digest over all that a run holds, to keep elsewhere.

The sum inside a run finds accidents, and whoever changes the run can make it again. A digest that
lies elsewhere finds every change.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from mmrag.errors import ImageError
from simulator.store.run_reader import RunReader


def seal_of(folder: Path) -> str:
    """Digest a run's rows and pictures, whatever their order in its files."""
    with RunReader(folder) as run:
        digest = hashlib.sha256()
        for row in run.every_row():
            for cell in row:
                data = cell if isinstance(cell, bytes) else str(cell).encode()
                digest.update(b"%d:" % len(data))
                digest.update(data)
        for session in run.sessions():
            for capture in (session.capture, *(turn.capture for turn in session.turns)):
                if capture is not None:
                    try:
                        digest.update(hashlib.sha256(capture.image.data).digest())
                    except ImageError:  # gone or changed
                        digest.update(b"no picture")
    return digest.hexdigest()
