"""A run as an offline run of Weights & Biases: nothing leaves until `wandb sync` sends it.

Needs the package `wandb`: the file is its own record format.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import tempfile
from collections.abc import Generator
from pathlib import Path
from typing import Any

from mmrag.extras import need
from simulator.exchange.facts import ExportedTalk, facts_of, talks
from simulator.exchange.pictures import SUFFIXES, picture_of
from simulator.store.export import columns_of, turn_rows
from simulator.store.run_store import RunReader

_LEFT_OUT = ("trace",)
"""Too long for a table that people look at."""


def write_wandb(run: RunReader, out: Path) -> int:
    """Write `OUT/wandb/offline-run-…`; returns the number of turns."""
    need("wandb", "wandb", "--to wandb-offline")
    os.environ.setdefault("WANDB_ERROR_REPORTING", "false")
    wandb: Any = importlib.import_module("wandb")
    facts = facts_of(run)
    columns = [name for name in columns_of(run) if name not in _LEFT_OUT]
    settings = wandb.Settings(
        silent=True, console="off", disable_git=True, disable_code=True, x_disable_meta=True,
        x_disable_stats=True, x_disable_machine_info=True, save_code=False,
    )  # fmt: skip
    out = out.absolute()
    with _kept_in(out), tempfile.TemporaryDirectory() as pictures:
        made = wandb.init(
            mode="offline", dir=str(out), project="mmrag", name=facts.name, settings=settings,
            config={**facts.settings, "judged_by": facts.judge, "provenance": facts.provenance},
        )  # fmt: skip
        try:
            table, count = wandb.Table(columns=["picture", *columns]), 0
            seen = {talk.id: _picture(wandb, talk, Path(pictures)) for talk in talks(run, facts)}
            for row in turn_rows(run, columns_of(run)):
                condition = row["degradation"]
                key = row["session_id"] + ("" if condition == "clean" else f" {condition}")
                table.add_data(seen.get(key), *(row[name] for name in columns))
                count += 1
            made.log({"turns": table, "pictures": [one for one in seen.values() if one]})
            made.summary.update(facts.figures)
            for condition, figures in facts.conditions.items():
                made.summary.update({f"{condition}/{n}": v for n, v in figures.items()})
        except BaseException:
            made.finish(exit_code=1)
            raise
        made.finish()
    return count


@contextlib.contextmanager
def _kept_in(out: Path) -> Generator[None]:
    """What a table's pictures are kept in until they are sent lies in the same folder."""
    before = os.environ.get("WANDB_DATA_DIR")
    os.environ["WANDB_DATA_DIR"] = str(out / "staged")
    try:
        yield
    finally:
        if before is None:
            del os.environ["WANDB_DATA_DIR"]
        else:
            os.environ["WANDB_DATA_DIR"] = before


def _picture(wandb: Any, talk: ExportedTalk, folder: Path) -> Any:
    """A picture of the table; None in a conversation without one."""
    found = picture_of(talk.session)
    capture = talk.session.capture
    if found is None or capture is None:
        return None
    path = folder / f"{capture.image.sha256}{SUFFIXES[found[1]]}"
    path.write_bytes(found[0])
    return wandb.Image(str(path), caption=talk.id)
