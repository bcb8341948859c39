"""An index of full size: built, reopened and searched, through the product's own path.

    python scripts/bench/search_scale.py --pictures 70000 --passages 300000 --work FOLDER [--out F]

What is real: `build_index` (decoding and corners of each picture, cutting of each page by the real
tokenizer, parts on disk, Chroma, the mapped files, BM25, the manifest), `open_index` and both
searches. What is not: the vectors. A model would take ten processor hours for 300,000 passages on
two cores, so two encoders are registered here that draw a vector from a hash of what they are
given, around common centres; encoding is therefore left out of every figure. Pictures are small
generated JPEGs, all different; pages are plain text of the words of a real world, as often as they
stand there, so HTML is not parsed either.

Each step runs in a process of its own. Memory is the peak of what the process holds itself ("own",
sampled) and with the files it has mapped ("with mapped files", the kernel's count). FOLDER is kept;
run it again with the same numbers to measure only reopening and searching.

`--vectors 2700000` measures the approximate index alone: that many drawn vectors of `--dim` numbers
around common centres, the product's own graph over them, recall against exact search, time and
memory. A folder that holds the vectors or the graph already is not made again.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import itertools
import json
import os
import resource
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

MINI = Path(__file__).resolve().parents[2] / "assets" / "mini"
PAGE_PASSAGES = 4
"""Passages of a page, on average."""
WORDS_A_TOKEN = 238 / 512
BATCHES = (1, 512)
K = 30
ASKED = 1024
"""Queries of `--vectors`: two batches of 512, and 128 of them one by one."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pictures", type=int, default=70_000)
    parser.add_argument("--passages", type=int, default=300_000)
    parser.add_argument("--tokens", type=int, default=512, help="of a passage; overlap: an eighth")
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--vectors", type=int, default=0)
    parser.add_argument("--dim", type=int, default=384)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--step", help="used by this script itself", default="")
    given = parser.parse_args()
    if given.step:
        print(json.dumps((STEPS | VECTORS)[given.step](given)))
        return
    figures: dict[str, Any] = {
        "pictures": given.pictures,
        "passages asked for": given.passages,
        "tokens of a passage": given.tokens,
    }
    if given.vectors:
        figures = {"vectors": given.vectors, "dim": given.dim, "k": K}
    for step in VECTORS if given.vectors else STEPS:
        figures[step] = apart(step)
        print(json.dumps({step: figures[step]}, indent=1), flush=True)
    if given.out:
        given.out.write_text(json.dumps(figures, indent=1) + "\n")


def apart(step: str) -> dict[str, Any]:
    """A step in a fresh process."""
    began = time.time()
    done = subprocess.run(
        [sys.executable, __file__, *sys.argv[1:], "--step", step],
        check=True, stdout=subprocess.PIPE, text=True, env={**os.environ, "BEGAN": str(began)},
    )  # fmt: skip
    return json.loads(done.stdout.splitlines()[-1])


class Watch:
    """Time and memory of this process from here on."""

    def __enter__(self) -> Watch:
        self.wall, self.cpu, self.own, self._over = time.time(), time.process_time(), 0, False
        threading.Thread(target=self._sample, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over = True
        self.wall, self.cpu = time.time() - self.wall, time.process_time() - self.cpu

    def _sample(self) -> None:
        while not self._over:
            lines = Path("/proc/self/status").read_text().splitlines()
            held = next((line for line in lines if line.startswith("RssAnon")), "RssAnon 0 kB")
            self.own = max(self.own, int(held.split()[1]))
            time.sleep(0.1)

    def figures(self) -> dict[str, float]:
        whole = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return {"wall s": round(self.wall, 2), "cpu s": round(self.cpu, 2),
                "peak MB, own": self.own // 1024,
                "peak MB, with mapped files": whole // 1024}  # fmt: skip


# the source ---------------------------------------------------------------------------------------


def make(given: argparse.Namespace) -> dict[str, Any]:
    """A world's two tables, with nothing real in them but the words."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    folder = given.work / "source"
    if (folder / "whole").exists():
        return {"there already": True}
    folder.mkdir(parents=True, exist_ok=True)
    with Watch() as watch:
        made = {"kg": pictures(given.pictures),
                "pages": pages(given.passages, given.tokens)}  # fmt: skip
        for name, rows in made.items():
            if (folder / f"{name}.parquet").exists():
                continue
            writer = None
            for some in in_groups(rows, 2000):
                table = pa.Table.from_pylist(some)
                writer = writer or pq.ParquetWriter(folder / f"{name}.parquet", table.schema)
                writer.write_table(table)
            if writer:
                writer.close()
        (folder / "whole").touch()
    return {**watch.figures(), "disk MB": disk(folder)}


def pictures(count: int) -> Iterator[dict[str, Any]]:
    """Small JPEGs of coloured shapes on noise, three of each thing."""
    import cv2

    rng = np.random.default_rng(7)
    ground = rng.integers(60, 200, (64, 20, 20, 3)).astype(np.uint8)
    for i in range(count):
        image = cv2.resize(ground[i % 64], (160, 160), interpolation=cv2.INTER_CUBIC)
        for _ in range(6):
            x, y, w, h = (int(v) for v in rng.integers(5, 110, 4))
            colour = tuple(int(v) for v in rng.integers(0, 255, 3))
            cv2.rectangle(image, (x, y), (x + w // 3 + 6, y + h // 3 + 6), colour, -1)
        data = cv2.imencode(".jpg", image)[1].tobytes()
        about = {"type": "thing", "weight": f"{i % 97} g", "maker": f"Maker {i % 1013}",
                 "description": "Described in a sentence or two, " * 8}  # fmt: skip
        entity = {"entity_name": f"Thing {i // 3}", "entity_attributes": about}
        yield {"index": i, "image": data, "image_url": f"https://kg.example/{i}.jpg",
               "entities": json.dumps([entity])}  # fmt: skip


def pages(passages: int, tokens: int) -> Iterator[dict[str, Any]]:
    """Pages of about four passages of real words, each with a name of its own."""
    names, often = vocabulary()
    rng = np.random.default_rng(11)
    usual = PAGE_PASSAGES * WORDS_A_TOKEN * tokens
    for i in range(round(passages / PAGE_PASSAGES)):
        length = max(40, int(rng.gamma(3.0, usual / 3.0)))
        said = names[np.searchsorted(often, rng.random(length))].tolist()
        said[length // 2] = f"widget{i}"
        lines = [" ".join(said[a : a + 14]) + "." for a in range(0, length, 14)]
        yield {"page_url": f"https://pages.example/section-{i % 100}/{i}",
               "html": "\n".join(lines),
               "page_name": f"Page {i} about widget{i}", "date": "2026-01-01",
               "page_snippet": lines[0]}  # fmt: skip


def vocabulary() -> tuple[np.ndarray, np.ndarray]:
    """Words of the mini world's pages and how often each comes, summed up."""
    import pyarrow.parquet as pq

    from mmrag.search.index.html import page_text

    counted: Counter[str] = Counter()
    for cell in pq.read_table(MINI / "pages.parquet", columns=["html"]).column("html")[:400]:
        counted.update(page_text(cell.as_py()).split())
    words = np.array(list(counted), dtype=object)
    often = np.cumsum(np.array(list(counted.values()), float))
    return words, often / often[-1]


def in_groups(rows: Iterator[dict[str, Any]], size: int) -> Iterator[list[dict[str, Any]]]:
    held: list[dict[str, Any]] = []
    for row in rows:
        held.append(row)
        if len(held) == size:
            yield held
            held = []
    if held:
        yield held


# encoders that cost nothing -----------------------------------------------------------------------


class Drawn:
    """Vectors drawn from hashes, around common centres."""

    def __init__(self, dim: int, centres: int, noise: float) -> None:
        self.dim = dim
        self.id = f"drawn@1/{dim}"
        self._noise = noise
        rng = np.random.default_rng(dim)
        self._centres = rng.normal(size=(centres, dim)).astype(np.float32)

    def drawn(self, near: bytes, own: bytes) -> np.ndarray:
        seed = int.from_bytes(hashlib.blake2b(own, digest_size=8).digest(), "big")
        centre = int.from_bytes(hashlib.blake2b(near, digest_size=8).digest(), "big")
        rng = np.random.Generator(np.random.SFC64(seed))
        row = self._centres[centre % len(self._centres)] + self._noise * rng.standard_normal(
            self.dim, np.float32
        )
        return row / np.linalg.norm(row)


class Pictures(Drawn):
    """A picture's centre is its average colour."""

    image_size = 32

    def __init__(self) -> None:
        super().__init__(768, 1200, 0.7)

    def encode_crops(self, crops: Sequence[Any]) -> np.ndarray:
        rows = np.empty((len(crops), self.dim), np.float32)
        for row, crop in zip(rows, crops, strict=True):
            small = crop.convert("RGB").resize((8, 8)).tobytes()
            row[:] = self.drawn(small[:3], small)
        return rows


class Passages(Drawn):
    """A passage's centre is the name of its page, which stands in its first line."""

    def __init__(self) -> None:
        super().__init__(384, 8000, 0.7)

    def encode(self, items: Sequence[str]) -> np.ndarray:
        rows = np.empty((len(items), self.dim), np.float32)
        for row, text in zip(rows, items, strict=True):
            row[:] = self.drawn(text.split("\n", 1)[0].encode(), text.encode())
        return rows

    encode_queries = encode


def register() -> None:
    from mmrag.encoders import image_encoders, text_encoders

    image_encoders.register("drawn-pictures", Pictures)
    text_encoders.register("drawn-passages", Passages)


# building, reopening, searching -------------------------------------------------------------------


def build_part(given: argparse.Namespace, part: str) -> dict[str, Any]:
    from mmrag.passages import Chunker
    from mmrag.search.index.build import build_index
    from mmrag.search.index.sources import open_source

    register()
    source = open_source(str(given.work / "source"))
    only = source._replace(**{"page_count" if part == "images" else "picture_count": 0})
    marks: list[tuple[str, float, float]] = []

    def progress(stage: str, done: int, total: int) -> None:
        if not marks or marks[-1][0] != stage:
            marks.append((stage, time.time(), time.process_time()))
        elif done == total:
            marks.append(("the files that search maps, hashes", time.time(), time.process_time()))

    with Watch() as watch:
        (manifest,) = build_index(only, given.work / "index", on_progress=progress,
                                  chunker=Chunker(tokens=given.tokens, overlap=given.tokens // 8),
                                  image_encoder="drawn-pictures",
                                  text_encoder="drawn-passages")  # fmt: skip
        marks.append(("end", time.time(), time.process_time()))
    stages: dict[str, dict[str, float]] = {}
    for (stage, wall, cpu), (_, wall_then, cpu_then) in itertools.pairwise(marks):
        held = stages.setdefault(stage, {"wall s": 0.0, "cpu s": 0.0})
        held["wall s"] = round(held["wall s"] + wall_then - wall, 1)
        held["cpu s"] = round(held["cpu s"] + cpu_then - cpu, 1)
    folder = given.work / "index" / part
    sizes = {path.name: disk(path) for path in sorted(folder.iterdir())}
    return {**watch.figures(), "rows": manifest.rows, "pages": manifest.pages, "stages": stages,
            "disk MB": disk(folder), "of it": sizes}  # fmt: skip


def reopen(given: argparse.Namespace) -> dict[str, Any]:
    """From the start of a process, and from `open_index`, to the first answers."""
    from mmrag.search.index.open import open_index

    register()
    given_seconds = time.time() - float(os.environ["BEGAN"])
    with Watch() as watch:
        began = time.perf_counter()
        index = open_index(given.work / "index")
        opened = time.perf_counter() - began
        began = time.perf_counter()
        picture = asked_pictures(1)
        made = time.perf_counter() - began
        index.images.search_whole(picture, 30)
        seen = time.perf_counter() - began - made
        index.web.search_text([question(given, 0)], 50)
        answered = time.perf_counter() - began - made - seen
    return {"interpreter and imports s": round(given_seconds, 3), "open_index s": round(opened, 3),
            "first picture s": round(seen, 3), "first text s": round(answered, 3),
            "open to first answers s": round(opened + seen + answered, 3),
            **watch.figures()}  # fmt: skip


def speed(given: argparse.Namespace) -> dict[str, Any]:
    """Searches a second by size of batch."""
    from mmrag.search.index.open import open_index

    register()
    index = open_index(given.work / "index")
    images, web = index.images, index.web
    vectors = np.stack([images.vectors.matrix[i * 131 % len(images.rows)] for i in range(512)])
    vectors = vectors + 0.01 * np.random.default_rng(3).normal(size=vectors.shape)
    vectors = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
    asked = [question(given, i) for i in range(512)]
    dense = np.stack([web.vectors.matrix[i * 577 % len(web.rows)] for i in range(512)])
    ways: dict[str, Callable[[int, int], Any]] = {
        "picture vectors, k = 30": lambda a, b: images.search_vectors(vectors[a:b], 30),
        "passage vectors, k = 50": lambda a, b: web.vectors.search(dense[a:b], 50),
        "text, hybrid + rerank, k = 50": lambda a, b: web.search_text(asked[a:b], 50),
    }
    figures: dict[str, Any] = {}
    with Watch() as watch:
        for name, work in ways.items():
            work(0, 1)
            figures[name] = {f"batch {batch}": rate(work, batch) for batch in BATCHES}
    return {**figures, **watch.figures()}


def rate(work: Callable[[int, int], Any], batch: int) -> dict[str, float]:
    count, began, cpu = 0, time.perf_counter(), time.process_time()
    while time.perf_counter() - began < 2:
        first = count % 512
        work(first, first + batch)
        count += batch
    wall = time.perf_counter() - began
    return {"a second": round(count / wall, 1),
            "cpu ms each": round((time.process_time() - cpu) / count * 1000, 3)}  # fmt: skip


def asked_pictures(count: int) -> list[Any]:
    from PIL import Image

    from mmrag.files.images import LazyImage

    rows = pictures(count)
    found = [Image.open(io.BytesIO(row["image"])).convert("RGB") for row in rows]
    return [LazyImage.from_pil(picture.resize((640, 640))) for picture in found]


def question(given: argparse.Namespace, number: int) -> str:
    """The name of a page, and words that many pages have."""
    i = number * 577 % max(round(given.passages / PAGE_PASSAGES), 1)
    return f"Page {i} about widget{i}\nhow long is the warranty and who makes it"


# the approximate index alone ----------------------------------------------------------------------


def vectors_made(given: argparse.Namespace) -> dict[str, Any]:
    """Unit rows around common centres, 60 to each, and queries around the same ones."""
    given.work.mkdir(parents=True, exist_ok=True)
    if (given.work / "vectors.npy").exists():
        return {"there already": True}
    rng = np.random.default_rng(17)
    centres = rng.normal(size=(max(given.vectors // 60, 10), given.dim)).astype(np.float32)

    def drawn(count: int) -> np.ndarray:
        noise = rng.standard_normal((count, given.dim), np.float32)
        rows = centres[rng.integers(len(centres), size=count)] + np.float32(0.7) * noise
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)

    with Watch() as watch:
        np.save(given.work / "queries.npy", drawn(ASKED))
        place = given.work / "vectors.part.npy"
        shape = (given.vectors, given.dim)
        matrix = np.lib.format.open_memmap(place, "w+", np.float32, shape)
        for first in range(0, given.vectors, 50_000):
            matrix[first : first + 50_000] = drawn(min(50_000, given.vectors - first))
        matrix.flush()
        place.rename(given.work / "vectors.npy")
    return {**watch.figures(), "disk MB": disk(given.work / "vectors.npy")}


def graph_built(given: argparse.Namespace) -> dict[str, Any]:
    from mmrag.search.vectors.nearest import build_graph

    if (given.work / "graph.usearch").exists():
        return {"there already": True}
    with Watch() as watch:
        build_graph(np.load(given.work / "vectors.npy", mmap_mode="r"), given.work / "graph.part")
        (given.work / "graph.part").rename(given.work / "graph.usearch")
    return {**watch.figures(), "disk MB": disk(given.work / "graph.usearch")}


def exact_searched(given: argparse.Namespace) -> dict[str, Any]:
    """The truth, in batches of 512."""
    from mmrag.search.vectors.nearest import ExactVectors

    search = ExactVectors(np.load(given.work / "vectors.npy", mmap_mode="r"))
    queries = np.load(given.work / "queries.npy")
    with Watch() as watch:
        np.save(given.work / "truth.npy", search.search(queries, K)[0])
    return {**watch.figures(), "wall ms a query": round(watch.wall / ASKED * 1000, 2)}


def graph_searched(given: argparse.Namespace) -> dict[str, Any]:
    """Opened, asked once, then in batches and one by one; memory after each."""
    from mmrag.search.vectors.nearest import GraphVectors

    truth, queries = np.load(given.work / "truth.npy"), np.load(given.work / "queries.npy")
    figures: dict[str, Any] = {"MB before": resident()}
    with Watch() as watch:
        matrix = np.load(given.work / "vectors.npy", mmap_mode="r")
        search = GraphVectors.open(matrix, given.work / "graph.usearch")
        search.search(queries[:1], K)
    figures["opened, first answer"] = {**watch.figures(), "MB": resident()}
    some = [queries[first : first + 512] for first in range(0, ASKED, 512)]
    alone = [queries[i : i + 1] for i in range(0, ASKED, ASKED // 128)]
    for name, batches in (("batches of 512", some), ("one by one", alone)):
        asked = sum(map(len, batches))
        for time_ in ("first", "second"):
            with Watch() as watch:
                found = np.concatenate([search.search(batch, K)[0] for batch in batches])
            figures[f"{name}, {time_} time"] = {
                "wall ms a query": round(watch.wall / asked * 1000, 3),
                "cpu ms a query": round(watch.cpu / asked * 1000, 3),
                "MB": resident(),
            }
        right = truth if asked == ASKED else truth[:: ASKED // 128]
        shared = [
            len(set(a) & set(b)) / K for a, b in zip(found.tolist(), right.tolist(), strict=True)
        ]
        figures[f"{name}, recall"] = round(float(np.mean(shared)), 4)
    return figures


def resident() -> dict[str, int]:
    """MB of memory this process has by itself, and of each big file that it has mapped."""
    held: Counter[str] = Counter()
    name = ""
    for line in Path("/proc/self/smaps").read_text().splitlines():
        words = line.split()
        if not words[0].endswith(":"):
            name = Path(words[5]).name if len(words) > 5 else ""
        elif words[0] in ("Rss:", "Anonymous:"):
            kind = "own" if words[0] == "Anonymous:" else name
            held[kind] += int(words[1])
    return {name: held[name] // 1024 for name in ("own", "graph.usearch", "vectors.npy")}


def disk(path: Path) -> float:
    files = [path] if path.is_file() else [p for p in path.rglob("*") if p.is_file()]
    return round(sum(p.stat().st_size for p in files) / 1e6, 1)


STEPS: dict[str, Callable[[argparse.Namespace], dict[str, Any]]] = {
    "source": make,
    "build pictures": lambda given: build_part(given, "images"),
    "build pages": lambda given: build_part(given, "web"),
    "reopen": reopen,
    "search": speed,
}
VECTORS: dict[str, Callable[[argparse.Namespace], dict[str, Any]]] = {
    "vectors made": vectors_made,
    "graph built": graph_built,
    "exact": exact_searched,
    "graph searched": graph_searched,
}

if __name__ == "__main__":
    main()
