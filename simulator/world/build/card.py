"""The data-set card of a world: what `datasets.load_dataset(folder, "multi-turn")` reads."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from mmrag.files.atomic import write_bytes
from mmrag.records import Record
from simulator.counting import counted
from simulator.world.build.difficulty import difficulty_of
from simulator.world.build.table_columns import TABLES
from simulator.world.build.world_manifest import read_manifest, replace_files
from simulator.world.language.voices.reading import whose

LADDER = "ladder.json"


class Rung(Record, frozen=True, kw_only=True):
    """One stage: what an agent was handed, and how often it was right."""

    stage: str
    handed: str
    right: int
    wrong: int
    turns: int


class Ladder(Record, frozen=True, kw_only=True):
    """How often an agent is right when it is handed truth stage by stage."""

    agent: str
    judge: str
    conversations: int
    rungs: tuple[Rung, ...]

    def as_text(self) -> str:
        """A table in Markdown."""
        lines = "".join(
            f"| {r.handed} | {r.right / r.turns:.1%} | {r.wrong / r.turns:.1%} |\n"
            for r in self.rungs
            if r.turns
        )
        return (
            f"`{self.agent}` over {counted(self.conversations, 'conversation')} "
            f"({self.rungs[0].turns:,} turns), judged by {self.judge}:\n\n"
            f"| handed | right | wrong |\n|---|---|---|\n{lines}"
        )


def keep_ladder(folder: Path, ladder: Ladder) -> None:
    """Write a ladder into its world, and onto the world's card."""
    data = msgspec.json.format(msgspec.json.encode(ladder), indent=2) + b"\n"
    manifest = read_manifest(folder)
    rows = {name: of["rows"] for name, of in manifest["files"].items() if of["rows"] is not None}
    write_bytes(folder / LADDER, data)
    write_bytes(folder / "README.md", dataset_card(manifest, rows, ladder).encode())
    replace_files(folder, manifest, ("README.md", LADDER))


def dataset_card(about: dict[str, Any], rows: dict[str, int], ladder: Ladder | None = None) -> str:
    """README.md with the configurations in its head."""
    configs = "\n".join(
        f"- config_name: {table}\n  data_files:\n  - split: validation\n    path: {table}.parquet"
        for table in TABLES
    )
    lines = "\n".join(f"| {name} | {count:,} |" for name, count in sorted(rows.items()))
    dial = difficulty_of(about)
    difficulty = dial.in_words() if dial else "unknown"
    climbed = ladder.as_text() if ladder else "Not measured: `mmrag world ladder FOLDER`.\n"
    return (
        f"---\nlicense: apache-2.0\nconfigs:\n{configs}\n---\n\n"
        f"# A fictional world (seed {about['seed']}, size {about['request']['size']})\n\n"
        "Every name and every fact in it is invented; nothing here is true of the real world. "
        f"Questions and pages are in the {whose(about['request']['voices'])}. "
        "A small share of the pages carries instructions addressed to assistants, on purpose and "
        "labelled as `hostile`. Pictures, pages and facts are made by mmrag and under its licence, "
        "Apache 2.0.\n\n"
        f"| table | rows |\n|---|---|\n{lines}\n\n"
        f"## Difficulty\n\n{difficulty[0].upper()}{difficulty[1:]}.\n\n{climbed}"
    )
