"""The data-set card of a world: what `datasets.load_dataset(folder, "multi-turn")` reads."""

from __future__ import annotations

from typing import Any

from simulator.world.build.table_columns import TABLES
from simulator.world.language.voices.reading import whose


def dataset_card(about: dict[str, Any], rows: dict[str, int]) -> str:
    """README.md with the configurations in its head."""
    configs = "\n".join(
        f"- config_name: {table}\n  data_files:\n  - split: validation\n    path: {table}.parquet"
        for table in TABLES
    )
    lines = "\n".join(f"| {name} | {count:,} |" for name, count in sorted(rows.items()))
    return (
        f"---\nlicense: apache-2.0\nconfigs:\n{configs}\n---\n\n"
        f"# A fictional world (seed {about['seed']}, size {about['request']['size']})\n\n"
        "Every name and every fact in it is invented; nothing here is true of the real world. "
        f"Questions and pages are in the {whose(about['request']['voices'])}. "
        "A small share of the pages carries instructions addressed to assistants, on purpose and "
        "labelled as `hostile`. Pictures, pages and facts are made by mmrag and under its licence, "
        "Apache 2.0.\n\n"
        f"| table | rows |\n|---|---|\n{lines}\n"
    )
