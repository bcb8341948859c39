"""A run as data: its conversations put to another agent, or under another degradation.

`--data runs/theirs` reads it. Sessions keep their ids and questions, so `mmrag compare` pairs what
happened then with what happens now.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

import msgspec

from mmrag.errors import DataError
from mmrag.records import Session, encode
from simulator.datasets.read_options import ReadOptions
from simulator.store.run_reader import RunReader
from simulator.wearer.talk import KEY


def open_run(place: str, _reading: ReadOptions) -> RunAsData:
    """The conversations of a run."""
    return RunAsData(Path(place))


class RunAsData:
    """Every conversation once, with its clean picture where it was held under several conditions.
    One is cut before a turn whose question nobody knows: what follows was said in answer to it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        digest, count = hashlib.sha256(), 0
        for session in self:
            digest.update(encode(session))
            count += 1
        if not count:
            raise DataError(f"{folder}: no conversation in this run begins with a known question.")
        self._fingerprint, self._count = digest.hexdigest()[:16], count

    @property
    def fingerprint(self) -> str:
        """Of everything that is asked."""
        return self._fingerprint

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Session]:
        with RunReader(self._folder) as run:
            chosen: dict[str, str] = {}
            for name, condition in run.session_keys():
                if name not in chosen or condition == "clean":
                    chosen[name] = condition
            for name, condition in chosen.items():
                session = run.session(name, condition)
                if KEY in session.extra:
                    raise DataError(
                        f"{self._folder}: a live wearer answered back here, and would say other "
                        "words to another agent. Run the data again with --wearer live."
                    )
                unknown = [turn.index for turn in session.turns if not turn.query.strip()]
                turns = session.turns[: unknown[0]] if unknown else session.turns
                if turns:
                    yield msgspec.structs.replace(session, turns=turns, fault="")
