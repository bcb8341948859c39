"""Which folder a run's settings go to, and the check that a run is resumed as it began."""

from __future__ import annotations

import itertools
import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from mmrag.errors import ConflictError, StoreError
from simulator.parts.own_agents import is_own
from simulator.run.run_config import GLASSES, RunConfig, changed_settings, command_of, read_config

if TYPE_CHECKING:
    from simulator.store.run_store import RunStore


def bind_run_config(
    store: RunStore, config: RunConfig, *, data: str, index: str | None, judge: str
) -> None:
    """Make a run this config's own, or check that it already is.

    `data` and `index` are fingerprints, `judge` is a judge's id. They must be what the run began
    with, or its records would not belong together.
    """
    from simulator.store.provenance import provenance

    if store.meta("config") is None or store.meta("judge") is None:  # in one commit, once in three
        made_of = provenance(data=data, index=index)
        store.set_all_meta({"config": config, "provenance": made_of, "judge": judge})
        return
    begun = read_config(store)
    if differing := changed_settings(begun, config):
        words = "; ".join(
            f"{k}: {old!r} before, {new!r} now" for k, (old, new) in differing.items()
        )
        cure = "Choose another --out, or continue with `mmrag resume`."
        if config.agent == GLASSES:
            command = command_of(begun, "--out", str(store.folder))
            cure = f"Choose another --out, or continue with: {command}"
        elif is_own(config.agent):
            cure = "Give another out=, or the agent and the settings that it was begun with."
        raise ConflictError(f"{store.folder} holds a run with other settings ({words}). {cure}")
    known = store.meta("provenance") or {}
    for what, before, now in (
        ("from other data", known.get("data"), data),
        ("with another search index", known.get("index"), index or known.get("index")),
    ):
        if before != now:
            raise ConflictError(
                f"{store.folder} was made {what} (fingerprint {before}, now {now}). "
                "Restore it, or start a new run."
            )
    judged_by = store.meta("judge")
    if judged_by != judge:
        raise ConflictError(
            f"{store.folder} shows the verdicts of {judged_by}, and its turns are judged by "
            f"{judge} as they are asked. Bring them together first: "
            f"mmrag judge run {shlex.quote(str(store.folder))} --judge {shlex.quote(config.judge)}"
        )


def bind_run_ears(store: RunStore, ids: dict[str, str]) -> None:
    """Have a run's questions said and heard by the same from its first turn to its last."""
    known = store.meta("ears")
    if known is None:
        store.set_meta("ears", ids)
    elif known != ids:
        raise ConflictError(
            f"{store.folder}: its questions were said and heard by {known}, now it would be {ids}. "
            "Restore these packages, or start a new run."
        )


def default_out(config: RunConfig) -> Path:
    """Where a run goes when no --out is given: a name that its settings decide."""
    agent = config.agent.partition(":")[0].replace("/", "_")
    return Path("runs") / f"{_data_name(config)}-{agent}-{config.fingerprint}"


def fresh_out(config: RunConfig, name: str, within: Path = Path("runs")) -> Path:
    """A new folder for a run whose settings do not tell what comes of it."""
    for number in itertools.count(1):
        folder = within / f"{_data_name(config)}-{name}-{number}"
        try:
            folder.mkdir(parents=True)
        except FileExistsError:
            continue
        except OSError as error:
            raise StoreError(
                f"{folder}: cannot be made ({error.strerror}). Give a folder with out=."
            ) from error
        return folder
    raise AssertionError("there is always another number")


def _data_name(config: RunConfig) -> str:
    return re.sub(r"\.(jsonl|ndjson|csv|tsv|parquet)$", "", Path(config.data).name.split(":")[-1])
