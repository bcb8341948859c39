"""Would somebody wearing glasses say this out loud? Questions of worlds, shuffled with people's.

    python scripts/bench/blind_reading.py draw OUT new=WORLD old=WORLD people=FILE
    python scripts/bench/blind_reading.py count OUT READER.json ...

`draw` writes `items.jsonl`, which readers get, and `key.json`, which they do not. A world gives
first turns and single questions in equal parts, and whole conversations; FILE has a line of JSON
for each conversation: `{"seen": "a lemonade", "turns": ["...", ...]}`. A reader answers with an
object of `id → "yes" or "no"`. Only totals are printed, so a world that is held out stays so.
"""

from __future__ import annotations

import json
import random
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq

SEED = 20_261_124
QUESTIONS, CONVERSATIONS = 200, 40
Item = dict[str, str | list[str]]


def main() -> int:
    do, out, *given = sys.argv[1:]
    if do == "draw":
        draw(Path(out), dict(source.split("=", 1) for source in given))
    else:
        count(Path(out), [Path(name) for name in given])
    return 0


def draw(out: Path, sources: dict[str, str]) -> None:
    chance = random.Random(SEED)
    items: list[tuple[str, Item]] = []
    for name, place in sources.items():
        found = list(world(Path(place)) if Path(place).is_dir() else people(Path(place)))
        whole = [item for item in found if len(item["turns"]) > 1]
        single = [item for item in found if len(item["turns"]) == 1]
        first = [{**item, "turns": item["turns"][:1]} for item in whole]
        for part in (whole, single, first):
            chance.shuffle(part)
        half = min(len(single), QUESTIONS - min(len(first), QUESTIONS // 2))
        questions = [*single[:half], *first[: QUESTIONS - half]]
        items += [(name, item) for item in [*questions, *whole[:CONVERSATIONS]]]
    chance.shuffle(items)
    out.mkdir(parents=True, exist_ok=True)
    with (out / "items.jsonl").open("w", encoding="utf-8") as file:
        for i, (_, item) in enumerate(items):
            file.write(json.dumps({"id": f"{i:04}", **item}, ensure_ascii=False) + "\n")
    key = {
        f"{i:04}": [name, "conversation" if len(item["turns"]) > 1 else "question"]
        for i, (name, item) in enumerate(items)
    }
    (out / "key.json").write_text(json.dumps(key), encoding="utf-8")


def world(folder: Path) -> Iterator[Item]:
    for table in ("multi-turn.parquet", "single-turn.parquet"):
        for row in pq.read_table(folder / table, columns=["turns", "extra"]).to_pylist():
            kind = row["extra"]["entity_id"][0].rpartition("-")[0].replace("_", " ")
            yield {"seen": kind, "turns": row["turns"]["query"]}


def people(file: Path) -> Iterator[Item]:
    for line in file.read_text(encoding="utf-8").splitlines():
        yield json.loads(line)


def count(out: Path, readers: list[Path]) -> None:
    key = json.loads((out / "key.json").read_text(encoding="utf-8"))
    for reader in readers:
        said = json.loads(reader.read_text(encoding="utf-8"))
        if missing := key.keys() - said.keys():
            sys.exit(f"{reader}: {len(missing)} items are not answered; answer them all.")
        yes, total = Counter[str](), Counter[str]()
        for i, (name, what) in key.items():
            total[f"{name} {what}s"] += 1
            yes[f"{name} {what}s"] += said[i] == "yes"
        print(
            reader.stem, *(f"{group} {yes[group]} of {total[group]}" for group in total), sep="; "
        )


if __name__ == "__main__":
    sys.exit(main())
