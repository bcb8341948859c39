"""First questions read blind beside their pictures, shuffled with what people say before the same.

    python scripts/bench/blind_pictures.py draw WORLD OUT --many 60   # OUT/pics, OUT/things.md
    # somebody writes OUT/own.csv: `NN|what I would say first`
    python scripts/bench/blind_pictures.py mix OUT                    # OUT-1 and OUT-2, two readers
    # each writes OUT-N/out.csv: n,say,which,shown,photo,why
    python scripts/bench/blind_pictures.py count OUT

    python scripts/bench/blind_pictures.py talks WORLD OUT PEOPLE     # OUT/talks.md, OUT.key
    python scripts/bench/blind_pictures.py tell OUT                   # of OUT/out.csv: n,say

`talks` takes whole conversations, without pictures, and shuffles them with those of people, in the
same form: a line `## thing, where`, then what is said.

Either reader sees every picture once, half of them with the world's question and half with the
person's. What is ambiguous on purpose, or told by gaze alone, is left out.
"""

from __future__ import annotations

import argparse
import csv
import io
import random
import sys
from collections import Counter, defaultdict
from pathlib import Path

from PIL import Image

sys.path.insert(0, str(Path(__file__).parents[2]))

from simulator.world.language.english import noun_of
from simulator.world.sessions import World

PLACES = {"shop": "on sale", "home": "at home or at work", "out": "out"}


def draw(world: Path, out: Path, many: int) -> None:
    (out / "pics").mkdir(parents=True)
    sessions = World(world, pictures="clean", without=("gaze", "ambiguous"))
    seen = [s for s in sessions if s.capture and s.capture.is_ego]
    chosen = random.Random(world.name).sample(seen, min(many, len(seen)))
    things, ours = [], []
    for number, session in enumerate(chosen, 1):
        picture = Image.open(io.BytesIO(session.capture.image.data)).convert("RGB")
        picture.thumbnail((600, 800))
        picture.save(out / "pics" / f"{number:02d}.png")
        kind = session.extra["subject"].rpartition("-")[0]
        things.append(f"{number:02d}: {noun_of(kind)} ({PLACES[session.extra['place']]})\n")
        ours.append(f"{number:02d}|{session.turns[0].query}\n")
    (out / "things.md").write_text("".join(things))
    out.with_name(f"{out.name}.ours").write_text("".join(ours))


def asked(path: Path) -> dict[str, str]:
    return dict(line.strip().split("|", 1) for line in path.open() if "|" in line)


def mix(out: Path) -> None:
    sources = {"world": asked(out.with_name(f"{out.name}.ours")), "person": asked(out / "own.csv")}
    numbers = sorted(sources["world"])
    first = set(random.Random(out.name).sample(numbers, len(numbers) // 2))
    for reader in (1, 2):
        folder = out.with_name(f"{out.name}-{reader}")
        folder.mkdir()
        (folder / "pics").symlink_to((out / "pics").resolve())
        lines, key = [], []
        for number in numbers:
            source = "world" if (number in first) == (reader == 1) else "person"
            text = sources[source][number].rstrip("?. ") + "?"
            lines.append(f"{number}: {text[0].lower()}{text[1:]}\n")
            key.append(f"{number} {source}\n")
        (folder / "questions.md").write_text("".join(lines))
        folder.with_name(f"{folder.name}.key").write_text("".join(key))


def count(out: Path) -> None:
    found: defaultdict[tuple[int, str], Counter[str]] = defaultdict(Counter)
    for reader in (1, 2):
        folder = out.with_name(f"{out.name}-{reader}")
        key = dict(line.split() for line in folder.with_name(f"{folder.name}.key").open())
        for row in csv.DictReader((folder / "out.csv").open()):
            tally = found[reader, key[row["n"].strip().zfill(2)]]
            tally["read"] += 1
            tally.update(name for name in ("say", "which", "shown") if row[name].strip() == "yes")
            tally["photo"] += int(row["photo"])
    for (reader, source), tally in sorted(found.items()):
        photo = tally.pop("photo") / tally["read"]
        print(f"reader {reader}, {source}: {dict(tally)}, photograph {photo:.2f}")


def talks(world: Path, out: Path, people: Path, many: int) -> None:
    found = [("person", talk.strip()) for talk in people.read_text().split("## ")[1:]]
    chance = random.Random(world.name)
    sessions = [s for s in World(world, pictures="clean") if len(s.turns) > 1]
    for session in chance.sample(sessions, min(many, len(sessions))):
        kind = session.extra["subject"].rpartition("-")[0]
        head = f"{noun_of(kind)}, {PLACES[session.extra['place']]}"
        found.append(("world", "\n".join([head, *(turn.query for turn in session.turns)])))
    chance.shuffle(found)
    out.mkdir(parents=True)
    told = [
        f"## {n:02d}: {talk.lower().replace('?', '')}\n" for n, (_, talk) in enumerate(found, 1)
    ]
    (out / "talks.md").write_text("\n".join(told))
    key = [f"{n:02d} {source}\n" for n, (source, _) in enumerate(found, 1)]
    out.with_name(f"{out.name}.key").write_text("".join(key))


def tell(out: Path) -> None:
    key = dict(line.split() for line in out.with_name(f"{out.name}.key").open())
    rows = list(csv.DictReader((out / "out.csv").open()))
    yes = Counter(key[row["n"].strip().zfill(2)] for row in rows if row["say"].strip() == "yes")
    print({source: f"{yes[source]} of {many}" for source, many in Counter(key.values()).items()})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("step", choices=("draw", "mix", "count", "talks", "tell"))
    parser.add_argument("paths", nargs="+", type=Path)
    parser.add_argument("--many", type=int, default=60)
    arguments = parser.parse_args()
    if arguments.step in ("draw", "talks"):
        {"draw": draw, "talks": talks}[arguments.step](*arguments.paths, arguments.many)
    else:
        {"mix": mix, "count": count, "tell": tell}[arguments.step](*arguments.paths)


if __name__ == "__main__":
    main()
